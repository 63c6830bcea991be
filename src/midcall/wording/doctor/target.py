"""What was named cannot be looked at: why, where, and what to do."""

from __future__ import annotations

from collections.abc import Sequence


def what_it_takes() -> str:
    return 'Name a file (server.py), a module (package.module:mcp), a URL, or a command ("python server.py").'


def nothing_named() -> str:
    return f"no server was named. {what_it_takes()}"


def no_such_thing(target: str, meant: str | None) -> str:
    hint = f"Did you mean {meant}?" if meant else what_it_takes()
    return f"there is no file, module or command {target!r} here. {hint}"


def not_python(target: str) -> str:
    return f"{target} is no Python file, and no command. {what_it_takes()}"


def a_folder(target: str, files: Sequence[str]) -> str:
    hint = f"Name a file in it: {', '.join(files)}." if files else what_it_takes()
    return f"{target} is a folder. {hint}"


# --- files and modules -----------------------------------------------------------------------------
def no_such_file(path: str, folder: str, near: str | None) -> str:
    meant = f" Did you mean {near!r}?" if near else " Is it in another folder?"
    return f"there is no file {path!r} (looked for in {folder}).{meant}"


def not_imported(target: str, what: str, where: str, advice: str) -> str:
    told = f"{target} could not be imported: {what}{f' ({where})' if where else ''}"
    return f"{told}{'' if told.endswith(('.', '!', '?')) else '.'} {advice}".rstrip()


def at_line(file: str, line: int) -> str:
    return f"{file}, line {line}"


def see_the_settings(variables: Sequence[str]) -> str:
    return f"Change it there, or in the environment: {', '.join(variables)}." if variables else "Change it there."


def still_importing(target: str, seconds: float) -> str:
    return (
        f"{target} is still being imported after {seconds:g} s. Does it start its server outside of "
        '`if __name__ == "__main__":`? Ctrl-C ends this.'
    )


# --- servers in them -------------------------------------------------------------------------------
def no_such_name(target: str, name: str, near: Sequence[str]) -> str:
    hint = f" Servers there: {', '.join(near)}." if near else " No server there has midcall."
    return f"{target} has no {name!r}.{hint}"


def not_installed(target: str, name: str) -> str:
    return (
        f"midcall is not installed on a server in {target}: midcall.install({name}) does that, behind the line that "
        "makes it"
    )


def several(target: str, names: Sequence[str]) -> str:
    return f"{target} has several servers: name one of {', '.join(names)}, as {target}:{names[0]}"
