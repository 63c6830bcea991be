from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager

import pytest

from midcall.cli import ERAS
from midcall.cli.demo.games import GAMES, Result
from midcall.cli.demo.scenes import Scene
from tests.cli.shell import SECONDS, Screen, here, midcall, screen
from tests.client.terminal.test_tmux import QUICKEST, Pane
from tests.client.terminal.test_tmux import pytestmark as needs_tmux

pytest.importorskip("pty", reason="pseudo-terminals need a POSIX system")

DEMO = [sys.executable, "-m", "midcall", "demo"]


def demo_at(*args: str, **env: str) -> AbstractContextManager[Screen]:
    """The demo in a terminal that is too small for forms, and has no colours."""
    return screen("demo", *args, **{"NO_COLOR": "1", **env})


# --- from a script ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def transcript() -> str:
    demo = midcall("demo", warm=False)
    assert (demo.returncode, demo.stderr) == (0, "")
    return demo.stdout


@pytest.mark.parametrize("era", ERAS)
def test_without_a_terminal_the_demo_plays_everything_from_a_script(transcript: str, era: str) -> None:
    first, last = ("round 1", "round 4") if era == "2026-07-28" else ("push", "push")
    assert f"[{era} · {first}] Game corner asks: Do you want to play a game?  -> yes" in transcript
    assert f"[{era} · {last}] Fjord Travel asks: Book 4 days in Oslo for 582.00 euros?  -> yes" in transcript
    assert transcript.count("=> You found it with guess 3: it was 7.") == len(ERAS)
    assert transcript.count("=> The user declined to answer") == len(ERAS)
    assert "Every scene ended as expected." in transcript


def test_the_channel_is_never_another_than_the_version_has(transcript: str) -> None:
    shown = set(re.findall(r"^  \[(\S+) · (push|round) ?\d*\]", transcript, re.MULTILINE))
    assert shown == {("2025-06-18", "push"), ("2025-11-25", "push"), ("2026-07-28", "round")}


def test_the_tool_runs_once_on_every_version_and_so_does_its_effect(transcript: str) -> None:
    assert "The tool ran once, with 5 questions pushed. The card was charged once." in transcript
    assert "The tool ran once, in 4 rounds. The card was charged once." in transcript
    assert transcript.count("[2026-07-28 · round 1] Fjord Travel asks") == 2 + 2  # two forms a round, two scenes


def test_the_transcript_is_plain_text(transcript: str) -> None:
    assert not [char for char in transcript if char != "\n" and not char.isprintable()]
    assert max(map(len, transcript.splitlines())) <= 110


def test_one_game_on_one_version_can_be_picked() -> None:
    shown = here("demo", "guess", "--era", "2025-11-25", "--scripted").stdout
    assert "Game corner" in shown
    assert "Fjord Travel" not in shown
    assert "2026-07-28" not in shown


def test_the_demo_works_in_an_ascii_terminal() -> None:
    demo = midcall("demo", "guess", warm=False, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert demo.returncode == 0
    assert "[2026-07-28 ? round 2]" in demo.stdout


def test_a_closed_pipe_is_not_a_failure() -> None:
    with subprocess.Popen(DEMO, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as demo:
        assert demo.stdout is not None
        assert demo.stderr is not None
        demo.stdout.readline()
        demo.stdout.close()
        assert demo.stderr.read() == b""
        assert demo.wait(SECONDS) == 0


def test_a_closed_standard_input_is_not_a_terminal() -> None:
    closed = ["sh", "-c", 'exec "$@" <&-', "sh", *DEMO, "guess"]
    demo = subprocess.run(closed, capture_output=True, text=True, timeout=SECONDS)
    assert (demo.returncode, demo.stderr) == (0, "")
    assert "Every scene ended as expected." in demo.stdout


@pytest.mark.parametrize(("result", "fails"), [("It was 3.", False), ("You found it", True)])
def test_a_scene_with_another_result_or_another_end_has_not_passed(result: str, fails: bool) -> None:
    scene = Scene(title="Guess", game="guess", types={}, returns="You found it")
    assert scene.ends_with(Result("You found it", failed=False))
    assert not scene.ends_with(Result(result, failed=fails))


# --- the command line ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args", [(), ("dmeo",), ("demo", "chess"), ("demo", "--era", "2024-11-05"), ("demo", "--fast")]
)
def test_bad_usage_is_reported_in_a_line_and_exits_with_2(args: tuple[str, ...]) -> None:
    result = midcall(*args)
    assert result.returncode == 2
    assert result.stdout == ""
    assert re.search(r"^midcall.*: error: ", result.stderr.splitlines()[-1])


def test_help_is_there_at_once() -> None:
    program = (
        "import sys; from midcall.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "assert not {'mcp', 'pydantic', 'anyio', 'asyncio', 'starlette'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=SECONDS, stdout=subprocess.DEVNULL)


def test_the_games_of_the_command_line_are_those_that_there_are() -> None:
    from midcall import cli, testing

    assert tuple(GAMES) == cli.GAMES
    assert cli.ERAS == testing.ERAS


# --- at a terminal that can show forms -------------------------------------------------------


@pytest.fixture
def pane(request: pytest.FixtureRequest) -> Iterator[Pane]:
    pane = Pane(f"midcall-demo-{os.getpid()}-{abs(hash(request.node.nodeid))}", (100, 40))
    yield pane
    pane.end()


def play(pane: Pane, *arguments: str, **env: str) -> None:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "LC_ALL") if name in os.environ}
    settings = {**kept, "TERM": "xterm-256color", "PYTHONUTF8": "1", **env}
    pane.run(sys.executable, "-m", "midcall", "demo", *arguments, env=settings)


@needs_tmux
@pytest.mark.parametrize(
    ("era", "way", "shown"), [("2025-11-25", "push", "pushed"), ("2026-07-28", "round 1", "in a round")]
)
def test_in_a_capable_terminal_questions_are_forms_that_say_how_they_came(
    pane: Pane, era: str, way: str, shown: str
) -> None:
    play(pane, "guess", "--era", era)
    pane.see("Game corner asks", f"MCP {era} · {shown}", "Do you want to play a game?", "Decline ^D", "Cancel Esc")
    pane.press("n")
    screen = pane.agree("✓ Game corner: Sent.", "✓ The tool returned", "Maybe next time!")
    assert f"[{era} · {way}] Game corner asks: Do you want to play a game?" in screen


@needs_tmux
def test_the_menu_the_forms_and_the_menu_again_share_one_terminal(pane: Pane) -> None:
    play(pane)
    pane.see("What do you want to play?")
    pane.press("2", "Enter")
    pane.see("On which protocol version?")
    pane.press("Enter")
    pane.see("1 of 2", "Who is travelling?")
    time.sleep(2 * QUICKEST)
    pane.press(*"Ada", "Tab", *"ada@example.com", "C-s")  # in one burst
    pane.see("2 of 2", "Tell me about your trip to Oslo.")
    pane.press("Escape")
    screen = pane.see("Your answers to 2 questions", "Nothing has been sent yet.", "cancelled")
    assert "ada@example.com" in screen
    pane.agree("✗ Fjord Travel: Cancelled", "The tool returned", "Once more?")
    assert pane.ask("#{cursor_flag} #{alternate_on} #{mouse_any_flag}") == "1 0 0"


# --- at one that cannot, or is not wanted to --------------------------------------------------


def test_at_a_terminal_without_their_package_it_says_what_line_prompts_need() -> None:
    program = "import sys; sys.modules['rich'] = None; from midcall.cli import main; sys.exit(main())"
    with screen("demo", program=("-c", program), warm=False) as shown:
        shown.sees('midcall demo: error: Line prompts need Rich, which is not installed: pip install "midcall[')
        assert shown.exit_code() == 2
    assert "Traceback" not in shown.text


def test_at_a_terminal_the_game_is_played_by_hand() -> None:
    with demo_at() as demo:
        demo.sees("What do you want to play?")
        demo.type("7")
        demo.sees("✗ Type a number from 1 to 2.")
        demo.type("")
        demo.sees("On which protocol version?")
        demo.type("")
        demo.sees("╭─ Game corner asks  2026-07-28 · round 1")
        demo.type("YES", "")
        low, high, rounds = 1, 10, 1
        while rounds < 6:
            rounds += 1
            guess = (low + high) // 2
            demo.type("eleven")
            demo.sees("✗ Your guess must be a whole number.")
            demo.type(str(guess), "")
            match demo.sees("is too low", "is too high", "You found it"):  # shown with the next question
                case "is too low":
                    low = guess + 1
                case "is too high":
                    high = guess - 1
                case _:
                    break
        demo.sees(f"The tool ran once, in {rounds} rounds. The number was drawn once.")
        demo.sees("Once more?")
        demo.type("no")
        assert demo.exit_code() == 0
        assert f"╭─ Game corner asks  2026-07-28 · round {rounds}" in demo.text
        assert "\x1b" not in demo.text


@pytest.mark.parametrize("era", ERAS)
def test_a_trip_is_booked_by_hand_on_every_version(era: str) -> None:
    with demo_at("trip", "--era", era) as demo:
        demo.sees(f"╭─ Fjord Travel asks  {era} · {'round 1' if era == '2026-07-28' else 'push'}")
        demo.type("Ada", "ada@example.com", "")
        if era != "2026-07-28":  # pushed one by one; a round is reviewed as a whole
            demo.type("")
        demo.type("2026-08-01", "4", "120.50", "full board" if era == "2025-06-18" else "3", "bag, skis", "", "")
        demo.type("aisle", "2", "")
        demo.type("ins", "")
        demo.sees("Book 4 days in Oslo")
        demo.type("y", "")
        demo.sees("Booked for Ada: Oslo from 2026-08-01, 4 days, full board.")
        demo.sees("The card was charged once.")
        assert demo.exit_code() == 0


def test_declining_and_cancelling_end_the_tool_politely() -> None:
    with demo_at("trip", "--era", "2025-11-25") as demo:
        demo.type(":decline")
        demo.sees("The user declined to answer")
        assert demo.exit_code() == 0
    with demo_at("guess", "--era", "2026-07-28") as demo:
        demo.type("yes", "")
        demo.press("\x03", prompt="> ")
        demo.sees("✗ Cancelled: nothing was sent.")
        demo.sees("You gave up.")
        assert demo.exit_code() == 0


@pytest.mark.parametrize(("key", "code"), [("\x03", 130), ("\x04", 0), ("q\n", 0)])
def test_the_menu_can_be_left(key: str, code: int) -> None:
    with demo_at() as demo:
        demo.press(key, prompt="> ")
        assert demo.exit_code() == code
        assert "Traceback" not in demo.text


def test_colours_are_for_terminals_that_want_them() -> None:
    with demo_at("guess", "--era", "2025-06-18", NO_COLOR="") as demo:
        demo.sees("\x1b[1mYes, do it\x1b[0m")
        demo.press(":cancel\n", prompt="\x1b[36m>\x1b[0m ")
        assert demo.exit_code() == 0


def test_scripted_plays_from_the_script_even_at_a_terminal() -> None:
    with demo_at("guess", "--scripted") as demo:
        assert demo.exit_code() == 0
        assert "Every scene ended as expected." in demo.text
