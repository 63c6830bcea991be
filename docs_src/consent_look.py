from midcall.client import look


def shown(url: str) -> str:
    """Return what the user should see before agreeing to open this."""
    address = look(url)
    if not address.openable:
        return f"This cannot be opened: {address.why_not}."
    before, domain, after = address.parts  # together, the whole URL
    doubts = "".join(f"\n! {doubt}" for doubt in address.doubts)
    return f"{before}[{domain}]{after}\nSite: {domain}{doubts}"
