"""What hosts and people do with the servers of strangers."""

from __future__ import annotations

from typing import Final

from tests.strangers import confirming
from tests.strangers.calling import Call, Case
from tests.strangers.people import CANCEL, DECLINE, accept, copies, no, yes

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

CASES: Final = [*DANGEROUS, *GATES, *UNABLE]
