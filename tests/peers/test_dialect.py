"""A pattern matches the same texts here as in JavaScript."""

from __future__ import annotations

import json
import subprocess

from midcall.core.forms.patterns import compile_pattern
from scripts.peers import node
from tests.skips import needs_peer

pytestmark = needs_peer("@modelcontextprotocol/client")

PATTERNS = [
    *("^[a-z]+$", "a$", "$", "^$", "^a|b$", r"a\$", "[$]", "[^$]$", r"[\]$]", "(?:a$)", "^(?=.*a).+$", "a$|b"),
    *(r"^\d+$", r"[\d]", r"^[^\d]$", r"\D", r"^\w+$", r"\W", r"[\w-]+", r"\bé", r"\b", r"a\b", r"\Ba", r"é\b"),
    *(r"^\s$", r"\S", r"[\s]", r"[^\s]", r"^[a\s]+$", r"\s$", "^.$", "a.b", r"a\.b", "[.]", "^.*$", "é|ß", "(a)(b)?$"),
    *(r"^\B", "^(?!.*b)[a-z]+$", "^(?=.*a)(?!b).+$", "^(?!a|b)", "[&&]", "[[]", r"[\b]", r"[^\S]", r"\u00e9"),
]
TEXTS = [
    *(
        "",
        "a",
        "b",
        "ab",
        "main",
        "main\n",
        "a\n",
        "\na",
        "a\nb",
        "a\rb",
        "a\u2028b",
        "\n",
        "\r",
        "\u2029",
        "$",
        "a$",
        "]",
    ),
    *(
        "7",
        "٣",
        "a1",
        "é",
        "aé",
        "éa",
        "ß",
        "_",
        "-",
        " ",
        "\u00a0",
        "\ufeff",
        "\u3000",
        "\u200b",
        "\x1c",
        "\x85",
        "a b",
        ".",
    ),
    *("a.b", "axb", "Abc9", "😀", "a😀b"),
]
SEARCH = """
const [patterns, texts] = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(patterns.map((each) => texts.map((text) => new RegExp(each, "u").test(text)))));
"""


def test_every_pattern_matches_the_same_texts() -> None:
    asked = json.dumps([PATTERNS, TEXTS])
    done = subprocess.run(
        [str(node()), "-e", SEARCH], input=asked, capture_output=True, text=True, timeout=60, check=True
    )
    there = json.loads(done.stdout)
    here = [[compile_pattern(pattern).matches(text) for text in TEXTS] for pattern in PATTERNS]
    differs = [
        (pattern, text, there[p][t])
        for p, pattern in enumerate(PATTERNS)
        for t, text in enumerate(TEXTS)
        if here[p][t] != there[p][t]
    ]
    assert differs == []
