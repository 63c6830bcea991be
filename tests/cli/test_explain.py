"""`midcall explain`: the errors page, in the terminal."""

from __future__ import annotations

import builtins
import re

import pytest

from midcall.cli.exits import Ends
from midcall.cli.explain import run, sections
from midcall.errors import NoChannel
from tests.cli.shell import midcall
from tests.docs.test_errors_page import SECTIONS


def test_an_error_is_explained_by_its_section_of_the_page() -> None:
    told = midcall("explain", "NoChannel", warm=False)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.startswith("NoChannel\n\nWhat happened. No channel can carry this question")
    assert 'Install a portal (the page "The portal"). Clients without elicitation then get a page' in told.stdout
    assert told.stdout.endswith('(the page "Identify the user of a page").\n')


@pytest.mark.parametrize("name", SECTIONS)
def test_an_explanation_names_pages_by_their_titles_because_an_installed_package_has_no_pages(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run(name)
    assert not re.search(r"docs/|\.md\b|\]\(", capsys.readouterr().out)


def test_what_fails_a_test_is_explained_too() -> None:
    told = midcall("explain", "midcall.testing.NotReplayable")
    assert told.stdout.startswith("NotReplayable\n\nWhat happened. In a test, `replayed`")


@pytest.mark.parametrize("name", ["nochannel", "midcall.errors.NoChannel", "docs/errors.md#nochannel"])
def test_it_is_found_as_a_log_or_a_traceback_names_it(name: str) -> None:
    assert midcall("explain", name).stdout.startswith("NoChannel\n")


def test_what_the_log_says_to_run_can_be_run() -> None:
    command = NoChannel("Nobody can be asked").reference.rpartition("run: ")[2].split()
    assert midcall(*command[1:]).returncode == 0


def test_without_a_name_the_errors_are_listed() -> None:
    told = midcall("explain")
    assert told.returncode == 0
    assert told.stdout.split("\n\n")[1].split() == list(SECTIONS) == list(sections())


def test_an_unknown_name_is_reported_with_the_nearest() -> None:
    told = midcall("explain", "NoChanel")
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr == "midcall explain: there is no error 'NoChanel'. Did you mean NoChannel?\n"
    assert "`midcall explain` lists all errors" in midcall("explain", "zzz").stderr


def test_a_builtin_error_is_not_mistaken_for_one_of_midcall() -> None:
    known = [name for name, each in vars(builtins).items() if isinstance(each, type) and issubclass(each, Exception)]
    assert "ValueError" in known
    for name in known:
        with pytest.raises(Ends) as end:
            run(name)
        assert end.value.sentence.endswith("`midcall explain` lists all errors.")
    assert "Did you mean" not in midcall("explain", "ValueError").stderr
