"""What a model reads, besides the `for_model` of errors: keep the tone the same everywhere.

A model acts on these sentences. Each says what happened, and what to do next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from midcall.protocol import ANSWER, CONTINUE

# --- a call that is not finished ---------------------------------------------------------------

_NOT_FINISHED: Final = "NOT FINISHED YET. This is not an error."

CONTINUE_TITLE: Final = "Resume an unfinished call"


def continue_description(server: str) -> str:
    return (
        f"Resumes a tool call of {server} whose result said NOT FINISHED YET, from where it stopped. Pass the code "
        "from that result."
    )


CODE: Final = "The code from the result that said NOT FINISHED YET"
UNKNOWN_CODE: Final = (
    "This code does not work: it was already used, it has expired, or it belongs to another user. If the user still "
    "wants this, make the original call again."
)
MORE_QUESTIONS: Final = "The tool has more questions than fit into one call."
PAGE_NOT_FINISHED: Final = "The user has not finished on the web page yet."


def not_finished(addresses: Sequence[str], *, in_app: bool = False) -> str:
    """The addresses name the pages again: the user may have lost them, and they may be on no screen any more."""
    what = "The user has not filled in the form yet." if in_app else PAGE_NOT_FINISHED
    if not addresses:
        return what
    when = "no form is shown to them" if in_app else "they need its address again"
    which = "this address" if len(addresses) == 1 else "these addresses"
    listed = "".join(f"\n  {address}" for address in addresses)
    return f"{what} If {when}, show them {which} exactly as written:{listed}\n"


def resume(why: str, code: str, *, now: bool = False) -> str:
    """`now` is for a call that nobody has to do anything for first."""
    when = "Now" if now else "When the user says that they are done, or after a while,"
    space = "" if why.endswith("\n") else " "
    return (
        f'{_NOT_FINISHED} {why}{space}{when} call the tool {CONTINUE} with {{"code": "{code}"}} to resume. Do not make '
        "the original call again. The code works until the call is finished."
    )


def open_pages(pages: Sequence[tuple[str, str]], *, leads: bool = False) -> str:
    """`pages` are messages with their addresses. If the first one `leads` to the others, only it is shown."""
    shown = pages[:1] if leads else pages
    listed = "\n".join(f"- {message}\n  {address}" for message, address in shown)
    addresses = "this address" if len(shown) == 1 else "these addresses"
    more = " If there are more questions, the same page shows them one after the other." if leads else ""
    return (
        f"The user has to {_on_pages(len(shown))} first. Show the user {addresses} exactly as written, and say what it "
        f"is for:\n{listed}\nDo not open it yourself, and do not answer for the user.{more}"
    )


def page_moved(address: str) -> str:
    return (
        f"The web page has a new address, and the earlier one no longer works. Show the user this one exactly as "
        f"written:\n  {address}\nDo not open it yourself, and do not answer for the user."
    )


def visit_first(count: int) -> str:
    return f"The user has to {_on_pages(count)} first. Then make this call again."


def _on_pages(count: int) -> str:
    return "do something on a web page" if count == 1 else f"do something on {count} web pages"


def fill_in_app(pages: Sequence[tuple[str, str]], *, leads: bool = False) -> str:
    """`pages` are messages; with addresses, for a client that turns out to show nothing. The first one may lead on."""
    shown = [f"- {message}" for message, _ in pages]
    addresses = [address for _, address in pages if address][: 1 if leads else None]
    for index, address in enumerate(addresses):
        shown[index] += f"\n  {address}"
    listed = "\n".join(shown)
    text = (
        f"The user has to fill in a form first. The client shows it with this result. The form asks:\n{listed}\n"
        "Tell the user to fill it in. Do not answer for them, and do not ask the same questions in the chat."
    )
    if not addresses:
        return text
    which = "the address" if len(addresses) == 1 else "the addresses"
    return f"{text} If no form appears, give the user {which} to open instead, exactly as written."


# --- a question that the model asks in the chat ------------------------------------------------

ANSWER_TITLE: Final = "Pass on the user's answer"
ANSWER_DESCRIPTION: Final = (
    "Sends the user's answer from the chat to the tool that asked, and resumes its call. Use it only if a result "
    "tells you to, and only with what the user really said."
)
ANSWER_ACTION: Final = "accept if the user answered, decline if they said no, cancel if they did not decide"
ANSWER_CONTENT: Final = "What the user answered, by field name, if the action is accept"


def ask_in_chat(message: str, schema: str) -> str:
    return (
        f"Ask the user in the chat: {message}\nTheir answer must match this JSON Schema: {schema}\n"
        "Never make up an answer, and never choose for them."
    )


def pass_on_answer(why: str, code: str) -> str:
    return (
        f"{_NOT_FINISHED} {why}\nThen call the tool {ANSWER} with "
        f'{{"code": "{code}", "action": "accept", "content": {{...}}}}, or with the action "decline" if they say no, '
        'or "cancel" if they do not want to decide. The code works once.'
    )


def answer_again(why: str) -> str:
    return (
        f"{why} Call {ANSWER} again with the same code. The action must be accept, decline or cancel; with accept, "
        "content must be an object with an answer for each field name."
    )


# --- a form as an MCP App ----------------------------------------------------------------------

APP_TITLE: Final = "A question to the user"
APP_DESCRIPTION: Final = "Shows a question that a tool of this server asks during a call, and takes the answer."
APP_TOOL_TITLE: Final = "Take an answer from the form"
APP_TOOL_DESCRIPTION: Final = "Only the form that this server shows calls this tool. Models must not call it."
APP_STATES: Final = {
    "asking": "There is a question to the user.",
    "waiting": "There is no question yet.",
    "done": "The question is answered.",
    "late": "The question can no longer be answered.",
    "unknown": "There is no such question.",
}


def form_done(code: str) -> str:
    """What the App writes into the chat in the user's name."""
    return f'I have filled in the form. Please continue: call {CONTINUE} with {{"code": "{code}"}}.'


# --- what errors add ---------------------------------------------------------------------------

IN_BACKGROUND: Final = (
    "This tool needs input from the user, but cannot ask for it while it runs as a background task. Call it again as "
    "an ordinary call, not as a task."
)
NO_PAGE: Final = (
    "The user would have to do this on a web page, but this server is not set up for that. Nothing was done, and "
    "another client will not help. Tell the user to contact the people who run the server."
)
DECISION_USED: Final = (
    "The user's decision was already used, and it is unknown whether the action that it allows was completed. Do "
    "not call the tool again until the user has checked what happened."
)
DECISION_UNKNOWN: Final = (
    "This server cannot verify what the user decided earlier in this call, so the tool stopped. Do not call the tool "
    "again until the user has checked what happened."
)

TOO_MANY_WAIT: Final = (
    "Too many questions are waiting for this user already, so this one was not asked. Wait until some of them are "
    "answered before you call the tool again."
)


def describe_rejected_secret(name: str) -> str:
    return (
        f"What the user entered for {name!r} was not accepted. Ask them to find the right value before you call the "
        "tool again."
    )


def missing_token(provider: str) -> str:
    return f"The user has no valid authorization for {provider!r}. Call the tool again so that they can grant it."


def list_completed_steps(steps: Sequence[str]) -> str:
    """Follows the text of an error, if effects were recorded before it."""
    return (
        f"Steps already done: {', '.join(map(repr, steps))}. Calling the tool again may repeat them, so ask the user "
        "first if that matters."
    )
