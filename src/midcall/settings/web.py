"""Limits of what serves pages, and of forms as HTML."""

from __future__ import annotations

from typing import Final

FAILED_OPENS: Final = 20
"""An address may open pages that don't exist this often, in one period.
Unit: times
Then: More of them get 429, until the period ends. Pages that exist still open."""
FAILED_OPENS_SECONDS: Final = 60.0
"""The length of that period.
Then: The count starts again."""
MAX_FAILED_SOURCES: Final = 10_000
"""Count this for so many addresses at a time.
Unit: addresses
Then: The oldest is forgotten."""
CSRF_SECONDS: Final = 86_400.0
"""A form can be posted this long after it was shown.
Then: The form is refused with 403, and the page offers a new one."""
BROWSER_COOKIE_SECONDS: Final = 365 * 86_400.0
"""The cookie that recognizes a browser lasts this long.
Then: The browser gets a new cookie; a form that was open has to be sent again."""
COOKIE_SKEW_SECONDS: Final = 60
"""The clock of the replica that signed a cookie may be this far ahead.
Then: The cookie, or the form, is refused."""
REQUEST_HEAD_SECONDS: Final = 10.0
"""A client of the loopback server has this long to send the head of a request.
Then: The connection is closed."""
REQUEST_BODY_SECONDS: Final = 30.0
"""The same for the body of a request.
Then: The connection is closed, and nothing was sent or stored."""
REQUEST_IDLE_SECONDS: Final = 5.0
"""A connection to our own HTTP server stays open this long between two requests.
Then: The connection is closed."""
MAX_CONNECTIONS: Final = 200
"""Our own HTTP server has at most this many connections.
Then: The one that has waited longest for a request is closed; if all are busy, the new one."""
SERVING_GRACE_SECONDS: Final = 1.0
"""Responses under way have this long when our own HTTP server closes.
Then: Responses under way are cut off."""
SERVING_POLL_SECONDS: Final = 0.05
"""Between two checks whether our own HTTP server has started or stopped."""
MAX_OPTIONS: Final = 5_000
"""A page shows at most this many options of one field.
Then: The page says how many options it doesn't show."""
MAX_FIELDS: Final = 2_000
"""A page shows at most this many fields.
Then: The page says that it can't show the form; no App is offered."""
PAGE_CONFIRM_SECONDS: Final = 0.5
"""A question on the page of the browser answerer or in an App can't be answered before it was shown this long: longer
than a double click takes.
Then: Until then, the buttons are disabled. Without JavaScript, the question is shown again and says why."""
MAX_CONTROLS: Final = 50_000
"""A page shows at most this many options in all.
Unit: options
Then: The page says that it can't show the form; no App is offered."""
PAGE_MESSAGE_CHARACTERS: Final = 10_000
"""A page shows this much of a text of several lines.
Then: A note says how many more there are."""
PAGE_LINE_CHARACTERS: Final = 300
"""And of one on a single line.
Then: It ends with an ellipsis."""
MAX_LOGGED_HOSTS: Final = 10
"""Log this many wrong hosts that requests were for.
Then: Requests for other wrong hosts are refused without a line in the log."""
LOCAL_BACKLOG: Final = 128
"""This many connections may wait until a server on this machine accepts them.
Unit: connections
Then: The system refuses or delays more of them."""
