from __future__ import annotations

import asyncio
import os
import queue
import select
import signal
import subprocess
import sys
import threading

import pytest

from midcall.client.lines.keyboard import Keyboard


class Typist:
    """A reader that gets its lines from the test, and signals when it is waiting for one."""

    def __init__(self) -> None:
        self.waiting = threading.Semaphore(0)
        self._lines: queue.SimpleQueue[str | BaseException] = queue.SimpleQueue()

    def type(self, line: str | BaseException) -> None:
        self._lines.put(line)

    def read(self) -> str:
        self.waiting.release()
        line = self._lines.get(timeout=20)
        if isinstance(line, BaseException):
            raise line
        return line

    async def reads(self) -> None:
        """Wait until the reader waits for a line."""
        assert await asyncio.to_thread(self.waiting.acquire, timeout=20)


async def test_lines_come_in_the_order_in_which_they_are_typed() -> None:
    typist = Typist()
    keyboard = Keyboard(typist.read)
    for line in ("one", "two"):
        typist.type(line)
    assert [await keyboard.line(), await keyboard.line()] == ["one", "two"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
async def test_a_terminal_is_read_only_when_a_line_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """With newer versions of glibc, a program cannot exit while a thread is reading from the terminal."""
    ours, its = os.openpty()
    with os.fdopen(its, "r") as terminal, os.fdopen(ours, "wb", buffering=0) as typist:
        reading = threading.Event()

        def read() -> str:
            reading.set()
            return terminal.readline().rstrip("\n")

        monkeypatch.setattr("builtins.input", read)
        monkeypatch.setattr(sys, "stdin", terminal)
        line = asyncio.create_task(Keyboard().line())
        while not (reading.is_set() or "_read_line" in {at.f_code.co_name for at in sys._current_frames().values()}):
            await asyncio.sleep(0)
        assert not reading.is_set()
        typist.write(b"yes\n")
        assert await line == "yes"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
async def test_what_was_typed_before_a_prompt_can_be_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, its = os.openpty()
    with os.fdopen(its, "r") as terminal, os.fdopen(ours, "wb", buffering=0) as typist:
        monkeypatch.setattr("builtins.input", lambda: terminal.readline().rstrip("\n"))
        monkeypatch.setattr(sys, "stdin", terminal)
        typist.write(b"yes\nye")
        select.select([terminal], [], [])
        keyboard = Keyboard()
        keyboard.forget_typed()
        line = asyncio.create_task(keyboard.line())
        typist.write(b"no\n")
        assert await line == "no"


@pytest.mark.parametrize("is_finished", [False, True], ids=["still read", "finished in between"])
async def test_lines_soon_after_a_prompt_replaced_another_one_are_marked(is_finished: bool) -> None:
    typist = Typist()
    keyboard = Keyboard(typist.read)
    keyboard.quickest = 1_000
    first = asyncio.create_task(keyboard.line())
    await typist.reads()
    first.cancel()
    await asyncio.wait([first])
    if is_finished:
        typist.type("for the first")
        await asyncio.to_thread(reader().join, 20)
    second = asyncio.create_task(keyboard.line())
    await asyncio.sleep(0)
    typist.type("yes")
    assert (await second, keyboard.hasty) == ("yes", True)
    typist.type("yes")
    assert (await keyboard.line(), keyboard.hasty) == ("yes", True)
    keyboard.quickest = 0
    typist.type("no")
    assert (await keyboard.line(), keyboard.hasty) == ("no", False)


async def test_lines_at_prompts_that_follow_each_other_are_not_marked() -> None:
    typist = Typist()
    keyboard = Keyboard(typist.read)
    keyboard.quickest = 1_000
    for line in ("one", "two"):
        typist.type(line)
        assert (await keyboard.line(), keyboard.hasty) == (line, False)


def reader() -> threading.Thread:
    return next(thread for thread in threading.enumerate() if thread.name == "midcall keyboard")


async def test_the_event_loop_lives_on_while_a_line_is_awaited() -> None:
    typist = Typist()
    line = asyncio.create_task(Keyboard(typist.read).line())
    await typist.reads()
    for _ in range(100):
        await asyncio.sleep(0)
    assert not line.done()
    typist.type("at last")
    assert await line == "at last"


@pytest.mark.parametrize("end", [EOFError(), OSError("hung up"), ValueError("closed"), KeyboardInterrupt()])
async def test_the_end_of_the_input_is_not_a_line(end: BaseException) -> None:
    typist = Typist()
    typist.type(end)
    assert await Keyboard(typist.read).line() is None


async def test_bytes_that_are_not_text_do_not_end_the_input() -> None:
    typist = Typist()
    typist.type(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid"))
    assert await Keyboard(typist.read).line() == "\ufffd"


async def test_ctrl_c_ends_the_wait_and_not_the_program() -> None:
    typist, before = Typist(), signal.getsignal(signal.SIGINT)
    line = asyncio.create_task(Keyboard(typist.read).line())
    await typist.reads()
    os.kill(os.getpid(), signal.SIGINT)
    assert await asyncio.wait_for(line, 20) is None
    assert signal.getsignal(signal.SIGINT) is before
    typist.type("too late")


async def test_a_read_that_was_abandoned_does_not_swallow_the_next_line() -> None:
    typist = Typist()
    keyboard = Keyboard(typist.read)
    abandoned = asyncio.create_task(keyboard.line())
    await typist.reads()
    abandoned.cancel()
    with pytest.raises(asyncio.CancelledError):
        await abandoned
    line = asyncio.create_task(keyboard.line())
    await asyncio.sleep(0)
    typist.type("for the second")
    assert await line == "for the second"


async def test_a_line_for_a_prompt_that_is_gone_is_not_taken_for_the_next() -> None:
    typist = Typist()
    keyboard = Keyboard(typist.read)
    abandoned = asyncio.create_task(keyboard.line())
    await typist.reads()
    abandoned.cancel()
    typist.type("for the first")
    typist.type("for the second")
    await asyncio.to_thread(reader().join, 20)
    assert await keyboard.line() == "for the second"


def test_a_program_can_end_while_the_keyboard_still_reads() -> None:
    program = """
import asyncio, threading
from midcall.client.lines.keyboard import Keyboard
reading = threading.Event()
def read():
    reading.set()
    threading.Event().wait()
async def main():
    task = asyncio.create_task(Keyboard(read).line())
    await asyncio.to_thread(reading.wait)
asyncio.run(main())
"""
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True, timeout=30)
