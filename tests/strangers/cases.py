"""What hosts and people do with the servers of strangers."""

from __future__ import annotations

from typing import Final

from tests.strangers import confirming, flowing, visiting
from tests.strangers.calling import Call, Case
from tests.strangers.people import CANCEL, DECLINE, GO, accept, after, copies, no, visits, yes

UUID: Final = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"

EDIT: Final = Call("edit", {"page": "home", "text": "Hello"})
ORDER: Final = Call("order", {"item": "lamp"})
LONG_STREET: Final = accept(street="Storgata 1", city="Oslo")
REBOOT: Final = Call("reboot", {"host": "web"})
DEPLOY: Final = Call("deploy", {"service": "api"})

DANGEROUS: Final = [
    Case("no to 'Keep changes?'", confirming.editor, (EDIT,), [no()], ("drafted home", "reverted home")),
    Case("a dismissed 'Keep changes?'", confirming.editor, (EDIT,), [CANCEL], ("drafted home", "reverted home")),
    Case("yes to 'Keep changes?'", confirming.editor, (EDIT,), [yes()], ("drafted home", "committed home")),
    Case(
        "a deletion that is declined, by a tool that fails open",
        confirming.registry,
        (Call("delete_record", {"record": 7}),),
        [DECLINE],
        (),
        varies=UUID,
    ),
    Case(
        "a deletion that is declined twice, by a tool that fails open",
        confirming.registry,
        (Call("delete_twice", {"record": 7}),),
        [DECLINE, DECLINE],
        (),
        varies=UUID,
    ),
    Case(
        "a charge before two questions",
        confirming.shop,
        (ORDER,),
        [LONG_STREET, yes()],
        ("charged for lamp", "label for Oslo", "shipped, accept"),
    ),
    Case("a charge, and a decline", confirming.shop, (ORDER,), [DECLINE], ("charged for lamp", "refunded")),
]

GATES: Final = [
    Case(
        "a consent gate, passed",
        confirming.gated,
        (REBOOT,),
        [yes(), yes()],
        ("begin reboot", "reboot web accept", "audit reboot: done"),
    ),
    Case("a consent gate, closed", confirming.gated, (REBOOT,), [no()], ("begin reboot", "audit reboot: denied")),
    Case(
        "an answer that is remembered for the next call",
        confirming.remembering,
        (Call("push", {"branch": "a"}), Call("push", {"branch": "b"})),
        [accept(approve=True, remember=True)],
        ("pushed a", "pushed b"),
    ),
    Case(
        "an approval that is in a database while it is asked",
        confirming.approvals,
        (Call("transfer", {"amount": 500}),),
        [accept(approve=True)],
        ("requested 239523bc", "decided [('239523bc', 'approved')]"),
    ),
    Case(
        "deletions between questions",
        confirming.cleaner,
        (Call("clean"),),
        [yes(), DECLINE, yes()],
        ("deleted a.log", "deleted c.log"),
    ),
    Case("a loop that is dismissed", confirming.cleaner, (Call("clean"),), [yes(), CANCEL], ("deleted a.log",)),
    Case(
        "a random code in the question",
        confirming.typed_code,
        (Call("wipe", {"volume": "data"}),),
        [copies(r"\d{6}", "code")],
        ("code <1>", "wiped data"),
        varies=r"\d{6}",
    ),
    Case("an error for a decline", confirming.refusing, (DEPLOY,), [DECLINE], ("decline <1>",), varies=UUID),
    Case("an error for a dismissal", confirming.refusing, (DEPLOY,), [CANCEL], ("cancel <1>",), varies=UUID),
]

UNABLE: Final = [
    Case(
        "a tool that checks what the client can do",
        confirming.careful,
        (Call("drop", {"table": "t"}), Call("truncate", {"table": "t"})),
        [yes(), DECLINE],
        ("drop t accept", "truncate t decline"),
    ),
    Case(
        "a tool that checks, and a client that can't be asked",
        confirming.careful,
        (Call("drop", {"table": "t"}), Call("truncate", {"table": "t"})),
        [],
        ("refused",),
        can=frozenset(),
    ),
    Case(
        "a tool that reads the error of a client that can't be asked",
        confirming.hopeful,
        (Call("archive", {"folder": "old"}),),
        [],
        ("archived old unasked",),
        can=frozenset(),
    ),
    Case(
        "a tool that knows nothing of clients that can't be asked",
        confirming.hopeful,
        (Call("publish", {"page": "home"}),),
        [],
        ("rendered",),
        can=frozenset(),
    ),
    Case(
        "a tool that fails open, and a client that can't be asked",
        confirming.registry,
        (Call("delete_record", {"record": 7}),),
        [],
        ("deleted 7",),
        can=frozenset(),
    ),
]

LIMITS: Final = [
    Case(
        "wait_for, and nobody answers",
        flowing.impatient,
        (Call("wait_for"),),
        [after("challenge expired", yes())],
        ("challenge made", "challenge expired"),
    ),
    Case(
        "move_on_after, and nobody answers",
        flowing.impatient,
        (Call("move_on"),),
        [after("default used: True", DECLINE)],
        ("default used: True",),
    ),
    Case(
        "two answers within one time limit",
        flowing.impatient,
        (Call("in_time"),),
        [accept(name="Ada"), accept(name="Lovelace")],
        ("half", "whole"),
    ),
]

COLOURS: Final = {"Colour of the roof": accept(name="red"), "Colour of the door": accept(name="blue")}
NO_DOOR: Final = {"Colour of the roof": accept(name="red"), "Colour of the door": DECLINE}
LOOKED_UP: Final = ("looked up roof", "looked up door")

AT_ONCE: Final = [
    Case("gather", flowing.parallel, (Call("gathered"),), COLOURS, (*LOOKED_UP, "painted ['red', 'blue']")),
    Case(
        "gather that tolerates a decline",
        flowing.parallel,
        (Call("tolerant"),),
        NO_DOOR,
        (*LOOKED_UP, "painted what there was"),
    ),
    Case("a task group", flowing.parallel, (Call("grouped"),), COLOURS, (*LOOKED_UP, "mixed red", "mixed blue")),
    Case(
        "a task beside two questions",
        flowing.background,
        (Call("guarded"),),
        [yes(), yes()],
        ("guard started", "guard stopped"),
    ),
    Case("a task that nobody waits for", flowing.background, (Call("mailing"),), [DECLINE], ("mail sent",)),
    Case("a question in a task", flowing.background, (Call("beside"),), [accept(name="PDF")], ("rendered",)),
    Case(
        "a lock that is held while somebody is asked",
        flowing.locked,
        (Call("migrate", {"to": "v2"}), Call("migrate", {"to": "v3"}, once="v2 locked")),
        [after("v3 is here", yes()), DECLINE],
        ("v2 is here", "v2 locked", "v3 is here", "v2 accept", "v3 locked", "v3 decline"),
        at_once=True,
    ),
    Case(
        "a second call that is refused while the first one asks",
        flowing.locked,
        (Call("export", {"who": "Ada"}), Call("export", {"who": "Bob"}, once="Ada runs")),
        [after("Bob refused", yes())],
        ("Ada runs", "Bob refused"),
        at_once=True,
    ),
    Case(
        "a def tool",
        flowing.threaded,
        (Call("scan"),),
        [accept(name="A4"), DECLINE],
        ("scanner warmed up", "scanned from A4"),
    ),
    Case("a blocking library", flowing.threaded, (Call("install"),), [yes(), yes()], ("downloaded", "installed")),
]

OPEN: Final = [
    Case(
        "a temporary directory",
        flowing.open_things,
        (Call("upload"),),
        [accept(name="two"), yes()],
        ("draft written", "uploaded one, two, accept", "draft removed"),
    ),
    Case("a transaction, kept", flowing.open_things, (Call("book"),), [yes()], ("seats: 1",)),
    Case("a transaction, rolled back", flowing.open_things, (Call("book"),), [no()], ("seats: 0",)),
    Case("a context variable", flowing.open_things, (Call("tenancy"),), [yes()], ("for acme, accept",)),
    Case(
        "a stack of clean-ups",
        flowing.stacked,
        (Call("provision"),),
        [accept(name="2")],
        ("open network", "open machine", "close machine, fine", "close network, fine"),
    ),
    Case(
        "a stack of clean-ups, after a decline",
        flowing.stacked,
        (Call("provision"),),
        [DECLINE],
        ("open network", "open machine", "close machine, ToolError", "close network, ToolError"),
    ),
    Case(
        "steps that are compensated",
        flowing.stacked,
        (Call("travel"),),
        [yes(), DECLINE],
        ("book flight", "book hotel", "undo hotel", "undo flight"),
    ),
    Case(
        "logs and progress between questions",
        flowing.counting,
        (Call("survey"),),
        [accept(name="30"), DECLINE, accept(name="70")],
        (
            "stored age as number 1, accept",
            "stored height as number 2, decline",
            "stored weight as number 3, accept",
        ),
    ),
    Case(
        "a set without an order",
        flowing.restless,
        (Call("restart"),),
        [yes()],
        tuple(f"<{number}> accept" for number in range(1, 7)),
        varies=r"web-\d",
    ),
    Case(
        "the time in the question",
        flowing.restless,
        (Call("stamped"),),
        [yes(), DECLINE],
        ("start accept", "end decline"),
        varies=r"\d{4}-\d\d-\d\dT[\d:.+]+",
    ),
]

VARYING_URL: Final = r"127\.0\.0\.1:\d+|[0-9a-f]{16}"

VISITS: Final = [
    Case(
        "a listener that waits for the way back",
        visiting.oauth,
        (Call("connect"),),
        [visits],
        ("listening", "token for c0de, state is ours: True"),
        varies=VARYING_URL,
    ),
    Case(
        "a listener, and a decline",
        visiting.oauth,
        (Call("connect"),),
        [DECLINE],
        ("listening", "given up"),
        varies=VARYING_URL,
    ),
    Case(
        "a page, and then a form",
        visiting.oauth,
        (Call("paste"),),
        [GO, accept(code="123")],
        ("flow begun", "exchanged, verifier is ours: True"),
        varies=VARYING_URL,
    ),
    Case(
        "the same question until the person is done",
        visiting.oauth,
        (Call("prove"),),
        [GO, no(), no(), yes()],
        ("attempt 0 accept", "attempt 1 accept", "attempt 2 accept"),
    ),
    Case(
        "a page that is required first, for a client that can't be asked",
        visiting.oauth,
        (Call("report"),),
        [],
        ("no token",),
        can=frozenset(),
    ),
    Case(
        "a page that is required first",
        visiting.oauth,
        (Call("report"),),
        [],
        ("no token",),
        versions=("2025-11-25",),
    ),
]

CASES: Final = [*DANGEROUS, *GATES, *UNABLE, *LIMITS, *AT_ONCE, *OPEN, *VISITS]
