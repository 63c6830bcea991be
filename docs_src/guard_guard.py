from midcall.client import Answerer, Guard, Rate


def guarded(answerer: Answerer) -> Guard:
    return Guard(
        answerer,
        rate=Rate(10, per=60),  # ten questions a minute from each server
        servers=["Fjord Travel", "Mailbox"],  # nobody else may ask
        hosts=["example.com", "*.login.example.org"],  # and nowhere else is the user sent
        audit="questions.jsonl",
        tell=print,
    )
