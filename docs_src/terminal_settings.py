from midcall.client import Lines, Terminal


def kiosk() -> Terminal:
    """Use the whole screen and never start a browser: the user opens URLs elsewhere."""
    return Terminal(inline=False, open_url=lambda url: False)


def plain() -> Lines:
    """Always use line prompts."""
    return Lines(width=72)
