"""Questions answered on a page in the user's own browser.

browser.py     the answerer
session.py     the page from its first question to its end
board.py       what is on the page
views.py       the board as words for the templates
site.py        the page over HTTP
gate.py        who may come in
presence.py    whether the page is open
listening.py   served on this machine, in the loop that runs
"""

from midcall.client.browser.browser import Browser

__all__ = ["Browser"]
