"""The shape of the package: core is pure, public names are in one place, and loading is cheap."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import midcall
from midcall import errors, from_thread
from midcall.server import verbs

SOURCE = Path(midcall.__file__).parent
CORE = sorted((SOURCE / "core").rglob("*.py"))

# What core may import: no I/O, no clock, no event loop, no MCP.
PURE = {
    *(
        "__future__",
        "annotationlib",
        "base64",
        "collections",
        "contextlib",
        "copy",
        "dataclasses",
        "datetime",
        "decimal",
    ),
    *("enum", "functools", "hashlib", "inspect", "ipaddress", "itertools", "json", "math", "re", "types", "typing"),
    *("typing_extensions", "unicodedata", "urllib", "operator", "string", "sys"),
}
PYDANTIC = {"pydantic", "pydantic_core", "annotated_types"}


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


@pytest.mark.parametrize("path", CORE, ids=lambda path: str(path.relative_to(SOURCE)))
def test_core_is_pure(path: Path) -> None:
    allowed = PURE | (
        PYDANTIC
        if "types" in path.parts
        else {"pydantic_core"}
        if path.name in ("journal.py", "patterns.py")
        else set()
    )
    for name in imported(path):
        if name.startswith("midcall"):
            others = ("midcall", "midcall.errors", "midcall.language", "midcall.language.problems", "midcall.protocol")
            is_table = name.startswith("midcall.settings.") and name != "midcall.settings.environment"
            assert name in others or is_table or name.startswith("midcall.core"), f"core may not import {name}"
        else:
            assert name.partition(".")[0] in allowed, f"{path.name} imports {name}"


def loaded_by(code: str) -> set[str]:
    script = f"{code}\nimport sys; print('\\n'.join(sys.modules))"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(found.stdout.split())


def test_core_can_be_used_without_an_event_loop_or_mcp() -> None:
    loaded = loaded_by("import midcall.core.replay, midcall.core.types")
    assert not loaded & {"mcp", "mcp_types", "anyio", "starlette", "httpx2"}


def test_importing_midcall_loads_nothing_heavy_until_a_name_is_used() -> None:
    assert not loaded_by("import midcall") & {"mcp", "pydantic", "anyio"}
    assert "mcp" in loaded_by("import midcall; midcall.install")


def test_a_program_loads_the_limits_of_what_it_uses() -> None:
    others = {"midcall.settings.client", "midcall.settings.table"}
    assert not others & loaded_by("import midcall; midcall.install; midcall.ask; import midcall.portal")
    assert "midcall.settings.install" not in loaded_by("from midcall.client import Script, connect")


def test_fastmcp_is_not_needed() -> None:
    assert "fastmcp" not in loaded_by("import midcall; midcall.install; midcall.ask; midcall.testing.replayed")


def test_the_pytest_plugin_loads_nothing_until_a_test_uses_its_fixture() -> None:
    assert not loaded_by("import midcall.testing.plugin") & {"mcp", "anyio", "midcall.testing.running"}


def test_every_public_name_of_testing_exists_and_is_listed_once() -> None:
    from midcall import testing

    assert sorted(testing.__all__) == sorted(testing._HOME) == dir(testing)
    for name in testing.__all__:
        assert getattr(testing, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        _ = testing.nothing


def error_classes() -> list[type]:
    return [each for _, each in inspect.getmembers(errors, inspect.isclass) if issubclass(each, errors.MidcallError)]


def test_every_public_name_exists_and_is_listed_once() -> None:
    assert len(midcall.__all__) == len(set(midcall.__all__))
    for name in midcall.__all__:
        assert getattr(midcall, name) is not None
    names_of_errors = {each.__name__ for each in error_classes()}
    assert set(midcall.__all__) == names_of_errors.union(midcall._HOME), "list it in midcall/__init__.py"
    assert set(dir(midcall)) >= set(midcall.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        _ = midcall.nothing


def test_every_public_name_of_the_client_side_exists_is_listed_once_and_documented() -> None:
    from midcall import client

    assert len(client.__all__) == len(set(client.__all__))
    assert set(client.__all__) == set(client._HOME)
    assert set(dir(client)) == set(client.__all__)
    for name in client.__all__:
        assert inspect.getdoc(getattr(client, name)), name
    with pytest.raises(AttributeError, match="nothing"):
        _ = client.nothing


def test_the_client_side_loads_only_what_is_used() -> None:
    assert not loaded_by("import midcall.client") & {"mcp", "textual", "jinja2", "starlette"}
    assert "textual" not in loaded_by("from midcall.client import Script, connect")


def test_the_demo_runs_without_the_packages_that_draw() -> None:
    assert not loaded_by("import midcall.cli.demo") & {"rich", "textual", "jinja2"}


def test_stores_are_maintained_without_the_packages_of_the_portal() -> None:
    packages = {"authlib", "itsdangerous", "joserfc", "keyring"}
    assert not packages & loaded_by("import midcall.cli.maintenance")


def test_every_error_is_public_documented_and_in_the_tree() -> None:
    for each in error_classes():
        assert each.__doc__
        assert each.__name__ in (errors.__doc__ or "")
        assert hasattr(midcall, each.__name__)


def test_every_verb_is_public_and_documented() -> None:
    assert set(verbs.__all__) <= set(midcall.__all__)
    for name in ("install", *verbs.__all__):
        assert inspect.getdoc(getattr(midcall, name)), name


def test_the_same_verbs_are_there_for_threads() -> None:
    assert from_thread.__all__ == verbs.__all__
    for name in verbs.__all__:
        assert callable(getattr(from_thread, name)), name


def test_no_module_has_a_meaningless_name() -> None:
    names = {path.stem for path in SOURCE.rglob("*.py")}
    assert not names & {"utils", "util", "helpers", "helper", "manager", "common", "misc"}


def test_the_map_names_every_module_except_in_nested_packages() -> None:
    page = (SOURCE.parents[1] / "docs" / "architecture.md").read_text()
    shown = set(re.findall(r"\w+", page[page.index("src/midcall/") : page.index("```", page.index("src/midcall/"))]))
    modules = [path.relative_to(SOURCE) for path in SOURCE.rglob("*.py")]
    named = {path.parts[min(len(path.parts), 2) - 1].removesuffix(".py") for path in modules}
    assert named - shown == set(), "draw these in the map of docs/architecture.md"


@pytest.mark.parametrize("page", ["where.md", "architecture.md"])
def test_the_files_that_contributors_are_sent_to_exist(page: str) -> None:
    root = SOURCE.parents[1]
    text = re.sub(r"^```.*?^```", "", (root / "docs" / page).read_text(), flags=re.MULTILINE | re.DOTALL)
    named = [name for name in re.findall(r"`([\w./-]+)`", text) if re.search(r"/$|\.(py|toml|html|pot)$", name)]
    assert named
    missing = [name for name in named if not any((base / name).exists() for base in (SOURCE, root))]
    assert missing == [], "write a path from src/midcall/, or from the root of the repository"


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_sentence_names_a_file_that_only_the_repository_has(path: Path) -> None:
    tree = ast.parse(path.read_text())
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    assert [text.value for text in texts if id(text) not in docstrings and "docs/" in str(text.value)] == []


def imports_of(module: Path) -> Iterator[tuple[str, str]]:
    """Its imports from our other modules: module and name."""
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("midcall."):
            yield from ((node.module or "", each.name) for each in node.names)


def test_modules_import_nothing_private_from_each_other() -> None:
    taken = {each for path in SOURCE.rglob("*.py") for each in imports_of(path)}
    assert [f"{module}: {name}" for module, name in sorted(taken) if re.match(r"_[^_]", name)] == []


# The private attributes that `server` may use: the frameworks', and those of named tuples.
PRIVATE = {"_lowlevel_server", "_mcp_server", "_request_outbound", "_connection", "_asdict", "_replace", "_make"}
FRAMES = ("f_", "tb_", "cr_", "gi_", "ag_")
"""Prefixes of attributes that lead to frames of running code."""


@pytest.mark.parametrize(
    "path", sorted((SOURCE / "server").rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE))
)
def test_calls_run_on_public_apis_only(path: Path) -> None:
    """No ctypes, no gc, no frames, and nothing private to asyncio and anyio."""
    tree = ast.parse(path.read_text())
    own = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and _is_self(node.value)}
    for name in imported(path):
        assert name.partition(".")[0] not in ("ctypes", "gc", "traceback", "linecache"), name
        assert not re.match(r"(asyncio|anyio|concurrent)\b.*\._", name), name
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not _is_self(node.value):
            attr = node.attr
            is_private = attr.startswith("_") and not attr.startswith("__")
            assert not is_private or attr in PRIVATE | own, attr
            assert not attr.startswith(FRAMES), attr
            assert attr not in ("currentframe", "stack", "get_stack"), attr


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


ROOT = SOURCE.parents[1]
FOLDERS = ("bench", "docs_src", "examples", "scripts")
OUTSIDE = sorted(
    path
    for folder in FOLDERS
    for path in (ROOT / folder).rglob("*.py")
    if not {".venv", "node_modules"} & set(path.parts)
)


@pytest.mark.parametrize("path", OUTSIDE, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_examples_and_docs_import_from_midcall_exists(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "midcall":
            module = import_module(node.module)
            for name in (alias.name for alias in node.names):
                assert hasattr(module, name) or find_spec(f"{node.module}.{name}"), f"{node.module} has no {name}"
