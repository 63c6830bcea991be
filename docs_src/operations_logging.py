import logging


def configure() -> None:
    """Log midcall's warnings, and each question with its channel and outcome."""
    logging.getLogger("midcall").setLevel(logging.WARNING)
    logging.getLogger("midcall.questions").setLevel(logging.DEBUG)
