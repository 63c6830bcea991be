"""What hosts and people do with other people's servers."""

from __future__ import annotations

from typing import Final

from mcp_types import ErrorData

from tests.strangers import confirming, fast, flowing, forms, models, raw, visiting
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
        "a tool that reads the error of a client that refuses",
        confirming.hopeful,
        (Call("archive", {"folder": "old"}),),
        [ErrorData(code=-32001, message="Quota of forms used up", data={"left": 0})],
        ("archived old unasked",),
        versions=("2025-11-25",),
    ),
    Case(
        "a session that is kept for a later call",
        confirming.keeping,
        (Call("subscribe"), Call("notify")),
        [yes(), accept()],
        ("subscribed: accept", "interested: accept"),
        versions=("2025-11-25",),
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
    Case(
        "a worker that asks for the calls",
        flowing.delegating,
        (Call("print_page"), Call("print_page")),
        [yes(), DECLINE],
        (
            "printer on",
            "job begun",
            "job ended: accept",
            "job begun",
            "job ended: decline",
            "printer off",
        ),
    ),
    Case(
        "a retry that asks again",
        flowing.retrying,
        (Call("send"),),
        [yes(), yes()],
        ("sending: accept", "attempt 0: reset by peer", "sending: accept"),
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
        (Call("stamp"),),
        [yes(), DECLINE],
        ("start accept", "end decline"),
        varies=r"\d{4}-\d\d-\d\dT[\d:.+]+",
    ),
]

VARYING_URL: Final = r"127\.0\.0\.1:\d+|[0-9a-f]{16}"

VISITS: Final = [
    Case(
        "a listener for the provider's redirect",
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

BOOKING: Final = accept(guest="Ada", nights=3, budget=99.5, room="double", breakfast=False, extras=["bike"])

FORMS: Final = [
    Case(
        "a form with a field of each kind, and structured output",
        forms.forms,
        (Call("book"),),
        [BOOKING],
        (
            "booked Booking(guest='Ada', email=None, nights=3, budget=99.5, room='double', breakfast=False,"
            " extras=['bike'], note='')",
        ),
    ),
    Case("a form that is declined", forms.forms, (Call("book"),), [DECLINE], ()),
    Case(
        "a form that names a password",
        forms.forms,
        (Call("log_in"), Call("add_key")),
        [accept(email="a@b.c", password="pw"), accept(api_key="k")],
        ("logged in: accept", "key stored: accept"),
    ),
    Case(
        "an argument that isn't good enough",
        forms.forms,
        (Call("search", {"query": "ab"}), Call("search", {"query": "abc"})),
        [accept(query="abacus")],
        ("too short", "searched abacus", "searched abc"),
    ),
    Case("an answer that doesn't fit", forms.forms, (Call("age"),), [accept(years="many")], ()),
    Case("an answer without content", forms.forms, (Call("age"),), [GO], ()),
    Case(
        "a tool that asks again if the answer doesn't fit",
        forms.forms,
        (Call("persistent"),),
        [accept(query="a"), accept(query="abc")],
        ("attempt 0: Received an accepted elicitation whose content does not match the requested schema",),
    ),
    Case(
        "eight questions in a row",
        forms.forms,
        (Call("interview"),),
        [accept(query=f"answer {number}") for number in range(8)],
        tuple(f"saved {number}" for number in range(8)),
    ),
    Case(
        "a prompt that asks",
        forms.forms,
        (Call("letter", {"to": "Bob"}, "prompt"),),
        [accept(query="warm")],
        ("opened the address book for Bob",),
    ),
    Case(
        "a resource that asks",
        forms.forms,
        (Call("report://2024", kind="resource"),),
        [yes()],
        ("loaded 2024", "shown: accept"),
    ),
    Case(
        "a tool that reads a resource that asks",
        forms.forms,
        (Call("summary"),),
        [yes(), DECLINE],
        ("loaded 2024", "shown: accept", "summed up, decline"),
    ),
]

VERSIONED: Final = [
    Case("a tool that looks at the version", forms.versions, (Call("old_enough"),), [yes()], ("went: accept",)),
    Case(
        "a tool that makes its own rounds",
        forms.versions,
        (Call("by_hand", {"path": "a.txt"}),),
        [yes()],
        ("delete a.txt: accept",),
    ),
    Case(
        "a parameter that is resolved by a question",
        forms.versions,
        (Call("welcome"),),
        [accept(name="Ada"), yes()],
        ("door opened for Ada", "tea: accept"),
    ),
]

RAW: Final = [
    Case(
        "a form without fields",
        raw.confirmed,
        (Call("drop_index"),),
        [accept()],
        ("call drop_index", "dropped", "end drop_index"),
    ),
    Case("a form without fields, declined", raw.confirmed, (Call("drop_index"),), [DECLINE], ("call drop_index",)),
    Case(
        "a handler that checks, and a client that can't be asked",
        raw.confirmed,
        (Call("drop_index"), Call("publish")),
        [],
        ("call drop_index", "call publish", "built", "end publish"),
        can=frozenset(),
    ),
    Case(
        "a schema that is written by hand",
        raw.confirmed,
        (Call("publish"),),
        [accept(team="9", copies=2)],
        ("call publish", "built", "published {'team': '9', 'copies': 2}", "end publish"),
    ),
    Case(
        "a raw answer that doesn't fit",
        raw.confirmed,
        (Call("publish"),),
        [accept(team="8", more="x")],
        ("call publish", "built", "published {'team': '8', 'more': 'x'}", "end publish"),
    ),
    Case(
        "a schema with custom keys that names a secret",
        raw.confirmed,
        (Call("bank"),),
        [accept(user="ada", pin="1234")],
        ("call bank", "sent ['pin', 'user']", "end bank"),
    ),
    Case(
        "a request that is sent by hand",
        raw.confirmed,
        (Call("by_hand"),),
        [accept(team="7", copies=3)],
        ("call by_hand", "request made", "answered {'team': '7', 'copies': 3}", "end by_hand"),
    ),
    Case(
        "an invoice before a page",
        raw.confirmed,
        (Call("pay"),),
        [GO],
        ("call pay", "invoice made", "paid: accept", "end pay"),
    ),
    Case(
        "a low-level prompt that asks",
        raw.confirmed,
        (Call("review", kind="prompt"),),
        [accept(team="7", copies=1)],
        ("diff read",),
    ),
]

MODELS: Final = [
    Case(
        "a model between two questions",
        models.poet,
        (Call("poem"),),
        [accept(name="snow"), yes()],
        ("muse called", "draft: a poem, snow", "kept: accept"),
        can=frozenset({"elicitation", "sampling"}),
    ),
    Case(
        "a model and a person at once",
        models.poet,
        (Call("both"),),
        [accept(name="Rain")],
        ("bound",),
        can=frozenset({"elicitation", "sampling"}),
    ),
    Case(
        "folders that are asked for once",
        models.poet,
        (Call("save"), Call("save")),
        [yes(), DECLINE],
        ("2 folders", "saved: accept", "saved: decline"),
        can=frozenset({"elicitation", "roots"}),
    ),
]

FAST: Final = [
    Case(
        "FastMCP: scalars",
        fast.scalars,
        (Call("plain"),),
        [accept(value=each) for each in (True, 3, 2.5, "text", "b", "blue")],
        ("True", "3", "2.5", "'text'", "'b'", "<Colour.BLUE: 'blue'>"),
    ),
    Case(
        "FastMCP: choices",
        fast.scalars,
        (Call("choices"),),
        [accept(value="y"), accept(value="high"), accept(value=["x", "z"]), accept(name="site", kind="cli")],
        ("all chosen",),
    ),
    Case(
        "FastMCP: a middleware that asks, and counts calls",
        fast.confirming,
        (Call("write_page", {"text": "hi"}), Call("read_page"), Call("read_page")),
        [accept(value=True)],
        (
            "write_page: 1 left",
            "wrote hi",
            "write_page ran",
            "read_page: 0 left",
            "read",
            "read_page: -1 left",
        ),
    ),
    Case(
        "FastMCP: a middleware that asks, and a decline",
        fast.confirming,
        (Call("write_page", {"text": "hi"}),),
        [accept(value=False)],
        ("write_page: 1 left", "write_page declined"),
    ),
    Case(
        "FastMCP: a middleware that fails closed",
        fast.confirming,
        (Call("write_page", {"text": "hi"}),),
        [],
        ("write_page: 1 left", "client can't ask"),
        can=frozenset(),
    ),
    Case(
        "FastMCP: a middleware that asks after the tool",
        fast.redacting,
        (Call("person", {"id": 1}),),
        [accept(value=True), DECLINE],
        ("loaded 1", "shown: ['name']"),
    ),
    Case(
        "FastMCP: a connection as a dependency",
        fast.depending,
        (Call("add_rows"),),
        [accept(value="a"), accept(value="b")],
        ("connected", "inserted a", "inserted b", "closed with ['a', 'b']"),
    ),
    Case(
        "FastMCP: a connection, and a dismissal",
        fast.depending,
        (Call("add_rows"),),
        [accept(value="a"), CANCEL],
        ("connected", "inserted a", "closed with ['a']"),
    ),
    Case(
        "FastMCP: a dependency that asks",
        fast.consenting,
        (Call("weather"),),
        [accept(value=True), accept(value="C")],
        ("policy read", "shared: True"),
    ),
    Case(
        "FastMCP: a gateway to a server that asks",
        fast.gateway,
        (Call("pay", {"amount": 5}),),
        [accept(value=True)],
        ("reserved 5", "paid: accept"),
        # On 2026-07-28 a proxy speaks 2026-07-28 to the server behind it, which doesn't have midcall.
        versions=("2025-11-25",),
    ),
    Case(
        "FastMCP: a mounted server with state, logs and progress",
        fast.mounted,
        (Call("ops_deploy"),),
        [accept(value=True), DECLINE],
        ("asked: accept", "told: decline"),
    ),
    Case(
        "FastMCP: a mounted prompt and a mounted resource",
        fast.mounted,
        (Call("ops_plan", kind="prompt"), Call("notes://ops/work", kind="resource")),
        [accept(value=3), DECLINE],
        ("calendar read", "opened work"),
    ),
]

CASES: Final = [
    *DANGEROUS,
    *GATES,
    *UNABLE,
    *LIMITS,
    *AT_ONCE,
    *OPEN,
    *VISITS,
    *FORMS,
    *VERSIONED,
    *RAW,
    *MODELS,
    *FAST,
]
