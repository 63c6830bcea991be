"""An address to visit: reasons for doubt, and why it cannot be opened."""

from __future__ import annotations


def cannot_be_opened() -> str:
    return "its address is no plain http or https address"


def site(domain: str) -> str:
    return f"Site: {domain}"


def address_hides() -> str:
    return "its address holds characters that do not belong there"


def address_too_long(length: int, most: int) -> str:
    return f"its address has {length:,} characters, and more than {most:,} cannot be looked at"


def host_not_readable() -> str:
    return "its address names no site that a browser could find"


def doubt_user(user: str, host: str) -> str:
    return f'What stands before the @ ("{user}") is not the site. The site is {host}.'


def doubt_ip(ip: str) -> str:
    return f"The site has no name, only the number {ip}. Nobody can tell whose it is."


def doubt_odd_ip(text: str, ip: str) -> str:
    return f"{text} is another way to write the number {ip}, which hides where it leads."


def doubt_this_computer(host: str) -> str:
    return f"It leads to a program on this computer ({host}), not to the internet."


def doubt_own_network(host: str) -> str:
    return f"It leads into your own network ({host}), not to the internet."


def doubt_punycode(name: str, read: str) -> str:
    return f'{name} is a name in other letters. It reads "{read}", and can look like another site.'


def doubt_bad_punycode() -> str:
    return "The name of the site is written in code (xn--) that cannot be read."


def doubt_not_ascii(name: str) -> str:
    return f"The name of the site is not written in plain letters (a to z). Its exact name is {name}."


def doubt_mixed(label: str, scripts: list[str]) -> str:
    return f'"{label}" mixes letters of different scripts ({", ".join(scripts)}).'


def doubt_looks_like(plain: str, strange: dict[str, list[tuple[int, str]]], length: int) -> str:
    """The two names may look the same: so one is shown, and the letters of the other are told by their places."""
    told = "; ".join(_strange_letters(script, found, length) for script, found in strange.items())
    return f'It can be taken for "{plain}", and is another name: {told}.'


def _strange_letters(script: str, found: list[tuple[int, str]], length: int) -> str:
    what = script or "not one of a to z"
    if len(found) == length:
        return f"all of its letters are {what}" if length > 1 else f"its letter is {what}"
    places = [f'{place} ("{char}")' for place, char in found]
    *first, last = places if len(places) <= 6 else [*places[:5], f"{len(places) - 5} more"]
    return f"letters {', '.join(first)} and {last} are {what}" if first else f"letter {last} is {what}"


def doubt_port(port: int) -> str:
    return f"It uses the unusual port {port}."


def doubt_http() -> str:
    return "It is plain http: others on the way can read and change what is sent."


def doubt_direction() -> str:
    return "It holds letters that run from right to left, which can make its parts appear in another order."


def doubt_length(length: int) -> str:
    return f"It is very long ({length:,} characters). What counts is the name of the site."
