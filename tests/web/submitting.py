"""What a browser would post: parse rendered HTML and collect the filled-in controls."""

from __future__ import annotations

from html.parser import HTMLParser

Pairs = list[tuple[str, str]]


class Page(HTMLParser):
    """The controls of some HTML, in order, and other details that tests need."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.controls: Pairs = []
        self.ids: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self._area: tuple[str, list[str]] | None = None
        self._select = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.tags.append((tag, given))
        if "id" in given:
            self.ids.append(given["id"])
        match tag, given.get("type"):
            case "input", "radio" | "checkbox":
                if "checked" in given:
                    self.controls.append((given["name"], given["value"]))
            case "input", _:
                self.controls.append((given["name"], given["value"]))
            case "textarea", _:
                self._area = (given["name"], [])
            case "select", _:
                self._select = given["name"]
            case "option", _:
                if "selected" in given:
                    self.controls.append((self._select, given["value"]))

    def handle_data(self, data: str) -> None:
        if self._area is not None:
            self._area[1].append(data)
        elif data.strip():
            self.texts.append(data.strip())

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea" and self._area is not None:
            name, pieces = self._area
            self.controls.append((name, "".join(pieces).removeprefix("\n").replace("\n", "\r\n")))
            self._area = None

    @property
    def text(self) -> str:
        return "\n".join(self.texts)

    def the(self, tag: str, **wanted: str) -> dict[str, str]:
        """The attributes of the only element of this kind."""
        [found] = [given for name, given in self.tags if name == tag and wanted.items() <= given.items()]
        return found
