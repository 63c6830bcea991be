"""The table of settings: complete, and the only place where a limit is written."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import pytest
from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations

import midcall
import midcall.client.transport.target as target
import midcall.errors
import midcall.testing
from midcall.doctor.effective import find_effective
from midcall.doctor.inspection import Setup
from midcall.portal import webhooks as portal_webhooks
from midcall.portal.app import Portal
from midcall.settings.table import SETTINGS, Setting
from midcall.stores.memory import Memory
from scripts.settings_page import PAGE, write

SOURCE = Path(midcall.__file__).parent
ROOT = Path(__file__).resolve().parent.parent.parent
AREAS = [
    import_module(f"midcall.settings.{path.stem}")
    for path in sorted((SOURCE / "settings").glob("[a-z]*.py"))
    if path.stem not in ("environment", "table")
]
CONSTANTS: dict[str, Any] = {
    name: value for area in AREAS for name, value in vars(area).items() if re.fullmatch(r"[A-Z][A-Z_0-9]+", name)
}
"""What modules import, by name."""
MODULES = [path for path in sorted(SOURCE.rglob("*.py")) if path.parent.name != "settings"]
CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*")
LIMIT_NAME = re.compile(
    r"SECONDS|TIMEOUT|TTL|PATIENCE|GRACE|BYTES|CHARACTERS|LINES|FIELDS|LIMIT|_S$"
    r"|MAX_|MOST|LEAST|LONG|ATTEMPTS|RACES|REFUSALS|CANCELS|KINDS|WARNINGS|PERIODS|KEPT|REMEMBERED|LOGGED|TYPED|SHOWN"
)
LIMIT_ARGUMENT = re.compile(r"timeout|ttl|seconds|delay|interval|patience|grace|every|lease")
NOT_TIMES = {"_NEAR", "_ALIKE", "_BEAT"}
"""How alike two words are, and by how much a heartbeat raises the progress."""
NOT_LIMITS = {
    "client/automatic/headless.py _MOST_NAMED": "how many names a sentence lists",
    "client/terminal/question_pages.py _LONG": "when a message can have the focus",
    "client/terminal/widgets/entries.py LONG": "when a list can be searched",
    "client/terminal/widgets/entries.py _MOST_NAMED": "how many names a sentence lists",
    "client/urls/hosts.py _LONGEST": "the length of a host, by RFC 1035",
    "client/urls/hosts.py _LONGEST_LABEL": "the length of its parts, by RFC 1035",
    "core/forms/patterns.py _MOST_COUNTED": "what RE2 can count to",
    "core/remembered.py CHARACTERS": "the length of a digest",
    "doctor/locate.py _SHOWN": "how many lines an excerpt has",
    "server/running/sizes.py _BYTES_PER_CHARACTER": "how much memory a character of JSON takes",
    "web/forms/inputs.py _LONG_TEXT": "when a text gets a larger input",
}
"""How something looks, and what others have decided: by module and name, with what it is."""


def is_number(node: ast.expr | None) -> bool:
    match node:
        case ast.Constant(value=value):
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case ast.BinOp(left=left, right=right):
            return is_number(left) and is_number(right)
        case ast.Tuple(elts=[*parts]):
            return bool(parts) and all(map(is_number, parts))
        case _:
            return False


def has_fraction(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Constant) and isinstance(each.value, float) for each in ast.walk(node))


def limits_in(tree: ast.Module) -> Iterator[str]:
    """Constants, defaults and arguments that hardcode a time or a size."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                is_time = has_fraction(value) and name not in NOT_TIMES
                if CONSTANT.fullmatch(name) and is_number(value) and (is_time or LIMIT_NAME.search(name)):
                    yield name
            case ast.arguments():
                pairs = [*zip(reversed(node.args), reversed(node.defaults), strict=False)]
                pairs += [
                    (arg, default) for arg, default in zip(node.kwonlyargs, node.kw_defaults, strict=True) if default
                ]
                yield from (arg.arg for arg, default in pairs if is_number(default) and LIMIT_ARGUMENT.search(arg.arg))
            case ast.keyword(arg=str(name), value=value) if is_number(value) and LIMIT_ARGUMENT.search(name):
                yield name
            case ast.Call(
                func=ast.Attribute(attr="sleep" | "listen" | "timeout" | "move_on_after" | "fail_after"),
                args=[first, *_],
            ):
                if is_number(first) and ast.literal_eval(first) != 0:
                    yield ast.unparse(node)
            case _:
                pass


def test_no_other_module_hardcodes_a_limit() -> None:
    found = {
        f"{path.relative_to(SOURCE).as_posix()} {name}"
        for path in MODULES
        for name in limits_in(ast.parse(path.read_text()))
    }
    advice = "add these to a module of settings/, and import them from there (docs/where.md, Add a setting)"
    assert found == NOT_LIMITS.keys(), advice


@pytest.mark.parametrize(
    "code",
    [
        *("_CLOSING: Final = 5.0", "MAX_TURNS = 10", "def f(*, timeout=10): ...", "f(timeout=3)", "time.sleep(0.1)"),
        *("_MOST_READ: Final = 200", "_RACES = 5", "_LONGEST: Final = 300", "LEAST = 32", "door.listen(64)"),
    ],
)
def test_that_check_notices_a_limit(code: str) -> None:
    assert list(limits_in(ast.parse(code)))


def test_every_name_is_in_the_table_once() -> None:
    names = [each.name for each in SETTINGS]
    assert len(set(names)) == len(names)


def test_every_constant_is_in_the_table_with_its_value() -> None:
    rows = {each.name: each.default for each in SETTINGS}
    assert CONSTANTS.items() <= rows.items()


def test_no_text_has_a_field_that_the_table_does_not_know() -> None:
    texts = {each.name: f"{each.meaning} {each.then} {each.otherwise} {each.argument} {each.env}" for each in SETTINGS}
    assert [name for name, text in texts.items() if re.search(r"[.)] [A-Z][a-z]+: ", text)] == []


def test_every_limit_says_what_happens_at_it() -> None:
    """Write `Then:` below a limit. The time between two of the same has none, and begins with "Between two"."""
    assert [each.name for each in SETTINGS if each.is_limit and not each.then.endswith(".")] == []
    assert [each.name for each in SETTINGS if not each.is_limit and each.then] == []


def test_the_errors_that_limits_name_exist() -> None:
    public = {
        **vars(midcall.errors),
        **vars(portal_webhooks),
        **vars(target),
        "NotReplayable": midcall.testing.NotReplayable,
    }
    named = [name for each in SETTINGS for name in re.findall(r"`([A-Z][A-Za-z]+)`", each.then)]
    assert len(named) > 10
    assert [name for name in named if not (isinstance(public.get(name), type))] == []


def test_the_page_says_what_happens_at_every_limit() -> None:
    page = write()
    assert [each.name for each in SETTINGS if each.is_limit and f"| {each.then} |" not in page] == []


def test_every_default_is_used_by_a_module() -> None:
    """But for those that the signature of `install` has: None, and yes or no."""
    used = {name for path in MODULES for name in re.findall(r"\w+", path.read_text())}
    of_install = {each.name for each in SETTINGS if each.subject == "install" and isinstance(each.default, bool)}
    numbers = {each.name for each in SETTINGS if each.unit or each.is_fixed}
    assert numbers | {each.name for each in SETTINGS if each.default is not None} - of_install <= used


def test_every_variable_that_is_read_is_in_the_table() -> None:
    read = {name for path in SOURCE.rglob("*.py") for name in re.findall(r"MIDCALL_[A-Z_]*[A-Z]", path.read_text())}
    assert read == {each.env for each in SETTINGS if each.env}
    scripts = "".join(path.read_text() for path in (ROOT / "scripts").rglob("*.py"))
    assert set(re.findall(r"MIDCALL_[A-Z_]*[A-Z]", scripts)) <= read


@pytest.mark.parametrize(("function", "name"), [(midcall.install, "install"), (Portal, "Portal")])
def test_the_arguments_are_those_of_the_code(function: object, name: str) -> None:
    parameters = inspect.signature(function).parameters  # type: ignore[arg-type]
    rows = {match[1]: each for each in SETTINGS if (match := re.match(rf"{name}\((\w+)=\)", each.argument))}
    assert rows.keys() <= parameters.keys()
    for argument, setting in rows.items():
        default = parameters[argument].default
        if isinstance(default, bool):
            assert default is setting.default, argument
    if name == "install":
        assert rows.keys() == parameters.keys() - {"server"}


def test_the_page_is_fresh_and_names_every_variable() -> None:
    page = PAGE.read_text()
    assert page == write(), "run `make settings`"
    assert all(f"`{each.env}`" in page for each in SETTINGS if each.env)


def test_values_are_written_with_their_units() -> None:
    rows = {each.name: each.format(each.default) for each in SETTINGS}
    assert rows["STATE_TTL_SECONDS"] == "3,600 s"
    assert rows["BRANCH_POLL_SECONDS"] == "0.005 s"
    assert rows["STORE_RETRY_SECONDS"] == "0.05, 0.2, 1, 2, 5 s"
    assert rows["REQUIRED"] == "no"
    assert rows["PORTAL_HOST"] == "127.0.0.1"
    assert rows["LIVE"] == "yes, unless replicas share keys and no store"


@pytest.mark.parametrize(
    "setting",
    [each for each in SETTINGS if each.of_install and isinstance(each.default, (int, float))],
    ids=lambda setting: setting.name,
)
def test_the_doctor_shows_a_value_that_install_was_given(setting: Setting) -> None:
    given = not setting.default if isinstance(setting.default, bool) else cast("float", setting.default) + 1
    options: dict[str, Any] = {"store": Memory(), setting.of_install: given}
    installation = midcall.install(MCPServer("x"), **options)
    found = {each.setting.name: each for each in find_effective(Setup(installation), {})}[setting.name]
    assert (found.value, found.source) == (setting.format(given), "argument")


def test_the_doctor_shows_that_a_setting_without_a_short_value_is_set() -> None:
    annotations = ToolAnnotations(read_only_hint=True)
    installation = midcall.install(MCPServer("x"), principal=lambda ctx: "ada", continue_annotations=annotations)
    found = {each.setting.name: (each.value, each.source) for each in find_effective(Setup(installation), {})}
    assert found["PRINCIPAL"] == found["CONTINUE_ANNOTATIONS"] == ("(set)", "argument")
    assert found["AUDIT"] == ("nowhere", "default")
