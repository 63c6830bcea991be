from midcall.client import Answerer, Guard, Rate


def guarded(answerer: Answerer) -> Guard:
    return Guard(
        answerer,
        rate=Rate(10, per=60),  # ten questions a minute per server
        servers=["Fjord Travel", "Mailbox"],  # only these may ask
        hosts=["example.com", "*.login.example.org"],  # only these may be visited
        audit="questions.jsonl",
        tell=print,
    )
