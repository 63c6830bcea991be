"""Draw the README's picture: the demo in a real terminal, with scripted input.

python -m scripts.picture      # writes docs/images/demo.svg
"""

from __future__ import annotations

import os
import pty
import select
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs/images/demo.svg"
COLUMNS, ROWS = 92, 60
SECONDS = 30.0
PROMPT = "> "
TYPED = [
    "2026-02-30",
    "2026-08-01",
    "4",
    "120.5",
    "2",
    "1, skis",
    "",
    "",
]
FIRST = ["Ada Lovelace", "ada@example.com", "no"]

# Rich's own frame loads a remote font; this one loads nothing.
FRAME = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, monospace; font-size: {char_height}px;
  line-height: {line_height}px; font-variant-east-asian: full-width; }}
.{unique_id}-title {{ font-family: ui-sans-serif, system-ui, sans-serif; font-size: 16px; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def play(arguments: list[str], typed: list[str]) -> str:
    """The demo's output while these lines are typed."""
    pid, terminal = pty.fork()
    if pid == 0:
        environment = {
            **os.environ,
            "TERM": "xterm-256color",
            "COLUMNS": str(COLUMNS),
            "LINES": str(ROWS),
            "PYTHONUTF8": "1",
            "MIDCALL_PLAIN": "1",  # line prompts: scripts.terminal_picture draws a form
        }
        environment.pop("NO_COLOR", None)
        os.execve(sys.executable, [sys.executable, "-m", "midcall", *arguments], environment)
    shown, seen, until = "", 0, time.monotonic() + SECONDS
    lines = iter(typed)
    while time.monotonic() < until:
        ready, _, _ = select.select([terminal], [], [], 0.5)
        if ready:
            try:
                chunk = os.read(terminal, 65536)
            except OSError:
                break
            if not chunk:
                break
            shown += chunk.decode("utf-8", "replace")
        elif Text.from_ansi(shown[seen:]).plain.endswith(PROMPT):
            seen = len(shown)
            line = next(lines, None)
            os.write(terminal, b"\x04" if line is None else line.encode() + b"\n")
    os.close(terminal)
    os.waitpid(pid, 0)
    return shown.replace("\r\n", "\n")


def draw(screen: str, title: str) -> str:
    console = Console(record=True, width=COLUMNS, file=open(os.devnull, "w"), force_terminal=True)  # noqa: SIM115
    console.print(Text.from_ansi(screen.strip("\n")))
    return console.export_svg(title=title, code_format=FRAME, unique_id="midcall")


def main() -> None:
    screen = play(["demo", "trip", "--era", "2026-07-28"], FIRST + TYPED)
    begin = screen.find("Tell me about your trip")
    begin = screen.rfind("\n\n", 0, begin)
    end = screen.find("Sent.", begin)
    end = screen.find("\n", end) + 1
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(draw(screen[begin:end], "midcall demo trip --era 2026-07-28"))
    print(f"wrote {PICTURE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
