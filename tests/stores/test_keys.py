"""Where keys come from: the environment, a keyring, or the user's key file, and never a second one by mistake."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail
from keyring.errors import KeyringLocked, PasswordSetError
from mcp.server.mcpserver import MCPServer

import midcall
from midcall.core.caller import ServerIdentity
from midcall.errors import InstallError
from midcall.portal.app import Portal
from midcall.portal.vault import Vault
from midcall.portal.webhooks import Callbacks
from midcall.stores.keys import check_keys, derive, find_keys, load_machine_keys
from midcall.stores.memory import Memory
from tests.serving import environment

LONG = "a key that is long enough to be one"
POSIX = pytest.mark.skipif(os.name != "posix", reason="file modes are a matter of POSIX")


class Drawer(KeyringBackend):
    """A keyring, as a desktop has one."""

    priority = 1  # pyright: ignore

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


class Locked(Drawer):
    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringLocked("the user dismissed the prompt")


class Full(Drawer):
    def set_password(self, service: str, username: str, password: str) -> None:
        raise PasswordSetError("no room")


class Forgetful(Drawer):
    def set_password(self, service: str, username: str, password: str) -> None:
        """As the null backend does."""


class Slow(Drawer):
    """Its first two readers meet inside, if nothing keeps the second one out."""

    def __init__(self) -> None:
        super().__init__()
        self.meeting = threading.Barrier(2)

    def get_password(self, service: str, username: str) -> str | None:
        found = super().get_password(service, username)
        with suppress(threading.BrokenBarrierError):
            self.meeting.wait(0.5)
        return found


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MIDCALL_KEYS", raising=False)


@pytest.fixture(autouse=True)
def no_keyring() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(fail.Keyring())
    yield
    keyring.set_keyring(before)


# --- which keys ------------------------------------------------------------------------------
def test_keys_that_are_given_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDCALL_KEYS", LONG + "2")
    assert find_keys([LONG], directory=tmp_path) == [LONG]


def test_keys_in_the_environment_are_separated_by_commas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDCALL_KEYS", f" {LONG}1 ,{LONG}2,, ")
    assert find_keys(directory=tmp_path) == [LONG + "1", LONG + "2"]
    assert list(tmp_path.iterdir()) == []


def test_several_machines_need_a_key_that_is_set(tmp_path: Path) -> None:
    with pytest.raises(InstallError, match="Set the same MIDCALL_KEYS wherever this server runs"):
        find_keys(shared=True, directory=tmp_path)
    assert find_keys([LONG], shared=True, directory=tmp_path) == [LONG]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ([], r"no key .*.*token_hex"),
        (["short"], r"Key 1 .* 5 bytes, .* at least 32.*.*token_hex"),
        ([LONG, b"tiny"], r"Key 2 .* 4 bytes"),
        ([LONG, 7], "Key 2 .* neither text nor bytes"),
    ],
)
def test_invalid_keys_are_rejected_without_being_shown(keys: list[str], said: str) -> None:
    with pytest.raises(InstallError, match=said) as caught:
        derive(keys, "vault")
    assert "short" not in str(caught.value).replace("too short", "")
    assert "tiny" not in str(caught.value)


WEAK = [
    "k" * 32,
    b"\0" * 64,
    "ab" * 16,
    "secret-key-" * 4,
    "0123456789abcdef" * 2,
    "1111111111111111222222222222222233333333",
]
ENTRANCES: dict[str, Callable[[Any], object]] = {
    "install": lambda key: midcall.install(MCPServer("t"), keys=key),
    "install, several": lambda key: midcall.install(MCPServer("t"), keys=[LONG, key]),
    "install with a portal": lambda key: midcall.install(MCPServer("t"), keys=[key], store=Memory(), portal=Portal()),
    "portal": lambda key: Portal().bind(
        store=Memory(), identity=ServerIdentity("t"), server_name="t", keys=[LONG, key]
    ),
    "vault": lambda key: Vault(Memory(), [key], ""),
    "callbacks": lambda key: Callbacks(key),
    "commands": lambda key: find_keys([key]),
}


@pytest.mark.parametrize("key", [*WEAK, "too short"], ids=repr)
@pytest.mark.parametrize("entrance", ENTRANCES)
def test_a_key_that_is_easy_to_guess_is_refused_wherever_keys_enter(entrance: str, key: str | bytes) -> None:
    with pytest.raises(InstallError, match=r"Key \d .*(easy to guess|at least 32).*secrets\.token_hex\(32\)") as caught:
        ENTRANCES[entrance](key)
    assert str(key) not in str(caught.value)


@pytest.mark.parametrize("key", [key for key in WEAK if isinstance(key, str)])
def test_an_operators_key_that_is_easy_to_guess_is_refused(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("MIDCALL_KEYS", f"{LONG},{key}")
    with pytest.raises(InstallError, match=r"Key 2 .*easy to guess"):
        midcall.install(MCPServer("t"))


def test_random_keys_are_never_refused() -> None:
    for _ in range(2000):
        assert check_keys([secrets.token_hex(32), secrets.token_hex(16), secrets.token_bytes(32)])


# --- what is made of them --------------------------------------------------------------------
def test_each_purpose_and_each_key_derives_different_keys() -> None:
    keys = [LONG + "1", LONG.encode() + b"2"]
    every = [*derive(keys, "vault"), *derive(keys, "cookies")]
    assert len(set(every)) == 4
    assert {len(each) for each in every} == {32}
    assert derive(keys, "vault") == every[:2]
    assert not [each for each in every if each in keys[1] or keys[1] in each]


# --- a machine without a keyring -------------------------------------------------------------
def test_without_a_keyring_a_new_key_is_stored_in_a_file(tmp_path: Path) -> None:
    directory = tmp_path / "new" / "midcall"
    [key] = find_keys(directory=directory)
    assert len(key) == 64
    assert find_keys(directory=directory) == [key]
    assert key in (directory / "midcall.key").read_text()


@POSIX
def test_the_key_file_and_its_directory_are_for_this_user_alone(tmp_path: Path) -> None:
    directory = tmp_path / "midcall"
    find_keys(directory=directory)
    assert directory.stat().st_mode & 0o777 == 0o700
    assert (directory / "midcall.key").stat().st_mode & 0o777 == 0o600


@POSIX
def test_a_key_file_that_others_can_read_is_rejected(tmp_path: Path) -> None:
    find_keys(directory=tmp_path)
    (tmp_path / "midcall.key").chmod(0o640)
    with pytest.raises(InstallError, match="chmod 600"):
        find_keys(directory=tmp_path)


@pytest.mark.parametrize("content", [b"", b"half a key", b"\xff\xfe"])
def test_a_damaged_key_file_is_an_error_and_never_replaced(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "midcall.key"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(InstallError, match=r"does not contain a key.* Do not delete it"):
        find_keys(directory=tmp_path)
    assert path.read_bytes() == content


def test_if_the_key_file_cannot_be_created_the_error_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "a file").write_text("in the way")
    with pytest.raises(InstallError, match=r"midcall\.key cannot be used: .* MIDCALL_KEYS"):
        find_keys(directory=tmp_path / "a file" / "midcall")


def test_processes_that_start_at_once_agree_on_one_key(tmp_path: Path) -> None:
    code = "import sys, pathlib; from midcall.stores.keys import load_machine_keys as keys\n"
    code += "print(keys(pathlib.Path(sys.argv[1]))[0])"
    alone = environment(PYTHON_KEYRING_BACKEND="keyring.backends.fail.Keyring")
    started = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True, env=alone)
        for _ in range(4)
    ]
    said = {process.communicate(timeout=60)[0].strip() for process in started}
    assert len(said) == 1
    assert len(said.pop()) == 64


# --- a machine with a keyring ----------------------------------------------------------------
def test_on_a_desktop_a_new_key_is_stored_only_in_the_keyring(tmp_path: Path) -> None:
    keyring.set_keyring(drawer := Drawer())
    [key] = find_keys(directory=tmp_path)
    assert list(drawer.kept.values()) == [key]
    assert find_keys(directory=tmp_path) == [key]
    assert not (tmp_path / "midcall.key").exists()


def test_of_two_processes_that_find_an_empty_keyring_one_makes_the_key(tmp_path: Path) -> None:
    keyring.set_keyring(Slow())
    with ThreadPoolExecutor(2) as both:
        first, second = both.map(load_machine_keys, [tmp_path, tmp_path])
    assert first == second


def test_a_locked_keyring_is_an_error_and_makes_no_new_key(tmp_path: Path) -> None:
    keyring.set_keyring(Locked())
    with pytest.raises(InstallError, match=r"Unlock it .* or set MIDCALL_KEYS"):
        find_keys(directory=tmp_path)
    assert not (tmp_path / "midcall.key").exists()


@pytest.mark.parametrize("backend", [Full, Forgetful])
def test_a_keyring_that_stores_nothing_falls_back_to_the_file(tmp_path: Path, backend: type[Drawer]) -> None:
    keyring.set_keyring(backend())
    assert find_keys(directory=tmp_path) == find_keys(directory=tmp_path)
    assert (tmp_path / "midcall.key").exists()


def test_a_value_sealed_at_the_desktop_opens_over_ssh_if_there_is_a_file(tmp_path: Path) -> None:
    keyring.set_keyring(drawer := Drawer())
    at_the_desk = load_machine_keys(tmp_path)
    keyring.set_keyring(fail.Keyring())
    over_ssh = load_machine_keys(tmp_path)
    keyring.set_keyring(drawer)
    assert load_machine_keys(tmp_path) == [*over_ssh, *at_the_desk], "seals with what both have, opens with either"
