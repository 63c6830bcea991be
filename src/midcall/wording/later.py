"""A call that is not finished: what the model has to do until it goes on, and the tools that it goes on with."""

from __future__ import annotations

from collections.abc import Sequence


def not_finished(why: str, tool: str, code: str) -> str:
    return (
        f"NOT FINISHED YET, and nothing is wrong. {why} When the user says that it is done, or after a while, "
        f'call the tool {tool} with {{"code": "{code}"}}: it goes on from here. Do not make the first call again. '
        "The code works once."
    )


def go_on_now(why: str, tool: str, code: str) -> str:
    return (
        f"NOT FINISHED YET, and nothing is wrong. {why} Call the tool {tool} now, with "
        f'{{"code": "{code}"}}: it goes on from here. Do not make the first call again. The code works once.'
    )


def needs_a_page(pages: Sequence[tuple[str, str]]) -> str:
    asked = "\n".join(f"- {message}\n  {address}" for message, address in pages)
    one = len(pages) == 1
    return (
        f"The user has to {'do something' if one else 'do some things'} on a web page first. Show "
        f"{'this address' if one else 'these addresses'} to the user, whole and as it is, and say what it is for:\n"
        f"{asked}\nDo not open it, and do not answer in their place."
    )


def needs_visits(count: int) -> str:
    pages = "a web page" if count == 1 else f"{count} web pages"
    return f"The user has to do something on {pages} first. Then make this call again."


def needs_an_app(messages: Sequence[str]) -> str:
    asked = "\n".join(f"- {message}" for message in messages)
    return (
        f"The user has to fill in a form first. It is shown to them with this result, and asks:\n{asked}\n"
        "Tell the user to look at it. Do not answer in their place, and do not ask the same in the chat."
    )


def needs_the_chat(message: str, schema: str) -> str:
    return (
        f"Ask the user in the chat: {message}\nTheir answer must fit this JSON Schema: {schema}\n"
        "Never make an answer up, and never choose for them."
    )


def waits_for_a_page() -> str:
    return "The user has not finished on the web page yet."


def continue_title() -> str:
    return "Go on with a call that was not finished"


def continue_description() -> str:
    return (
        "Goes on with a call whose result said NOT FINISHED YET, from where it stopped. "
        "Takes the code that is in that result."
    )


def continue_code() -> str:
    return "The code from the result that said NOT FINISHED YET"


def unknown_code() -> str:
    return (
        "There is nothing to go on with under this code: it was used before, it is too old, or it belongs to somebody "
        "else. If the user still wants it, make the first call again."
    )


def answer_with(why: str, tool: str, code: str) -> str:
    return (
        f"NOT FINISHED YET, and nothing is wrong. {why}\nThen call the tool {tool} with "
        f'{{"code": "{code}", "action": "accept", "content": {{...}}}}, or with the action "decline" if they say no, '
        'or "cancel" if they do not want to decide. The code works once.'
    )


def answer_title() -> str:
    return "Hand over what the user answered"


def answer_description() -> str:
    return (
        "Hands over what the user said in the chat to a question of a tool, and goes on with its call. "
        "Only for a result that asks for it, and only with what the user really said."
    )


def answer_action() -> str:
    return "Whether the user answered (accept), said no (decline), or did not decide (cancel)"


def answer_content() -> str:
    return "What the user answered, by field, where the action is accept"


def answer_again(why: str, tool: str) -> str:
    return (
        f"{why} Call {tool} again, with the same code: action is accept, decline or cancel, and with accept content is "
        "an object that holds the answer by the name of each field."
    )
