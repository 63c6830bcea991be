"""Limits of what serves pages, and of forms as HTML."""

from __future__ import annotations

from typing import Final

from midcall.settings.setting import Subject

web: Final = Subject("Web", "web")

FAILED_OPENS: Final = web.add(
    "FAILED_OPENS",
    20,
    "times",
    "An address may open pages that don't exist this often, in one period.",
    then="More of them get 429, until the period ends. Pages that exist still open.",
)
FAILED_OPENS_SECONDS: Final = web.add(
    "FAILED_OPENS_SECONDS", 60.0, "s", "The length of that period.", then="The count starts again."
)
MAX_FAILED_SOURCES: Final = web.add(
    "MAX_FAILED_SOURCES",
    10_000,
    "addresses",
    "Count this for so many addresses at a time.",
    then="The oldest is forgotten.",
)
CSRF_SECONDS: Final = web.add(
    "CSRF_SECONDS",
    86_400.0,
    "s",
    "A form can be posted this long after it was shown.",
    then="The form is refused with 403, and the page offers a new one.",
)
BROWSER_COOKIE_SECONDS: Final = web.add(
    "BROWSER_COOKIE_SECONDS",
    365 * 86_400.0,
    "s",
    "The cookie that recognizes a browser lasts this long.",
    then="The browser gets a new cookie; a form that was open has to be sent again.",
)
COOKIE_SKEW_SECONDS: Final = web.add(
    "COOKIE_SKEW_SECONDS",
    60,
    "s",
    "The clock of the replica that signed a cookie may be this far ahead.",
    then="The cookie, or the form, is refused.",
)
REQUEST_HEAD_SECONDS: Final = web.add(
    "REQUEST_HEAD_SECONDS",
    10.0,
    "s",
    "A client of the loopback server has this long to send the head of a request.",
    then="The connection is closed.",
)
REQUEST_BODY_SECONDS: Final = web.add(
    "REQUEST_BODY_SECONDS",
    30.0,
    "s",
    "The same for the body of a request.",
    then="The connection is closed, and nothing was sent or stored.",
)
REQUEST_IDLE_SECONDS: Final = web.add(
    "REQUEST_IDLE_SECONDS",
    5.0,
    "s",
    "A connection to our own HTTP server stays open this long between two requests.",
    then="The connection is closed.",
)
MAX_CONNECTIONS: Final = web.add(
    "MAX_CONNECTIONS",
    200,
    "connections",
    "Our own HTTP server has at most this many connections.",
    then="The one that has waited longest for a request is closed; if all are busy, the new one.",
)
SERVING_GRACE_SECONDS: Final = web.add(
    "SERVING_GRACE_SECONDS",
    1.0,
    "s",
    "Responses under way have this long when our own HTTP server closes.",
    then="Responses under way are cut off.",
)
SERVING_POLL_SECONDS: Final = web.add(
    "SERVING_POLL_SECONDS",
    0.05,
    "s",
    "Between two checks whether our own HTTP server has started or stopped.",
    interval=True,
)
MAX_OPTIONS: Final = web.add(
    "MAX_OPTIONS",
    5_000,
    "options",
    "A page shows at most this many options of one field.",
    then="The page says how many options it doesn't show.",
)
MAX_FIELDS: Final = web.add(
    "MAX_FIELDS",
    2_000,
    "fields",
    "A page shows at most this many fields.",
    then="The page says that it can't show the form; no App is offered.",
)
PAGE_CONFIRM_SECONDS: Final = web.add(
    "PAGE_CONFIRM_SECONDS",
    0.5,
    "s",
    "A question on the page of the browser answerer or in an App can't be answered before it was shown this long: "
    "longer than a double click takes.",
    then="Until then, the buttons are disabled. Without JavaScript, the question is shown again and says why.",
)
MAX_CONTROLS: Final = web.add(
    "MAX_CONTROLS",
    50_000,
    "options",
    "A page shows at most this many options in all.",
    then="The page says that it can't show the form; no App is offered.",
)
PAGE_MESSAGE_CHARACTERS: Final = web.add(
    "PAGE_MESSAGE_CHARACTERS",
    10_000,
    "characters",
    "A page shows this much of a text of several lines.",
    then="A note says how many more there are.",
)
PAGE_LINE_CHARACTERS: Final = web.add(
    "PAGE_LINE_CHARACTERS",
    300,
    "characters",
    "And of one on a single line.",
    then="It ends with an ellipsis.",
)
MAX_LOGGED_HOSTS: Final = web.add(
    "MAX_LOGGED_HOSTS",
    10,
    "hosts",
    "Log this many wrong hosts that requests were for.",
    then="Requests for other wrong hosts are refused without a line in the log.",
    where="portal",
)
LOCAL_BACKLOG: Final = web.add(
    "LOCAL_BACKLOG",
    128,
    "connections",
    "This many connections may wait until a server on this machine accepts them.",
    then="The system refuses or delays more of them.",
)
