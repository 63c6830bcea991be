"""The numbers that `install` takes: from code, from the environment, or neither. A new one is tested here as it is."""

from __future__ import annotations

import re
from enum import IntEnum

import pytest
from mcp.server.mcpserver import MCPServer

import midcall
from midcall import InstallError
from midcall.doctor.effective import Effective, find_effective
from midcall.doctor.inspection import Setup
from midcall.settings.table import SETTINGS, Setting
from midcall.stores.memory import Memory

NUMBERS = [each for each in SETTINGS if each.of_install and type(each.default) in (int, float)]
MAY_BE_ZERO = ("DOUBT_SECONDS",)

for_each_number = pytest.mark.parametrize("setting", NUMBERS, ids=lambda setting: setting.name)


def installed(setting: Setting, given: object = None) -> Effective:
    """This setting, on a server whose author sets it in code, or leaves it open."""
    options = {} if given is None else {setting.of_install: given}
    installation = midcall.install(MCPServer("x"), store=Memory(), **options)  # type: ignore[arg-type]
    return next(each for each in find_effective(Setup(installation)) if each.setting is setting)


@for_each_number
def test_a_number_that_the_author_left_open_can_come_from_the_environment(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(setting.env, "7")
    found = installed(setting)
    assert (found.value, found.source) == (setting.format(7), "environment")


@for_each_number
def test_the_authors_number_takes_precedence(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(setting.env, "99")
    found = installed(setting, 3)
    assert (found.value, found.source) == (setting.format(3), "argument")


@for_each_number
@pytest.mark.parametrize("value", ["many", "-1", "nan", "inf", "0"])
def test_a_wrong_number_in_the_environment_is_refused(
    value: str, setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(setting.env, value)
    if value == "0" and setting.name in MAY_BE_ZERO:
        assert installed(setting).value == setting.format(0)
        return
    with pytest.raises(InstallError, match=f"^{setting.env}='{value}' must be a (whole )?number "):
        installed(setting)


@for_each_number
@pytest.mark.parametrize("given", [0, -1, "5", True], ids=repr)
def test_a_wrong_number_in_code_is_refused(given: object, setting: Setting) -> None:
    if given == 0 and setting.name in MAY_BE_ZERO:
        assert installed(setting, given).value == setting.format(0)
        return
    with pytest.raises(InstallError, match=f"^{setting.of_install}={re.escape(repr(given))} must be "):
        installed(setting, given)


def test_a_count_may_be_a_member_of_an_enum() -> None:
    limit = IntEnum("limit", {"SEVEN": 7})
    assert midcall.install(MCPServer("x"), max_rounds=limit(7)).max_rounds == 7
