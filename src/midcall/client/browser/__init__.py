"""Questions answered on a page in the user's own browser.

browser.py     the answerer, and its page from the first question to the end
board.py       what is on the page
views.py       the board as data for the templates
site.py        the page over HTTP
gate.py        who may open it
presence.py    whether it's open
"""

from midcall.client.browser.browser import Browser

__all__ = ["Browser"]
