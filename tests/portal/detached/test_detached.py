"""Pages that outlive their stdio server: a process of the same user serves them."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import stat
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import parse_qs, urljoin, urlsplit

import httpx2
import pytest
from starlette.requests import Request

from midcall.portal import FromCallable, Portal
from midcall.portal.detached.files import Folder, Life, read_life, write_life
from tests.portal.detached.stdio_hosts import Home, address_in, code_in, host, press
from tests.portal.sites import controls_of
from tests.web.other_user import ASK, another_user, linux, root

pytestmark = linux


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Home]:
    at = Home(tmp_path)
    yield at
    await at.end()


@pytest.fixture
async def open_home() -> AsyncIterator[Home]:
    """In a folder whose parents others may enter."""
    with TemporaryDirectory(dir="/tmp") as path:
        at = Home(Path(path))
        yield at
        at.folder.path.chmod(0o700)
        await at.end()


async def test_a_link_outlives_its_server_and_another_one_continues_with_the_answer(home: Home) -> None:
    async with host(home) as one:
        told = await one.call("book")
    assert (await press(address_in(told), fields={"f0": "3"})).status_code == 200
    async with host(home) as two:
        told = await two.call("midcall_continue", code=code_in(told))
    assert "Where do you like to sit?" in told
    assert (await press(address_in(told), fields={"f0": "window"})).status_code == 200
    async with host(home) as three:
        assert await three.call("midcall_continue", code=code_in(told)) == "3 days, window"
    assert home.counted == ["begun"], "the call was replayed from its journal"


async def test_with_a_server_for_every_call_an_approval_counts(home: Home) -> None:
    async with host(home, kill=True) as one:
        told = await one.call("pay", euros=5)
    done = await press(address_in(told))
    assert "Approved" in done.text
    async with host(home, kill=True) as two:
        assert await two.call("midcall_continue", code=code_in(told)) == "paid"


async def test_servers_that_start_at_once_share_one_process(tmp_path: Path, home: Home) -> None:
    other = Home(tmp_path, {"NAME": "Payments"})
    async with host(home) as one, host(home) as two, host(other) as three:
        tools = [each.call("pay", euros=n) for n, each in enumerate((one, two, three))]
        places = [address_in(told).rpartition("/i/")[0] for told in await asyncio.gather(*tools)]
        await home.running()
    assert places[0] == places[1], "one server, in two processes"
    ports = {place.rsplit("/", 1)[0] for place in places}
    assert len(ports) == 1
    assert len(set(places)) == 2, "servers don't share pages"
    log = (home.folder.path / "pages.log").read_text()
    assert log.count("the page process serves open pages") == 1


async def test_after_it_is_killed_the_next_link_starts_another_at_the_same_address(home: Home) -> None:
    async with host(home) as server:
        first = address_in(await server.call("pay", euros=5))
        os.kill(await home.running(), signal.SIGKILL)
        await home.ended()
        second = address_in(await server.call("pay", euros=6))
        assert first.rpartition("/i/")[0] == second.rpartition("/i/")[0]
        assert (await press(first)).status_code == 200
        assert (await press(second)).status_code == 200


@pytest.mark.parametrize(
    "left",
    [
        b"\xff\x00",
        b"[" * 1_000,
        b"{}",
        b"[]",
        b"null",
        b'{"port": 70000, "mark": "a", "pid": 0}',
        b'{"port": -1, "mark": "a", "pid": 0}',
        b'{"port": Infinity, "mark": "a", "pid": 0}',
        b'{"port": 0, "mark": "a", "pid": 1e999}',
        b'{"port": null, "mark": "a", "pid": 0}',
        b'{"port": 9' + b"9" * 5_000,
    ],
)
def test_a_damaged_file_about_the_process_says_nothing(tmp_path: Path, left: bytes) -> None:
    folder = Folder(tmp_path)
    life = folder.open_life()
    try:
        os.write(life, left)
        assert read_life(life) == Life()
    finally:
        os.close(life)


def test_who_reads_while_the_process_writes_where_it_listens_finds_the_old_or_the_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, seen = Folder(tmp_path), set[Life]()
    before, after = Life(50_000, "a" * 16), Life(50_000, "a", 1)
    mine, theirs = folder.open_life(), folder.open_life()
    try:
        write_life(mine, before)
        for name in ("pwrite", "write", "ftruncate"):
            real = getattr(os, name)
            monkeypatch.setattr(os, name, lambda *given, real=real: (real(*given), seen.add(read_life(theirs)))[0])
        write_life(mine, after)
        assert seen <= {before, after}
        assert read_life(theirs) == after
    finally:
        os.close(mine)
        os.close(theirs)


async def test_a_damaged_file_about_the_process_keeps_no_page_from_its_user(home: Home) -> None:
    folder = home.folder
    folder.path.mkdir(mode=0o700, parents=True)
    (folder.path / f"{folder.name}.lock").write_text('{"port": 70000}')
    async with host(home) as server:
        told = await server.call("pay", euros=5)
        assert (await press(address_in(told))).status_code == 200


async def test_if_nothing_says_where_the_process_listens_the_server_serves_its_own_pages(home: Home) -> None:
    async with host(home) as server:
        await server.call("pay", euros=5)
        await home.running()
        life = home.folder.path / f"{home.folder.name}.lock"
        said = life.read_text()
        life.write_text("")
        try:
            address = address_in(await server.call("pay", euros=6))
        finally:
            life.write_text(said)
        assert urlsplit(address).port
        assert (await press(address)).status_code == 200


@pytest.mark.parametrize("tool", ["book", "pay"])
async def test_an_address_that_nobody_serves_any_more_is_replaced_at_once(home: Home, tool: str) -> None:
    given = {"euros": 5} if tool == "pay" else {}
    async with host(home) as one:
        told = await one.call(tool, **given)
    first = address_in(told)
    os.kill(await home.running(), signal.SIGKILL)
    await home.ended()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", urlsplit(first).port or 0))
        taken.listen()
        async with host(home) as two, asyncio.timeout(20):
            told = await two.call("midcall_continue", code=code_in(told))
        assert address_in(told) != first
        assert (await press(address_in(told), fields={"f0": "3"})).status_code == 200
        async with host(home) as three:
            after = await three.call("midcall_continue", code=code_in(told))
        assert ("Where do you like to sit?" if tool == "book" else "paid") in after


async def test_it_ends_when_nothing_is_open(home: Home) -> None:
    async with host(home) as server:
        told = await server.call("pay", euros=5)
        pid = await home.running()
        assert (await press(address_in(told))).status_code == 200
        await home.ended()
        with pytest.raises(ProcessLookupError):
            await asyncio.to_thread(wait_for, pid)
        assert await server.call("midcall_continue", code=code_in(told)) == "paid"


def wait_for(pid: int) -> None:
    while True:
        os.kill(pid, 0)
        time.sleep(0.05)


async def test_it_ends_when_its_store_is_gone(home: Home) -> None:
    async with host(home) as server:
        await server.call("pay", euros=5)
        await home.running()
    for file in (home.path / "midcall").glob("midcall.db*"):
        file.unlink()
    await home.ended()


async def test_it_has_nothing_of_its_server_but_what_pages_need(home: Home) -> None:
    key = "a key of the tests that nobody else reads: 0123456789"
    home.more["MIDCALL_KEYS"] = key
    async with host(home) as server:
        await server.call("pay", euros=5)
        about = Path(f"/proc/{await home.running()}")
        group = os.getsid(server.process.pid)
        assert os.getsid(int(about.name)) not in (group, os.getsid(0))
        assert (about / "cwd").readlink() == Path("/")
        open_files = {each.name: os.readlink(each) for each in (about / "fd").iterdir()}
        assert (open_files["0"], open_files["1"]) == ("/dev/null", "/dev/null")
        assert not [each for each in open_files.values() if each.startswith("pipe:")]
        for each in ("environ", "cmdline"):
            assert key.encode() not in (about / each).read_bytes()
        assert b"MIDCALL" not in (about / "environ").read_bytes()
    for path in (home.folder.path, *home.folder.path.iterdir()):
        about_it = path.lstat()
        assert not about_it.st_mode & 0o077, path
        assert stat.S_ISSOCK(about_it.st_mode) or path.is_dir() or key not in path.read_text()


async def test_it_answers_only_to_its_own_host_and_its_own_pages(home: Home) -> None:
    async with host(home) as server:
        address = address_in(await server.call("pay", euros=5))
    async with httpx2.AsyncClient() as stranger:
        assert (await stranger.get(address, headers={"host": "evil.example"})).status_code == 421
        site = address.rpartition("/i/")[0]
        assert (await stranger.get(f"{site.rpartition('/')[0]}/nosuchsite/i/x")).status_code == 404
        assert (await stranger.get(address, headers={"x-forwarded-for": "203.0.113.5"})).status_code == 403
        given = {"do": "accept"}
        assert (await stranger.post(address, data=given, headers={"origin": "https://evil.example"})).status_code == 403
    assert (await press(address)).status_code == 200


@pytest.mark.parametrize("line", ["OPTIONS *", "GET nowhere", "CONNECT example.com:443", "GET ?x", "GET //"])
async def test_a_request_without_a_path_finds_no_page_and_fails_nowhere(home: Home, line: str) -> None:
    async with host(home) as server:
        address = address_in(await server.call("pay", euros=5))
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(address).port)
    writer.write(f"{line} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
    async with asyncio.timeout(20):
        answer = await reader.read()
    writer.close()
    assert answer.startswith(b"HTTP/1.1 404 ")
    assert b"content-security-policy: default-src 'none'" in answer
    assert "Traceback" not in (home.folder.path / "pages.log").read_text()


@root
async def test_another_user_of_this_machine_reaches_neither_its_pages_nor_its_socket(open_home: Home) -> None:
    home = open_home
    async with host(home) as server:
        address = address_in(await server.call("pay", euros=5))
    await home.running()
    assert await another_user(ASK, address, "Pay 5") == "403 False"
    sock = home.folder.path / f"{home.folder.name}.sock"
    assert await another_user(KNOCK, str(sock)) == "PermissionError"
    sock.chmod(0o666)
    for each in (home.folder.path, home.path / "midcall", home.path):
        each.chmod(0o755)
    assert await another_user(KNOCK, str(sock)) == "closed"
    assert (await press(address)).status_code == 200


KNOCK = """
import os, socket, sys
os.setgroups([]); os.setgid(65534); os.setuid(65534)
with socket.socket(socket.AF_UNIX) as knocking:
    try:
        knocking.connect(sys.argv[1])
        knocking.sendall(b'{"stop": true}\\n')
        print("closed" if knocking.recv(1) == b"" else "heard")
    except ConnectionError:
        print("closed")
    except PermissionError as error:
        print(type(error).__name__)
"""


async def test_a_living_server_checks_secrets_while_the_user_is_on_the_page(home: Home) -> None:
    async with host(home) as server:
        told = await server.call("repositories")
        wrong = await press(address_in(told), fields={"s0": "wrong"})
        assert wrong.status_code == 422
        assert "was not accepted" in wrong.text
        assert (await press(address_in(told), fields={"s0": "right"})).status_code == 200
        assert await server.call("midcall_continue", code=code_in(told)) == "a token of 5"
    assert home.counted == ["checked", "checked"]


async def test_a_secret_is_checked_when_its_call_continues_if_its_server_has_ended(home: Home) -> None:
    async with host(home) as one:
        told = await one.call("repositories")
    assert (await press(address_in(told), fields={"s0": "wrong"})).status_code == 200
    async with host(home) as two:
        told = await two.call("midcall_continue", code=code_in(told))
        assert "A token, please" in told
    assert (await press(address_in(told), fields={"s0": "right"})).status_code == 200
    async with host(home) as three:
        assert await three.call("midcall_continue", code=code_in(told)) == "a token of 5"


async def test_the_address_is_named_again(home: Home) -> None:
    home.more |= {"SHORT": "0.5", "MIDCALL_HEARTBEAT": "0.1"}
    async with host(home) as server:
        told = await server.call("pay", euros=5)
        address = address_in(told)
        again = await server.call("midcall_continue", code=code_in(told))
        assert "has not finished on the web page yet" in again
        assert address_in(again) == address
    progress = [each["params"]["message"] for each in server.seen if each["method"] == "notifications/progress"]
    assert progress
    assert all(address in message for message in progress)


async def test_a_wait_that_its_client_cancels_uses_up_neither_the_page_nor_the_code(home: Home) -> None:
    home.more["MIDCALL_HEARTBEAT"] = "0.1"
    async with host(home) as server:
        told = await server.call("pay", euros=5)
        address = address_in(told)
        async with httpx2.AsyncClient() as browser:
            page = await browser.get(address)
            given = {**dict(controls_of(page.text)), "do": "accept"}
            arguments = {"code": code_in(told)}
            params = {"name": "midcall_continue", "arguments": arguments, "_meta": {"progressToken": "held"}}
            await server.send("tools/call", params, id="held")
            await server.notified("notifications/progress")
            await server.send("notifications/cancelled", {"requestId": "held"})
            origin = "/".join(address.split("/")[:3])
            assert (await browser.post(address, data=given, headers={"origin": origin})).status_code == 200
        assert await server.call("midcall_continue", **arguments) == "paid"


async def test_an_account_is_connected_at_the_address_of_its_server(home: Home) -> None:
    home.more["SHORT"] = "0.5"
    async with host(home) as server:
        told = await server.call("write")
        first = address_in(told)
        sent = await press(first, fields={"f0": "3"})
        [way] = re.findall(r'href="([^"]+/next)"', sent.text)
        async with httpx2.AsyncClient(timeout=30) as browser:
            after = await browser.get(urljoin(first, way))
        assert after.status_code == 200
        assert "Go back to" in after.text
        told = await server.call("midcall_continue", code=code_in(told))
        second = address_in(told)
        assert urlsplit(second).port != urlsplit(first).port
        leaving = await press(second)
        assert leaving.status_code == 303
        [at] = parse_qs(urlsplit(leaving.headers["location"]).query)["redirect_uri"]
        assert at == second.rpartition("/i/")[0] + "/callback/wiki"


async def test_it_can_be_turned_off(home: Home) -> None:
    home.more["MIDCALL_PORTAL_DETACHED"] = "0"
    async with host(home) as server:
        address = address_in(await server.call("pay", euros=5))
        assert (await press(address)).status_code == 200
    assert not home.folder.path.exists()
    with pytest.raises(httpx2.ConnectError):
        await press(address)


async def test_a_folder_that_others_may_enter_is_not_used(home: Home) -> None:
    home.folder.path.mkdir(parents=True)
    home.folder.path.chmod(0o755)
    async with host(home) as server:
        address = address_in(await server.call("pay", euros=5))
        assert (await press(address)).status_code == 200
    assert list(home.folder.path.iterdir()) == []
    assert "chmod 700" in (home.path / "stderr").read_text().replace("\n", "")


async def midcall(home: Home, *arguments: str) -> str:
    command = (sys.executable, "-m", "midcall", *arguments)
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, env=home.environment()
    )
    said, _ = await process.communicate()
    return f"{process.returncode} {said.decode()}"


async def test_a_command_shows_and_ends_it(home: Home) -> None:
    assert await midcall(home, "pages") == "0 No page process runs: no page of a stdio server is open.\n"
    assert await midcall(home, "pages", "--stop") == "0 No page process runs.\n"
    async with host(home) as server:
        address = address_in(await server.call("pay", euros=5))
        pid = await home.running()
        said = await midcall(home, "pages")
        assert said.startswith(f"0 Process {pid} serves open pages at 127.0.0.1:{urlsplit(address).port}.")
        assert (await midcall(home, "pages", "--stop")).startswith("0 Stopped.")
        await home.ended()
    home.folder.path.chmod(0o755)
    assert "chmod 700" in await midcall(home, "pages")
    home.folder.path.chmod(0o700)


async def test_a_signal_ends_it(home: Home) -> None:
    async with host(home) as server:
        await server.call("pay", euros=5)
        os.kill(await home.running(), signal.SIGTERM)
        await home.ended()


@pytest.mark.parametrize(
    ("portal", "why"),
    [
        (lambda: Portal("http://127.0.0.1:8000/x"), "its own address"),
        (lambda: Portal(port=8123), "its own host or port"),
        (lambda: Portal(detached=False), "turned off"),
        (lambda: Portal(audit=lambda event: None), "audit trail"),
        (lambda: Portal(identity=FromCallable(nobody)), "identity"),
    ],
)
def test_what_only_a_server_can_do_stays_in_the_server(
    portal: Callable[[], Portal], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MIDCALL_PORTAL_DETACHED")
    assert Portal().why_not_detached() is None
    assert why in (portal().why_not_detached() or "")


async def nobody(request: Request) -> str | None:
    return None
