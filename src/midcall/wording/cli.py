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


def a_file(name: str, kind: str, size: int) -> str:
    shown = f"{size / 1024:.1f} KB" if size >= 1024 else f"{size} bytes"
    return f"[{', '.join(piece for piece in (name, kind, shown) if piece)}]"


def a_resource(uri: str) -> str:
    return f"[{uri}]"


def how_to_answer() -> str:
    return "Run it in a terminal, or with --answers FILE or --browser."


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
