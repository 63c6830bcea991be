"""A model of the handover: every order in which three replicas can do their steps, and be hurt meanwhile.

It follows the table in `midcall.server.running.handover`, and each rule can be left out. One call asks `TURNS` times;
after each answer its run has an effect without `once`, and one with it. What a replica knows of a turn is what it has
read, which may be old by the time it acts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Final, Literal, NamedTuple, TypeAlias, TypeVar, get_args

__all__ = ["RULES", "Fault", "Rule", "check"]

TURNS: Final = 2
REPLICAS: Final = (0, 1, 2)
NOBODY: Final = -1
NAMES: Final = "ABC"

Rule: TypeAlias = Literal[
    "compare and set",
    "take over",
    "claim what the owner has not",
    "look with each beat",
    "end what went elsewhere",
    "claim once",
    "verify once",
    "verify after claiming",
    "read after a lost reply",
    "spare who beats",
    "give back what nobody continues",
    "owe what could not be given back",
    "continue what the state names",
]
RULES: Final[frozenset[Rule]] = frozenset(get_args(Rule))
Fault: TypeAlias = Literal["crash", "stop", "shut down", "evict", "copy", "lost bell", "lost reply", "drop", "outage"]

T = TypeVar("T")


class Turn(NamedTuple):
    """The record of a turn."""

    version: int
    owner: int
    claim: int = NOBODY
    outcome: int = NOBODY
    """The replica whose run has written it."""
    rung: bool = True
    """Whether the notification of the offer has reached the owner."""


class Run(NamedTuple):
    turn: int
    step: Literal["waits", "acts", "begins", "verifies", "does", "settles"]
    claim: int = 0
    """The version of the turn as it has claimed it."""


class Request(NamedTuple):
    """A retry of the client, at the replica that got it."""

    at: int
    turn: int
    owner: int
    number: int
    seen: Turn | None = None
    """The turn as this replica has read it."""


class State(NamedTuple):
    left: tuple[tuple[str, int], ...]
    """How often each fault may still happen."""
    up: tuple[str, ...] = ("up",) * 3
    runs: tuple[Run | None, ...] = (Run(0, "waits"), None, None)
    turns: tuple[Turn | None, ...] = (None,) * TURNS
    onces: tuple[str | tuple[int, int], ...] = ("free",) * TURNS
    """`free`, `done`, or the replica and the claim of the run that has begun it."""
    acted: tuple[int, ...] = (0,) * TURNS
    """How often the effect without `once` happened. Not counted any more when a replica was hurt."""
    charged: tuple[int, ...] = (0,) * TURNS
    owed: tuple[int, ...] = (NOBODY,) * TURNS
    """Who has claimed a turn, continues it no more, and could not write that."""
    requests: frozenset[Request] = frozenset()
    turn: int = 0
    """What the client has to answer; `TURNS` when it has its result."""
    owner: int = 0
    """Who has the run, as the state of the client says."""
    sent: int = 0
    hurt: bool = False
    wrong: str = ""

    def can(self, fault: Fault) -> bool:
        return dict(self.left).get(fault, 0) > 0

    def spend(self, fault: Fault) -> State:
        left = {**dict(self.left), fault: dict(self.left)[fault] - 1}
        return self._replace(left=tuple(sorted(left.items())))

    def injure(self) -> State:
        return self._replace(hurt=True, acted=(0,) * TURNS)

    def with_run(self, at: int, run: Run | None) -> State:
        return self._replace(runs=put(self.runs, at, run))

    def with_turn(self, number: int, turn: Turn) -> State:
        return self._replace(turns=put(self.turns, number, turn))

    def with_request(self, old: Request, new: Request | None) -> State:
        return self._replace(requests=self.requests - {old} | ({new} if new is not None else set()))

    def waits_for(self, at: int, number: int) -> bool:
        return self.runs[at] is not None and self.runs[at] == Run(number, "waits")

    def lacks(self, at: int, number: int, claim: int) -> bool:
        """Whether this replica has no run that works on this turn with this claim."""
        run = self.runs[at]
        return run is None or run.turn != number or run.step == "waits" or run.claim != claim


class Move(NamedTuple):
    what: str
    state: State
    is_fault: bool = False


def put(values: tuple[T, ...], at: int, value: T) -> tuple[T, ...]:
    return (*values[:at], value, *values[at + 1 :])


class Model:
    def __init__(self, rules: frozenset[Rule]) -> None:
        self._rules = rules

    def moves(self, state: State) -> Iterator[Move]:
        yield from self._client(state)
        for request in state.requests:
            if state.up[request.at] == "up":
                yield from self._serve(state, request)
        for at in REPLICAS:
            run = state.runs[at]
            if state.up[at] == "up" and run is not None:
                yield from self._wait(state, at, run) if run.step == "waits" else self._work(state, at, run)
        for number, at in enumerate(state.owed):
            if at != NOBODY and state.up[at] == "up":
                yield from self._pay(state, number, at)
        yield from self._hurt(state)

    # --- the client ---------------------------------------------------------------------------

    def _client(self, state: State) -> Iterator[Move]:
        """It sends its answer, again if nobody has it any more, and in copies."""
        if state.turn == TURNS:
            return
        waits = any(request.turn == state.turn for request in state.requests)
        if waits and not state.can("copy"):
            return
        for at in REPLICAS:
            if state.up[at] != "dead":
                request = Request(at, state.turn, state.owner, state.sent)
                sent = state._replace(requests=state.requests | {request}, sent=state.sent + 1)
                yield Move(f"client answers {state.turn} at {NAMES[at]}", sent.spend("copy") if waits else sent, waits)

    def _reply(self, state: State, request: Request, outcome: int) -> State:
        state = state.with_request(request, None)
        if request.turn != state.turn:
            return state
        return state._replace(turn=state.turn + 1, owner=outcome, sent=0)

    # --- a replica that got a retry -----------------------------------------------------------

    def _serve(self, state: State, request: Request) -> Iterator[Move]:
        at, number, turn = request.at, request.turn, state.turns[request.turn]
        if request.seen is None:
            if turn is not None:
                yield Move(f"{NAMES[at]} finds {number}", state.with_request(request, request._replace(seen=turn)))
            else:
                yield from self._create(state, request)
            return
        if turn is not None and request.seen != turn:
            yield Move(f"{NAMES[at]} reads {number}", state.with_request(request, request._replace(seen=turn)))
        if request.seen.outcome != NOBODY:
            yield Move(f"{NAMES[at]} replies to {number}", self._reply(state, request, request.seen.outcome))
        elif turn is not None and self._may_claim(state, request, request.seen):
            yield from self._claim(state, request, request.seen, turn)

    def _create(self, state: State, request: Request) -> Iterator[Move]:
        at, number = request.at, request.turn
        if request.owner == at and state.waits_for(at, number):
            turn = Turn(1, at, at)
            created = state.with_turn(number, turn)
            works = created.with_run(at, Run(number, "acts", 1)).with_request(request, request._replace(seen=turn))
            yield Move(f"{NAMES[at]} claims {number}", works)
            if state.can("lost reply"):
                lost = created.with_request(request, None)  # the client gets an error, and the run keeps waiting
                lost = works if "read after a lost reply" in self._rules else lost
                yield Move(f"{NAMES[at]} claims {number}, the reply is lost", lost.spend("lost reply"), True)
            if state.can("drop"):
                gone = created.with_request(request, None)
                dropped = gone
                if "give back what nobody continues" in self._rules:
                    dropped = gone.with_turn(number, Turn(2, at))
                yield Move(f"{NAMES[at]} claims {number} for a request that is gone", dropped.spend("drop"), True)
                if state.can("outage"):
                    if "owe what could not be given back" in self._rules:
                        gone = gone._replace(owed=put(gone.owed, number, at))
                    gone = gone.spend("drop").spend("outage")
                    yield Move(f"{NAMES[at]} claims {number} for a request that is gone, in an outage", gone, True)
            return
        run = state.runs[at]
        asks = run is not None and (run.turn, run.step) == (number - 1, "settles")  # the same, but it was overtaken
        if asks and "continue what the state names" not in self._rules:
            turn = Turn(1, request.owner, at)
            claimed = state.with_turn(number, turn).with_request(request, request._replace(seen=turn))
            yield Move(f"{NAMES[at]} claims {number} for a run that was overtaken", claimed)
            return
        for rung in (True, False) if state.can("lost bell") else (True,):
            turn = Turn(1, request.owner, rung=rung)
            offered = state.with_turn(number, turn).with_request(request, request._replace(seen=turn))
            yield Move(f"{NAMES[at]} offers {number}", offered if rung else offered.spend("lost bell"), not rung)

    def _pay(self, state: State, number: int, at: int) -> Iterator[Move]:
        """With a later beat, give back what could not be given back."""
        turn = state.turns[number]
        paid = state._replace(owed=put(state.owed, number, NOBODY))
        if turn is not None and (turn.claim, turn.version) == (at, 1):
            yield Move(f"{NAMES[at]} gives {number} back at last", paid.with_turn(number, Turn(2, at)))
        elif state.up[at] == "up":
            yield Move(f"{NAMES[at]} owes nothing for {number}", paid)

    def _may_claim(self, state: State, request: Request, seen: Turn) -> bool:
        """Whether who has the turn is gone, as far as this replica can tell."""
        about = seen.owner if seen.claim == NOBODY else seen.claim
        if about == NOBODY:
            return True
        if seen.claim == NOBODY:
            gone = state.up[about] != "up"
            has_not = "claim what the owner has not" in self._rules and not state.waits_for(about, request.turn)
            return gone or has_not
        if "take over" not in self._rules:
            return False
        if "spare who beats" not in self._rules and about != request.at and seen.version < 3:
            return True
        return state.up[about] != "up"

    def _claim(self, state: State, request: Request, seen: Turn, turn: Turn) -> Iterator[Move]:
        """Claim it and replay: the call repeats everything it did before."""
        at, number = request.at, request.turn
        if seen != turn and "compare and set" in self._rules:
            return  # it reads again
        claimed = Turn(turn.version + 1, seen.owner, at)
        state = state.with_turn(number, claimed).with_request(request, request._replace(seen=claimed))
        if not state.hurt:
            again = tuple(count + (each < number) for each, count in enumerate(state.acted))
            state = state._replace(acted=again)
        yield Move(f"{NAMES[at]} claims {number} and replays", state.with_run(at, Run(number, "acts", claimed.version)))

    # --- a run between two requests -------------------------------------------------------------

    def _wait(self, state: State, at: int, run: Run) -> Iterator[Move]:
        number, turn = run.turn, state.turns[run.turn]
        if turn is None:
            return
        if turn.outcome != NOBODY or turn.claim not in (NOBODY, at):
            if "end what went elsewhere" in self._rules:
                yield Move(f"{NAMES[at]} ends its run, {number} went elsewhere", state.with_run(at, None))
        elif turn.claim == NOBODY and turn.owner == at and (turn.rung or "look with each beat" in self._rules):
            claimed = turn._replace(version=turn.version + 1, claim=at)
            works = state.with_turn(number, claimed).with_run(at, Run(number, "acts", claimed.version))
            yield Move(f"{NAMES[at]} claims {number}, which was offered", works)
            if state.can("lost reply"):
                lost = works if "read after a lost reply" in self._rules else state.with_turn(number, claimed)
                yield Move(f"{NAMES[at]} claims {number}, the reply is lost", lost.spend("lost reply"), True)

    # --- a run at work --------------------------------------------------------------------------

    def _work(self, state: State, at: int, run: Run) -> Iterator[Move]:
        number, turn = run.turn, state.turns[run.turn]
        mine = turn is not None and (turn.claim, turn.version) == (at, run.claim)
        match run.step:
            case "acts":
                if not state.hurt:
                    state = state._replace(acted=put(state.acted, number, state.acted[number] + 1))
                early = "verify after claiming" not in self._rules
                step = "verifies" if early and "verify once" in self._rules else "begins"
                yield Move(f"{NAMES[at]} has effect {number}", state.with_run(at, run._replace(step=step)))
            case "begins":
                yield from self._begin_once(state, at, run, mine)
            case "verifies":
                yield self._verify(state, at, run, mine)
            case "does":
                charged = put(state.charged, number, state.charged[number] + 1)
                done = state._replace(charged=charged, onces=put(state.onces, number, "done"))
                yield Move(f"{NAMES[at]} does once {number}", done.with_run(at, run._replace(step="settles")))
            case _:
                yield self._settle(state, at, run, mine)

    def _begin_once(self, state: State, at: int, run: Run, mine: bool) -> Iterator[Move]:
        number, once = run.turn, state.onces[run.turn]
        if "claim once" not in self._rules:
            yield Move(f"{NAMES[at]} begins once {number}", state.with_run(at, run._replace(step="does")))
        elif once == "free":
            begun = state._replace(onces=put(state.onces, number, (at, run.claim)))
            verifies = {"verify once", "verify after claiming"} <= self._rules
            if not verifies and not mine:
                begun = begun._replace(wrong="once began in a run whose turn went elsewhere")
            step = "verifies" if verifies else "does"
            yield Move(f"{NAMES[at]} claims once {number}", begun.with_run(at, run._replace(step=step)))
        elif isinstance(once, str) or state.up[once[0]] != "up" or state.lacks(once[0], number, once[1]):
            yield Move(f"{NAMES[at]} knows once {number}", state.with_run(at, run._replace(step="settles")))

    def _verify(self, state: State, at: int, run: Run, mine: bool) -> Move:
        early = "verify after claiming" not in self._rules
        if mine:
            step = "begins" if early else "does"
            return Move(f"{NAMES[at]} still has {run.turn}", state.with_run(at, run._replace(step=step)))
        free = state if early else state._replace(onces=put(state.onces, run.turn, "free"))
        return Move(f"{NAMES[at]} has lost {run.turn}", free.with_run(at, None))

    def _settle(self, state: State, at: int, run: Run, mine: bool) -> Move:
        """Write the outcome before anybody is answered. Who can't ends its run."""
        number, turn = run.turn, state.turns[run.turn]
        if turn is None or ("compare and set" in self._rules and not (mine and turn.outcome == NOBODY)):
            return Move(f"{NAMES[at]} can't settle {number}", state.with_run(at, None))
        if turn.outcome != NOBODY:
            state = state._replace(wrong="a turn has two outcomes")
        settled = turn._replace(version=turn.version + 1, outcome=at)
        following = Run(number + 1, "waits") if number + 1 < TURNS else None
        return Move(f"{NAMES[at]} settles {number}", state.with_turn(number, settled).with_run(at, following))

    # --- faults ---------------------------------------------------------------------------------

    def _hurt(self, state: State) -> Iterator[Move]:
        for at in REPLICAS:
            up, run = state.up[at], state.runs[at]
            others = sum(each == "up" for each in state.up) - (up == "up")
            if up == "stopped":
                yield Move(f"{NAMES[at]} continues", state._replace(up=put(state.up, at, "up")))
            if up == "up" and others and state.can("stop"):
                yield Move(f"{NAMES[at]} is stopped", self._down(state, at, "stopped").spend("stop"), True)
            if up != "dead" and others and state.can("crash"):
                yield Move(f"{NAMES[at]} crashes", self._die(state, at).spend("crash"), True)
            if up == "up" and others and state.can("shut down"):
                yield Move(
                    f"{NAMES[at]} shuts down", self._die(self._give_back(state, at), at).spend("shut down"), True
                )
            if up == "up" and run is not None and run.step == "waits" and state.can("evict"):
                yield Move(f"{NAMES[at]} evicts its run", state.with_run(at, None).injure().spend("evict"), True)

    def _down(self, state: State, at: int, how: str) -> State:
        return state._replace(up=put(state.up, at, how)).injure()

    def _die(self, state: State, at: int) -> State:
        requests = frozenset(request for request in state.requests if request.at != at)
        return self._down(state, at, "dead").with_run(at, None)._replace(requests=requests)

    def _give_back(self, state: State, at: int) -> State:
        run = state.runs[at]
        turn = None if run is None else state.turns[run.turn]
        if run is None or turn is None or turn.claim != at or turn.version != run.claim or turn.outcome != NOBODY:
            return state
        return state.with_turn(run.turn, Turn(turn.version + 1, NOBODY))


def faults_of(state: State) -> Iterator[str]:
    """Faults in this state, even if more moves follow."""
    if state.wrong:
        yield state.wrong
    if not state.hurt and max(state.acted) > 1:
        yield "an effect happened twice, and nobody was hurt"
    if max(state.charged) > 1:
        yield "once happened twice"


def faults_at_rest(state: State) -> Iterator[str]:
    """What is wrong if nothing happens any more."""
    if state.turn < TURNS:
        yield "the client waits for ever"
    if any(run is not None and state.turns[run.turn] is not None for run in state.runs):
        yield "a run is left behind"


def check(faults: Mapping[Fault, int], rules: frozenset[Rule] = RULES) -> dict[str, list[str]]:
    """Every state that can be reached, breadth first: what goes wrong, each with the shortest way there."""
    model, first = Model(rules), State(tuple(sorted(faults.items())))
    came: dict[State, tuple[State, str] | None] = {first: None}
    found: dict[str, list[str]] = {}
    todo = deque([first])
    while todo:
        state = todo.popleft()
        wrong = set(faults_of(state))
        moves = [] if wrong else list(model.moves(state))
        if not wrong and all(move.is_fault for move in moves):
            wrong = set(faults_at_rest(state))
        for each in wrong - set(found):
            found[each] = way_to(state, came)
        for move in moves:
            if move.state not in came:
                came[move.state] = (state, move.what)
                todo.append(move.state)
    return found


def way_to(state: State, came: Mapping[State, tuple[State, str] | None]) -> list[str]:
    way: list[str] = []
    while (step := came[state]) is not None:
        state, what = step
        way.append(what)
    return way[::-1]
