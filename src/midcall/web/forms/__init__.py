"""Form -> HTML, drawn once: for the pages of the portal, the browser answerer and the App.

    html = draw(form)                                    # defaults filled in
    content = read(form, parse_qsl(body))                # what was posted, as content for `check`
    html = draw(form, content, check(form, content))     # the same form again, with its problems

Pure: no I/O but the templates, no JavaScript needed, and nothing that the server says is ever markup.
"""

from midcall.web.forms.inputs import Input, Option, Texts, inputs, too_large
from midcall.web.forms.pages import Pages, draw, stylesheet
from midcall.web.forms.posted import read

__all__ = ["Input", "Option", "Pages", "Texts", "draw", "inputs", "read", "stylesheet", "too_large"]
