"""Plain pages for the shop, which is the author's, and the tracker, which is a third party's."""

from __future__ import annotations

from html import escape

from starlette.responses import HTMLResponse, Response

STYLE = """
:root { color-scheme: light dark; font: 17px/1.5 system-ui, sans-serif }
body { max-width: 26rem; margin: 12vh auto; padding: 0 1.2rem }
button { font: inherit; padding: .5rem 1rem; margin: .3rem .5rem .3rem 0; cursor: pointer }
"""
HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
}


def page(title: str, text: str, buttons: dict[str, str] | None = None, status: int = 200) -> Response:
    """Return a page with a title, a sentence, and buttons that post their names as `do`."""
    shown = "".join(
        f'<button name="do" value="{escape(name)}">{escape(label)}</button>' for name, label in (buttons or {}).items()
    )
    form = f'<form method="post">{shown}</form>' if shown else ""
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}</style>'
    view = '<meta name="viewport" content="width=device-width">'
    return HTMLResponse(f"{head}{view}<h1>{escape(title)}</h1><p>{escape(text)}</p>{form}</html>", status, HEADERS)
