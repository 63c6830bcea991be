"""Every sentence of the command line, in one place. What a question says is in `midcall.wording.client`."""

from __future__ import annotations


def needs_extra(extra: str, what: str) -> str:
    return f"{what} needs more packages: pip install 'midcall[{extra}]'"


def interrupted() -> str:
    return "Cancelled."


def usage(command: str, sentence: str) -> str:
    return f"{command}: error: {sentence}"


def errors_to_explain(names: list[str]) -> str:
    return "\n".join(["midcall explain ERROR tells what happened and what to do. The errors are:", "", *names])


def unknown_error(name: str, near: str | None) -> str:
    meant = f" Did you mean {near}?" if near is not None else " `midcall explain` lists them."
    return f"midcall explain: there is no error {name[:100]!r}.{meant}"


def two_stores() -> str:
    return "Name the store once: by URL, or by --store URL."


def bad_header(text: str) -> str:
    return f"--header {text!r}: a header looks like 'Name: value'"


def header_for_command() -> str:
    return "--header is for a URL, and this server is a command; give a command its settings as variables"


def answers_or_browser() -> str:
    return "--answers and --browser exclude each other"


def server_error(message: str, code: int) -> str:
    return f"The server answered with an error: {message} ({code})"


def connection_lost() -> str:
    return "The server is gone: it ended, or closed the connection, before the tool was done."


def connecting() -> str:
    return "connecting"


def running(name: str, seconds: int) -> str:
    return f"{name} · {seconds} s"


def percent(share: float) -> str:
    return f"{min(max(share, 0), 1):.0%}"


def no_result_within(seconds: float) -> str:
    return f"No result within {seconds:g} s: the call was cancelled."


def unknown_tool(name: str, near: str | None, names: list[str]) -> str:
    if near is not None:
        return f"there is no tool {name!r}. Did you mean {near[:100]!r}?"
    if len(names) <= 5:
        return f"there is no tool {name!r}. There are: {', '.join(each[:100] for each in names) or 'none'}."
    return f"there is no tool {name!r}. `midcall tools` lists those that there are ({len(names)})."


def no_tools() -> str:
    return "It has no tools."


def unusable_tool(name: str, why: str) -> str:
    return f"The server describes the tool {name} in a way that cannot be understood ({why})."


def tool_waits() -> str:
    return "The tool waits for you: open the address yourself. The rest of what it says is for a model."


def page_has_ended() -> str:
    return (
        "The tool waits for somebody on a page of its own server. This command has started that server, and ended it, "
        "so the page is gone, and nothing more is done. What the tool said, for a model:"
    )


def serve_over_http() -> str:
    return (
        "Start the server over HTTP instead, and call it by its URL. Or take a protocol version on which you can be "
        "asked here: 2025-11-25, or newer."
    )


def go_on_with(command: str) -> str:
    return f"Then go on with: {command}"


def tool_failed() -> str:
    return "The tool failed:"


def verbose_shows_the_log() -> str:
    return "With -v you see what the server wrote about it."


def was_declined(question: str) -> str:
    return f"Declined: {question}"


def was_cancelled(question: str) -> str:
    return f"Not answered: {question}"


def no_key_value(text: str) -> str:
    return f"{text!r}: an argument is written as key=value, or key:=json"


def not_text() -> str:
    return "it is no text in UTF-8"


def file_not_read(name: str, path: str, why: str) -> str:
    return f"{name}: the file {path!r} cannot be read ({why}). For a text that begins with @ write {name}:='\"@...\"'"


def given_twice(name: str) -> str:
    return f"{name}: given more than once, and it is no list"


def bad_json(name: str) -> str:
    return f"{name}: this is not JSON"


def wrong_type(name: str, expected: str, text: str) -> str:
    return f"{name}: must be {expected}, and not {text!r}"


def does_not_fit(place: str, problem: str) -> str:
    return f"{place}: {problem}" if place else problem


def unknown_argument(name: str, near: str | None, known: list[str]) -> str:
    if near is not None:
        return f"{name}: the tool has no such argument. Did you mean {near!r}?"
    takes = f"It takes {', '.join(known)}." if known else "It takes none."
    return f"{name}: the tool has no such argument. {takes}"


def missing_arguments(expected: dict[str, str]) -> str:
    listed = ", ".join(f"{name} ({kind})" for name, kind in expected.items())
    return f"missing: {listed}"


def json_type(name: str) -> str:
    return {
        "string": "text",
        "integer": "a whole number",
        "number": "a number",
        "boolean": "yes or no",
        "array": "a list",
        "object": "an object, as JSON",
    }.get(name, name)


def any_of(kinds: list[str]) -> str:
    return " or ".join(kinds) if kinds else "anything"


def one_of(options: list[str]) -> str:
    shown = options[:12]
    more = f" … ({len(options)} in all)" if len(options) > len(shown) else ""
    return f"one of {', '.join(shown)}{more}"


def list_of(kind: str) -> str:
    return f"a list of {kind.removeprefix('a ')}"


def required() -> str:
    return "required"


def default_is(value: str) -> str:
    return f"default {value}"


def a_file(name: str, kind: str, size: int) -> str:
    shown = f"{size / 1024:.1f} KB" if size >= 1024 else f"{size} bytes"
    return f"[{', '.join(piece for piece in (name, kind, shown) if piece)}]"


def a_link(name: str, uri: str) -> str:
    return f"[link: {name}, {uri}]"


def a_resource(uri: str) -> str:
    return f"[{uri}]"


def a_block(kind: str) -> str:
    return f"[{kind}]"


def how_to_answer() -> str:
    return "Run it in a terminal, or with --answers FILE or --browser."


def lines_without_forms() -> str:
    return "Questions are asked line by line. For forms: pip install 'midcall[terminal]'"


def audit_not_kept(path: str, why: str) -> str:
    return f"--audit {path}: the file cannot be written ({why})"


def unexpected(kind: str, text: str) -> str:
    return f"The call failed unexpectedly, with {kind}: {text}"


# --- for whoever runs a server ---------------------------------------------------------------
def sealed_anew(count: int) -> str:
    match count:
        case 0:
            return "Everything is sealed with the first key already."
        case 1:
            return "Sealed 1 value anew. Everything is sealed with the first key now."
        case _:
            return f"Sealed {count:,} values anew. Everything is sealed with the first key now."


def kept_columns() -> tuple[str, str, str]:
    return "OWNER", "NAME", "SINCE"


def nothing_kept(owner: str | None) -> str:
    return "Nothing is kept." if owner is None else "Nothing is kept for this owner."


def forgotten(name: str) -> str:
    return f"Deleted {name}."


def not_kept() -> str:
    return "There is nothing under this owner and name. `midcall vault list` shows what there is."


def not_told_there(provider: str) -> str:
    return f"{provider} was not told, so the access still exists there: the user can end it in their account."


def schema_only_for_postgresql() -> str:
    return "only PostgreSQL needs its tables made beforehand; SQLite and Redis need nothing"
