from midcall.client import Lines, Terminal


def kiosk() -> Terminal:
    """The whole screen, and no browser is ever started: addresses are shown, to be opened elsewhere."""
    return Terminal(inline=False, open_url=lambda url: False)


def plain() -> Lines:
    """Line prompts, whatever the terminal can do."""
    return Lines(width=72)
