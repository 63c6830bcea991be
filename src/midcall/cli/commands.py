"""The commands and their options, for click."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Final

import click

from midcall import __version__
from midcall.cli import ERAS, GAMES
from midcall.cli.exits import USAGE

__all__ = ["run"]

_ANY_ERA: Final = ("auto", "legacy", *ERAS)
_WIDE: Final = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

_EXITS: Final = """\b
Exit codes:
  0  the tool is done
  1  the tool failed
  2  wrong usage
  3  a question was declined or cancelled, or had no answer
  4  no connection to the server
"""


def run(argv: Sequence[str] | None = None) -> int:
    """Parse the command line and run it. Wrong usage is told in a line."""
    try:
        code = midcall.main(args=None if argv is None else list(argv), prog_name="midcall", standalone_mode=False)
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as error:
        context: click.Context | None = getattr(error, "ctx", None)
        where = context.command_path if context is not None else "midcall"
        if context is not None:
            print(context.get_usage(), file=sys.stderr)
        print(f"{where}: error: {' '.join(error.format_message().split())}", file=sys.stderr)
        return USAGE
    return code if isinstance(code, int) else 0


@click.group(context_settings=_WIDE, no_args_is_help=False)
@click.version_option(__version__, message="midcall %(version)s")
def midcall() -> None:
    """Ask the user in the middle of an MCP call, on every protocol version."""


@midcall.command()
@click.argument("game", required=False, type=click.Choice(GAMES))
@click.option("--era", type=click.Choice(ERAS), help="The protocol version to play on.")
@click.option("--scripted", is_flag=True, help="Play from a script, also in a terminal.")
def demo(game: str | None, era: str | None, scripted: bool) -> int:
    """Play a tool that asks, on any protocol version.

    The game "guess the number", or the booking of a trip. Server and client run in this process, and
    every question shows the protocol version and the channel that carried it.

    Without a terminal, or with --scripted, a scripted run plays everything on every version.
    """
    from midcall.cli.demo.play import run

    return run(game, era, scripted=scripted)


def connecting(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of everything that connects to a server."""
    for option in (
        click.option("--verbose", "-v", is_flag=True, help="Show what the server writes to its standard error."),
        click.option(
            "--timeout",
            type=click.FloatRange(min=0, min_open=True),
            metavar="SECONDS",
            help="Give up after so many seconds.",
        ),
        click.option(
            "--header", "-H", "headers", multiple=True, metavar="'NAME: VALUE'", help="For a URL; repeatable."
        ),
        click.option(
            "--era", type=click.Choice(_ANY_ERA), default="auto", help="The protocol version.", show_default=True
        ),
        click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing but JSON."),
    ):
        command = option(command)
    return command


@midcall.command()
@click.argument("target")
@connecting
def tools(target: str, as_json: bool, **options: Any) -> int:
    """List the tools of a server, and the arguments they take.

    TARGET is a URL, or a command in quotes that starts the server:

    \b
      midcall tools http://localhost:8000/mcp
      midcall tools "python server.py"
    """
    from midcall.cli.connection import Link
    from midcall.cli.tools import run

    return run(Link.of(target, **options), as_json=as_json)


@midcall.command(epilog=_EXITS)
@click.argument("target")
@click.argument("tool")
@click.argument("arguments", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--answers", type=click.Path(), metavar="FILE", help="Answer from this YAML or JSON file.")
@click.option("--browser", is_flag=True, help="Answer on a page in your browser.")
@click.option(
    "--audit", type=click.Path(), metavar="FILE", help="Append what was asked, without content, to this file."
)
@connecting
def call(target: str, tool: str, arguments: tuple[str, ...], as_json: bool, **options: Any) -> int:
    """Call a tool, and answer what it asks.

    TARGET is a URL, or a command in quotes that starts the server. Values are read as the tool's own
    schema wants them; KEY:=JSON gives raw JSON, KEY=@FILE the text of a file, and a list can be given
    item by item:

    \b
      midcall call "python server.py" book destination=Oslo days=3 tags=sea tags=snow
      midcall call http://localhost:8000/mcp book 'trip:={"days": 3}' --answers answers.yaml

    Questions are shown in the terminal. Without one, and without --answers or --browser, they are
    cancelled.
    """
    from midcall.cli.call.answering import Ways
    from midcall.cli.call.command import run
    from midcall.cli.connection import Link

    ways = Ways(options.pop("answers"), options.pop("browser"), options.pop("audit"))
    return run(Link.of(target, **options), tool, arguments, ways, as_json=as_json)


@midcall.command()
@click.argument("target")
@connecting
def doctor(target: str, as_json: bool, **options: Any) -> int:
    """Look at how a server reaches its users, and at what is missing.

    TARGET is the server's code, which is imported and looked at; or a URL or a command, as for `midcall
    tools`, to which this connects:

    \b
      midcall doctor server.py
      midcall doctor server.py:mcp
      midcall doctor package.module:mcp
      midcall doctor http://localhost:8000/mcp
      midcall doctor "python server.py"

    Where the tool midcall_probe is listed it is called, and its questions are answered here. Ends with 1
    if something does not work.
    """
    from midcall.cli.connection import Link
    from midcall.cli.doctor.command import run

    return run(Link.of(target, **options), as_json=as_json)


@midcall.command()
@click.argument("error", required=False)
def explain(error: str | None) -> int:
    """Tell what an error means: what happened, what the model sees, what to do.

    \b
      midcall explain NoChannel
      midcall explain             lists the errors
    """
    from midcall.cli.explain import run

    return run(error)


# --- for whoever runs a server ---------------------------------------------------------------

_OPERATORS_EXITS: Final = """\b
Exit codes:
  0  done
  1  something could not be opened, or was not there
  2  wrong usage, also a store URL or a key that cannot be used
  4  no connection to the store
"""
_KEEPER: Final = """The store is that of --store, else of MIDCALL_STORE, else the SQLite file in the user's data
directory. A password is better in MIDCALL_STORE, since others can read command lines."""


def keeping(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option of everything that looks into a store."""
    return click.option("--store", metavar="URL", envvar="MIDCALL_STORE", help="Where it is kept.", show_envvar=True)(
        command
    )


@midcall.group(epilog=_KEEPER, no_args_is_help=False)
def vault() -> None:
    """What is kept for users: secrets and connected accounts. Values are never shown."""


@vault.command("list", epilog=_OPERATORS_EXITS)
@click.argument("owner", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@keeping
def list_kept(owner: str | None, as_json: bool, store: str | None) -> int:
    """List what is kept, for OWNER or for all: names and dates. Needs no key."""
    from midcall.cli.vault import list_kept

    return list_kept(store, owner, as_json=as_json)


@vault.command(epilog=_OPERATORS_EXITS)
@click.argument("owner")
@click.argument("name")
@keeping
def forget(owner: str, name: str, store: str | None) -> int:
    """Delete what is kept for OWNER under NAME.

    Write both as `midcall vault list` does. No key is needed, and the user can enter the value again.
    """
    from midcall.cli.vault import forget

    return forget(store, owner, name)


@vault.command(epilog=_OPERATORS_EXITS)
@keeping
def rotate(store: str | None) -> int:
    """Seal everything anew with the first key.

    Keys are those of MIDCALL_KEYS, separated by commas: the new one first, the earlier ones behind it.
    Without MIDCALL_KEYS, and only for SQLite, the key of this machine. The servers may go on working
    meanwhile, and it does no harm to run it again.
    """
    from midcall.cli.vault import rotate

    return rotate(store)


@midcall.group(no_args_is_help=False)
def store() -> None:
    """Look after a store. URL is one of sqlite:///PATH, postgresql://..., redis://...

    By default it is MIDCALL_STORE, else this user's own file.
    """


def looking_after(command: Callable[..., Any]) -> Callable[..., Any]:
    """The store to look after: by its URL alone, or as the other commands take it."""

    @wraps(command)
    def with_one_url(url: str | None, store: str | None, **options: Any) -> int:
        if url is not None and store is not None:
            raise click.UsageError("Name the store once: by URL, or by --store URL.", click.get_current_context())
        return command(store if url is None else url, **options)

    option = click.option("--store", metavar="URL", help="The same as URL.")
    return click.argument("url", required=False)(option(with_one_url))


@store.command(epilog=_OPERATORS_EXITS)
@looking_after
def check(url: str | None) -> int:
    """Connect, make or migrate the tables, and write and read something."""
    from midcall.cli.store import check

    return check(url)


@store.command(epilog=_OPERATORS_EXITS)
@looking_after
@click.option(
    "--keep",
    type=click.FloatRange(min=0),
    default=24 * 60 * 60.0,
    metavar="SECONDS",
    help="How long records stay after their time is over. By default, a day.",
)
def sweep(url: str | None, keep: float) -> int:
    """Remove records whose time has been over for a while. What users entrusted stays."""
    from midcall.cli.store import sweep

    return sweep(url, keep)


@store.command()
@click.argument("url", required=False)
@click.option("--schema", "name", metavar="NAME", help="The schema that the tables are in.")
def schema(url: str | None, name: str | None) -> int:
    """Print the SQL that makes the tables in PostgreSQL.

    For databases in which the server itself may not make any. Running it again does no harm.
    """
    from midcall.cli.store import schema

    return schema(url, name)
