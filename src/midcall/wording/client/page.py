"""The page in the browser."""

from __future__ import annotations

from midcall.wording.client import html, questions

asks = questions.asks
asks_to_open = questions.asks_to_open
form_too_large = html.form_too_large
unnamed_server = questions.unnamed_server


def page_title(count: int) -> str:
    return f"({count}) Questions for you" if count else "Questions for you"


def page_heading() -> str:
    return "Questions for you"


def open_the_page(address: str) -> str:
    return f"A question waits for you. Open this page to answer it (the address works once):\n  {address}"


def page_not_seen(address: str) -> str:
    return f"A question waits for you. If no page has opened, open this one (the address works once):\n  {address}"


def not_loopback(host: str) -> str:
    return f"the page is served on loopback only, as on 127.0.0.1, and not on {host!r}"


def count_open(count: int) -> str:
    return "1 question" if count == 1 else f"{count} questions"


def nothing_asked() -> str:
    return "Nothing is being asked right now"


def nothing_asked_hint() -> str:
    return "Leave this page open: the next question appears here by itself."


def load_again() -> str:
    return "Load this page again"


def to_see_more() -> str:
    return "to see what has changed."


def also_asked() -> str:
    return "Also waiting for you"


def done_before() -> str:
    return "Done"


def next_question() -> str:
    return "Next question"


def server_is_not_proven() -> str:
    return "The server chose its name itself. It is not checked."


def server_says() -> str:
    return "What the server says"


def send() -> str:
    return "Send"


def send_yes() -> str:
    return "Yes"


def decline() -> str:
    return "Decline"


def cancel() -> str:
    return "Cancel"


def what_they_do(mode: str) -> str:
    no = "Decline tells the server no. Cancel closes the question without an answer."
    return f"{no} Nothing opens before you agree." if mode == "url" else f"Nothing is sent before you send it. {no}"


def required_note() -> str:
    return "required"


def answer_until(time: str) -> str:
    return f"To be answered by {time}"


def whole_address() -> str:
    return "The whole address"


def site_is(domain: str) -> str:
    return f"You would go to {domain}"


def doubts_heading(count: int) -> str:
    return "A reason to be careful" if count == 1 else f"{count} reasons to be careful"


def not_openable(why: str) -> str:
    return f"This address cannot be opened: {why}."


def agree_and_open() -> str:
    return "Agree and open"


def taking_you_to(domain: str) -> str:
    return f"Taking you to {domain}"


def follow_the_link() -> str:
    return "If nothing happens, open it yourself:"


def filter_options() -> str:
    return "Filter the options"


def waits_for_visits(server: str) -> str:
    return f"{server} goes on when you are done"


def waits_hint() -> str:
    return "Finish on the page that you opened. If nothing happens here after that, try again."


def visit_done() -> str:
    return "done"


def visit_not_done() -> str:
    return "not done yet"


def try_again() -> str:
    return "Try again now"


def give_up() -> str:
    return "Give up"


def attempt_of(attempt: int, attempts: int) -> str:
    return f"Attempt {attempt} of {attempts}"


def what_became(kind: str) -> str:
    return {
        "accepted": "Sent",
        "agreed": "Agreed",
        "declined": "Declined",
        "cancelled": "Cancelled",
        "withdrawn": "Withdrawn",
        "closed": "Cancelled",
        "again": "Tried again",
        "given up": "Given up",
        "finished": "Finished",
    }[kind]


def what_became_of_it(kind: str) -> str:
    return {
        "accepted": "Your answer was sent.",
        "agreed": "You agreed, and the address was opened in a new tab.",
        "declined": "You declined this question.",
        "cancelled": "This question was cancelled: nothing was sent.",
        "withdrawn": "The question was withdrawn. What you typed was not sent.",
        "closed": "This question was cancelled, because its page was closed.",
        "again": "The call is being tried again.",
        "given up": "You gave up waiting.",
        "finished": "All of it is done, and the call goes on.",
    }[kind]


def not_asked_here() -> str:
    return "This question is not open any more."


def turned_away(count: int, limit: int) -> str:
    noun = "question was" if count == 1 else "questions were"
    return f"{count:,} {noun} cancelled without being shown, because {limit} were waiting for you already."


def program_ended() -> str:
    return "The program that asks has ended. You can close this page."


def page_refused() -> str:
    return "This page is not for this browser"


def page_refused_hint() -> str:
    return "The address of the questions works once, and only in the browser that opened it first."


def page_wrong() -> str:
    return "This did not come from the page"


def page_wrong_hint() -> str:
    return "It was not accepted, and nothing was sent. Go back, load the page again and answer there."


def page_too_much() -> str:
    return "This is more than can be sent"
