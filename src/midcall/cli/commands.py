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
from midcall.settings.stores import EXPIRED_KEEP_SECONDS

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
    """Parse the command line and run it. Report wrong usage on one line."""
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
@click.option("--scripted", is_flag=True, help="Play from a script, even in a terminal.")
def demo(game: str | None, era: str | None, scripted: bool) -> int:
    """Try a tool that asks, on any protocol version.

    Guess a number, or book a trip. Server and client run in this process, and every question shows the
    protocol version and the channel that carried it.

    Without a terminal, or with --scripted, a script plays everything on every version.
    """
    from midcall.cli.demo import run

    return run(game, era, scripted=scripted)


def connecting(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options of all commands that connect to a server."""
    for option in (
        click.option("--verbose", "-v", is_flag=True, help="Show what the server writes to its standard error."),
        click.option(
            "--timeout",
            type=click.FloatRange(min=0, min_open=True),
            metavar="SECONDS",
            help="Give up after this many seconds.",
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
    from midcall.cli.connection import ServerLink
    from midcall.cli.tools import run

    return run(ServerLink.of(target, **options), as_json=as_json)


@midcall.command(epilog=_EXITS)
@click.argument("target")
@click.argument("tool")
@click.argument("arguments", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--answers", type=click.Path(), metavar="FILE", help="Answer from this YAML or JSON file.")
@click.option("--browser", is_flag=True, help="Answer on a page in your browser.")
@click.option(
    "--audit",
    type=click.Path(),
    metavar="FILE",
    help="Append a record of each question, without its content, to this file.",
)
@click.option(
    "--downgrade",
    is_flag=True,
    help="If the server can't ask on 2026-07-28, call again on an older version.",
)
@connecting
def call(target: str, tool: str, arguments: tuple[str, ...], as_json: bool, **options: Any) -> int:
    """Call a tool, and answer its questions.

    TARGET is a URL, or a command in quotes that starts the server. The tool's schema decides how a value
    is read. KEY:=JSON passes raw JSON, KEY=@FILE the text of a file, and a repeated KEY makes a list:

    \b
      midcall call "python server.py" book destination=Oslo days=3 tags=sea tags=snow
      midcall call http://localhost:8000/mcp book 'trip:={"days": 3}' --answers answers.yaml

    Questions appear in the terminal. Without a terminal, --answers or --browser, they are cancelled.
    """
    from midcall.cli.call import run
    from midcall.cli.call.answerers import AnswererOptions
    from midcall.cli.connection import ServerLink

    answers = AnswererOptions(options.pop("answers"), options.pop("browser"), options.pop("audit"))
    downgrade: bool = options.pop("downgrade")
    return run(ServerLink.of(target, **options), tool, arguments, answers, downgrade=downgrade, as_json=as_json)


@midcall.command()
@click.argument("target", required=False)
@click.option("--settings", is_flag=True, help="Print every setting, its value, and where it comes from.")
@connecting
def doctor(target: str | None, settings: bool, as_json: bool, **options: Any) -> int:
    """Check how a server reaches its users, and what is missing.

    TARGET is the server's code, which this imports; or a URL or a command, as for `midcall tools`, to
    which this connects:

    \b
      midcall doctor server.py
      midcall doctor server.py:mcp
      midcall doctor package.module:mcp
      midcall doctor http://localhost:8000/mcp
      midcall doctor "python server.py"
      midcall doctor --settings [server.py]

    If the server lists the tool midcall_probe, this calls it and answers its questions. The exit code is
    1 if something is broken.
    """
    from midcall.cli.connection import ServerLink
    from midcall.cli.doctor import run, show_settings

    if settings:
        return show_settings(target, as_json=as_json)
    return run(None if target is None else ServerLink.of(target, **options), as_json=as_json)


@midcall.command()
@click.argument("error", required=False)
def explain(error: str | None) -> int:
    """Explain an error: what happened, what the model sees, what to do.

    \b
      midcall explain NoChannel
      midcall explain             lists the errors
    """
    from midcall.cli.explain import run

    return run(error)


# --- for people who run a server -----------------------------------------------------------------

_OPERATORS_EXITS: Final = """\b
Exit codes:
  0  done
  1  something could not be opened, or does not exist
  2  wrong usage, including an invalid store URL or key
  4  no connection to the store
"""
_WHICH_STORE: Final = """The store is --store, else MIDCALL_STORE, else the SQLite file in your data directory.
Put passwords into MIDCALL_STORE: other users can read command lines."""


def with_store(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option of all commands that use a store."""
    return click.option(
        "--store", metavar="URL", envvar="MIDCALL_STORE", help="The URL of the store.", show_envvar=True
    )(command)


@midcall.group(epilog=_WHICH_STORE, no_args_is_help=False)
def vault() -> None:
    """Manage users' secrets and connected accounts. No command shows a value."""


@vault.command("list", epilog=_OPERATORS_EXITS)
@click.argument("owner", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@with_store
def list_values(owner: str | None, as_json: bool, store: str | None) -> int:
    """List names and dates of the values of OWNER, or of everyone, and which server can read them. Needs no key."""
    from midcall.cli.maintenance import list_values

    return list_values(store, owner, as_json=as_json)


@vault.command(epilog=_OPERATORS_EXITS)
@click.argument("owner")
@click.argument("name")
@click.option("--server", help="Which server's, if several have a value with this name.")
@with_store
def forget(owner: str, name: str, server: str | None, store: str | None) -> int:
    """Delete the value NAME of OWNER.

    Write all of them as `midcall vault list` shows them. This needs no key, and the user can enter the value again.
    """
    from midcall.cli.maintenance import forget

    return forget(store, owner, name, server)


@vault.command(epilog=_OPERATORS_EXITS)
@with_store
def rotate(store: str | None) -> int:
    """Encrypt everything again with the first key.

    MIDCALL_KEYS holds the keys, separated by commas: first the new one, then the earlier ones. Without it,
    and only for SQLite, this machine's key is used. Servers can keep running, and you can run this again at
    any time.
    """
    from midcall.cli.maintenance import rotate

    return rotate(store)


@midcall.command(short_help="Show the process that keeps pages open.")
@click.option("--stop", is_flag=True, help="End it. Pages that are open can't be answered then.")
def pages(stop: bool) -> int:
    """Show the process that serves open pages of stdio servers, which may have ended.

    It starts when a page is handed out, and ends on its own when no page is open.
    """
    from midcall.cli.page_process import run

    return run(stop=stop)


@midcall.group(no_args_is_help=False)
def store() -> None:
    """Check and maintain a store. URL is one of sqlite:///PATH, postgresql://..., redis://...

    By default it's MIDCALL_STORE, else the SQLite file in your data directory.
    """


def with_url(command: Callable[..., Any]) -> Callable[..., Any]:
    """The store, as an argument or as the option of the other commands."""

    @wraps(command)
    def with_one_url(url: str | None, store: str | None, **options: Any) -> int:
        if url is not None and store is not None:
            raise click.UsageError("Name the store once: by URL, or by --store URL.", click.get_current_context())
        return command(store if url is None else url, **options)

    option = click.option("--store", metavar="URL", help="The same as URL.")
    return click.argument("url", required=False)(option(with_one_url))


@store.command(epilog=_OPERATORS_EXITS)
@with_url
def check(url: str | None) -> int:
    """Connect, create or migrate the tables, and try writing and reading."""
    from midcall.cli.maintenance import check

    return check(url)


@store.command(epilog=_OPERATORS_EXITS)
@with_url
@click.option(
    "--keep",
    type=click.FloatRange(min=0),
    default=EXPIRED_KEEP_SECONDS,
    metavar="SECONDS",
    help="Keep records this long after they expire. By default, a day.",
)
def sweep(url: str | None, keep: float) -> int:
    """Purge records that expired a while ago. Users' secrets stay."""
    from midcall.cli.maintenance import sweep

    return sweep(url, keep)


@store.command()
@click.argument("url", required=False)
@click.option("--schema", "name", metavar="NAME", help="The schema of the tables.")
def schema(url: str | None, name: str | None) -> int:
    """Print the SQL that creates the tables in PostgreSQL.

    For databases in which the server may not create tables. You can run it again at any time.
    """
    from midcall.cli.maintenance import schema

    return schema(url, name)
