from __future__ import annotations

from contextlib import ExitStack

from midcall.client.queue_limit import Crowd


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def come(crowd: Crowd, stack: ExitStack, count: int, server: str = "a") -> int:
    """So many come, and stay if they may. How many may."""
    return sum(stack.enter_context(crowd.one_more(server)) for _ in range(count))


def test_what_comes_on_top_is_turned_away_until_there_is_room() -> None:
    crowd = Crowd(2)
    with ExitStack() as waiting:
        assert come(crowd, waiting, 5) == 2
        assert crowd.turned_away == 3
    with ExitStack() as waiting:
        assert come(crowd, waiting, 1) == 1


def test_one_server_takes_no_place_from_another() -> None:
    with ExitStack() as waiting:
        crowd = Crowd(2)
        assert come(crowd, waiting, 9, "loud") == 2
        assert come(crowd, waiting, 1, "quiet") == 1


def test_the_user_is_told_once() -> None:
    with ExitStack() as waiting:
        crowd = Crowd(1)
        come(crowd, waiting, 4)
        assert (crowd.told(), crowd.told()) == (3, 0)


def test_with_no_limit_all_may_wait() -> None:
    with ExitStack() as waiting:
        assert come(Crowd(None), waiting, 1_000) == 1_000


def test_after_cancel_all_the_rest_of_a_burst_is_turned_away_too() -> None:
    clock = Clock()
    crowd = Crowd(2, clock)
    with ExitStack() as waiting:
        come(crowd, waiting, 3)
        crowd.dismiss()
    with ExitStack() as waiting:
        for _ in range(5):
            clock.now += 0.9
            assert come(crowd, waiting, 1) == 0
        clock.now += 1.0  # it is quiet for a while
        assert come(crowd, waiting, 1) == 1


def test_many_questions_are_a_burst_even_if_all_of_them_may_wait() -> None:
    crowd = Crowd(100, Clock())
    with ExitStack() as waiting:
        come(crowd, waiting, 19, "several")
        come(crowd, waiting, 20, "many")
        crowd.dismiss()
    with ExitStack() as waiting:
        assert come(crowd, waiting, 1, "several") == 1
        assert come(crowd, waiting, 1, "many") == 0


def test_after_cancel_all_a_server_that_asked_little_may_ask_again() -> None:
    crowd = Crowd(2, Clock())
    with ExitStack() as waiting:
        come(crowd, waiting, 2, "quiet")
        come(crowd, waiting, 3, "loud")
        crowd.dismiss()
    with ExitStack() as waiting:
        assert come(crowd, waiting, 1, "quiet") == 1
        assert come(crowd, waiting, 1, "loud") == 0
