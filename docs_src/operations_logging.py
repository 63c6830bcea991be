import logging


def configure() -> None:
    """Warnings of midcall, and each question with its channel and its outcome."""
    logging.getLogger("midcall").setLevel(logging.WARNING)
    logging.getLogger("midcall.questions").setLevel(logging.DEBUG)
