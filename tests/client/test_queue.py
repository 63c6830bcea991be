"""Places for waiting questions: by server, in all, and freed when a question is gone."""

from __future__ import annotations

from midcall.client.asked import Asked, FormQuestion
from midcall.client.queue import Queue
from midcall.core.forms.fields import Flag
from midcall.core.forms.form import Form


def question(server: str) -> Asked:
    return Asked(FormQuestion("Sure?", Form(Flag("yes"))), id="1", server=server, via="push")


async def test_one_server_can_not_take_the_places_of_another() -> None:
    queue = Queue(per_server=1)
    with queue.join(question("a")):
        assert queue.is_full("a")
        assert not queue.is_full("b")
    assert not queue.is_full("a")


async def test_all_servers_together_have_a_limit() -> None:
    queue = Queue(per_server=None, in_all=2)
    with queue.join(question("a")), queue.join(question("b")):
        assert queue.is_full("c")
    assert not queue.is_full("c")


async def test_a_refusal_is_the_first_one_again_once_nothing_of_its_server_waits() -> None:
    queue = Queue(per_server=1)
    with queue.join(question("b")):
        with queue.join(question("a")):
            assert [queue.refuse("a"), queue.refuse("a")] == [True, False]
        assert queue.refuse("a")


async def test_a_question_that_leaves_early_frees_its_place_once() -> None:
    queue = Queue(per_server=1)
    with queue.join(question("a")) as entry:
        queue.leave(entry)
        assert not queue.is_full("a")
        with queue.join(question("a")):
            queue.leave(entry)
            assert queue.is_full("a")
