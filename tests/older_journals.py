"""Journals as the version before wrote them."""

from __future__ import annotations

import json

from midcall.core.journal import VERSION, Journal

__all__ = ["SWAP", "written_before"]

SWAP = str.maketrans('`"', '"`')


def written_before(journal: Journal) -> str:
    """This journal in version 2: each label beside its content, which had no short form."""
    labels = journal.labels()
    settled = {
        identity: [label, answer if isinstance(answer, dict) else {"answer": answer}, *([] if line else [0])]
        for identity, (label, line) in labels.items()
        for answer in [journal.settled[identity]]
    }
    entries = {identity: list(journal.entry(identity) or ()) for identity in journal.entries}
    head = [journal.call, journal.rounds, journal.strays, journal.progress, journal.foreign, journal.target]
    lines = [json.dumps(settled, separators=(",", ":"))[1:-1], json.dumps([*head, journal.left, entries])]
    return "\n".join([f"midcall/{VERSION - 1}", *(line.translate(SWAP) for line in lines)])
