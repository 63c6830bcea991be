"""Every sentence about stores that an author or an operator may read, in one place."""

from __future__ import annotations

from collections.abc import Sequence

__all__: list[str] = []


# --- which store -----------------------------------------------------------------------------
def accepted_urls() -> str:
    return (
        "A store is named by a URL: memory://, sqlite:// (a file of its own), sqlite:///path/to/file.db, "
        "postgresql://user@host/database or redis://host/0; or by the path of a file that ends in .db."
    )


def not_a_store() -> str:
    return "This is neither a store nor the URL of one"


def not_a_url() -> str:
    return "The URL of the store cannot be read: it has no scheme such as postgresql://"


def unknown_scheme(scheme: str) -> str:
    return f"There is no store for {scheme}:// URLs"


def broken_url(scheme: str) -> str:
    return f"The {scheme}:// URL of the store cannot be read"


def encode_the_password() -> str:
    return "Write special characters of a user name or a password in percent encoding: %40 for @, %2F for /, %3A for :."


def no_such_port(scheme: str) -> str:
    return f"The {scheme}:// URL of the store names a port that does not exist"


def correct_the_port(last: int) -> str:
    return f"Correct the port, which stands behind the host and a colon: it is a number from 1 to {last}."


def sqlite_has_no_host(scheme: str) -> str:
    return f"The {scheme}:// URL of the store names a host, and a file has none"


def three_slashes() -> str:
    return "Use three slashes for an absolute path, as in sqlite:///var/lib/app/midcall.db."


def memory_takes_nothing() -> str:
    return "A memory:// URL has nothing behind it"


def unknown_option(options: Sequence[str]) -> str:
    known = f"only {', '.join(options)}" if options else "none"
    return f"The URL of the store has an option that is not known here: it can have {known}"


def wrong_option(option: str, expected: str) -> str:
    return f"The option {option!r} in the URL of the store must be {expected}"


def missing_extra(what: str, package: str) -> str:
    return f"{what} needs the package {package}, which is not installed"


def install_extra(extra: str) -> str:
    return f'Install it with: pip install "midcall[{extra}]"'


# --- every store -----------------------------------------------------------------------------
def name_too_long(what: str, size: int, longest: int) -> str:
    return f"A store keeps an {what} of at most {longest:,} bytes, and this one has {size:,}".replace(
        "an name", "a name"
    )


def shorten_it() -> str:
    return "Use a digest of it."


def closed() -> str:
    return "The store is closed"


def closed_while_waiting() -> str:
    return "The store was closed while somebody waited for it"


def open_it_again() -> str:
    return "Call open() to use it again."


def other_loop() -> str:
    return "The store is in use on another event loop"


def one_store_a_loop() -> str:
    return "Make one store for each event loop, or close it there before you use it here."


def schema_too_new(version: int, ours: int) -> str:
    return f"The store was set up by a newer midcall: its schema is version {version}, and this midcall knows {ours}"


def update_midcall() -> str:
    return "Update midcall here, or use another store."


def watching_failed(error: str) -> str:
    return f"Watching the store failed with {error}; trying again"


# --- SQLite ----------------------------------------------------------------------------------
def no_directory(path: str) -> str:
    return f"There is no directory {path} for the store"


def make_the_directory() -> str:
    return "Make the directory, or correct the path."


def choose_a_file() -> str:
    return "Name a file in MIDCALL_STORE, as in sqlite:///var/lib/app/midcall.db."


def cannot_open_file(path: str) -> str:
    return f"The store cannot open {path}"


def check_the_file() -> str:
    return "It must be a file that this user can read and write."


def sqlite_too_old(version: str) -> str:
    return f"This Python has SQLite {version}, and the store needs 3.35 or newer"


def another_python() -> str:
    return "Use another build of Python, or PostgreSQL or Redis."


def sqlite_failed(error: str, path: str) -> str:
    known = {
        "SQLITE_BUSY": f"Another process keeps {path} locked",
        "SQLITE_LOCKED": f"Another process keeps {path} locked",
        "SQLITE_FULL": f"There is no space left for {path}",
        "SQLITE_READONLY": f"{path} cannot be written",
        "SQLITE_CANTOPEN": f"{path} cannot be opened",
        "SQLITE_NOTADB": f"{path} is not a SQLite database",
        "SQLITE_CORRUPT": f"{path} is damaged",
        "SQLITE_IOERR": f"{path} could not be read or written",
    }
    found = next((text for start, text in known.items() if error.startswith(start)), None)
    what = found or f"SQLite failed with {error or 'an error'} on {path}"
    return f"{what}. Nothing was changed"


def sqlite_advice(error: str) -> str:
    known = {
        "SQLITE_BUSY": "Try again; if it stays, see which process holds the file open.",
        "SQLITE_LOCKED": "Try again; if it stays, see which process holds the file open.",
        "SQLITE_FULL": "Make room on the disk; it goes on by itself then.",
        "SQLITE_READONLY": "This user must be able to write the file and its directory.",
        "SQLITE_CANTOPEN": "This user must be able to read and write the file and its directory.",
        "SQLITE_NOTADB": "Choose another file for the store.",
        "SQLITE_CORRUPT": "Restore it from a backup, or move it away to begin anew.",
        "SQLITE_IOERR": "See whether the disk is there and healthy. A network drive is no place for SQLite.",
    }
    return next((text for start, text in known.items() if error.startswith(start)), "")


# --- PostgreSQL and Redis --------------------------------------------------------------------
def cannot_reach(what: str) -> str:
    return f"{what} cannot be reached"


def is_it_running() -> str:
    return "See whether it runs and whether the host and the port are right. Later calls try again."


def connection_lost(what: str) -> str:
    return f"The connection to {what} broke off, and nobody knows whether the change was made"


def connection_lost_reading(what: str) -> str:
    return f"The connection to {what} broke off"


def try_again() -> str:
    return "Try again: the next call connects anew."


def looking_meanwhile() -> str:
    return "It connects again; meanwhile changes are found by looking."


def took_too_long(what: str) -> str:
    return f"{what} did not answer in time, and nobody knows whether the change was made"


def refused_login(what: str) -> str:
    return f"{what} refuses this user or this password"


def check_the_login() -> str:
    return "Correct the user and the password in the URL of the store."


def no_such_database(what: str) -> str:
    return f"{what}: there is no such database"


def make_the_database() -> str:
    return "Create the database, or correct its name in the URL of the store."


def too_many_connections(what: str) -> str:
    return f"{what} takes no more connections"


def fewer_connections() -> str:
    return "Make the pool smaller with ?pool=2 in the URL, or let the database take more."


def may_not(what: str) -> str:
    return f"{what}: this user may not do that"


def grant_rights() -> str:
    return (
        "Grant SELECT, INSERT, UPDATE and DELETE on midcall_records and midcall_values, SELECT on midcall_schema, and "
        "USAGE on the schema that they are in."
    )


def unknown_to_the_server(what: str) -> str:
    return f"{what} does not take an option that stands in the URL of the store"


def look_at_the_options(own: Sequence[str]) -> str:
    return f"See whether one is misspelled. Those of midcall are {', '.join(own)}; all others go to the driver."


def grant_commands() -> str:
    return "Let this user run scripts and publish, on the keys and channels that begin with the store's prefix."


def is_a_cluster(what: str) -> str:
    return f"{what} is a cluster that sends its clients from node to node"


def no_cluster() -> str:
    return "Use a Redis with one primary, or an endpoint that routes for its clients."


def may_not_create(what: str) -> str:
    return f"{what}: this user may not create the tables of the store"


def tables_missing(what: str) -> str:
    return f"{what}: the tables of the store are missing or of an older version"


def run_this(sql: str) -> str:
    return f"Let somebody who may create tables run this, once:\n\n{sql}"


def server_read_only(what: str) -> str:
    return f"{what} is read-only now. Nothing was changed"


def server_full(what: str) -> str:
    return f"{what} has no space left. Nothing was changed"


def primary_or_later() -> str:
    return "Connect to the primary, or wait until it is one again."


def make_room() -> str:
    return "Make room there; it goes on by itself then."


def server_failed(what: str, error: str) -> str:
    return f"{what} failed with {error}"


def cannot_listen(what: str) -> str:
    return (
        f"{what} does not pass on notifications, as behind PgBouncer in transaction mode. "
        "Completions in other processes are found by looking, ten times a second"
    )


def may_evict(what: str, policy: str) -> str:
    return (
        f"{what} may throw away records and secrets when its memory is full (maxmemory-policy {policy}). "
        "Set maxmemory-policy to noeviction, or use another Redis"
    )


# --- for the model ---------------------------------------------------------------------------
def for_model() -> str:
    return (
        "This server cannot reach the place where it keeps what its calls need. That is not the user's fault, and "
        "nothing that was kept is lost. Make the call again in a little while."
    )


# --- the command -----------------------------------------------------------------------------
def swept(count: int) -> str:
    return f"Removed {count:,} {'record' if count == 1 else 'records'}."


def store_works(what: str) -> str:
    return f"{what} works."
