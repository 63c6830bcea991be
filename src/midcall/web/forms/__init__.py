"""Forms as HTML, for the portal, the browser answerer and the App.

    html = draw(form)                                    # with its defaults
    content = read(form, parse_qsl(body))                # what was posted, as content for `check`
    html = draw(form, content, check(form, content))     # the same form again, with its problems

No I/O except for the templates. The HTML works without JavaScript, and text from a server is never markup.
"""

from midcall.web.forms.html import Pages, draw, stylesheet
from midcall.web.forms.inputs import inputs, read, too_large

__all__ = ["Pages", "draw", "inputs", "read", "stylesheet", "too_large"]
