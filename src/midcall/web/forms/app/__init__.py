"""A form as an MCP App: one document that loads nothing, and the questions in it.

The document is the same for every question. Its script asks the server what to show, and the server renders it with the
same templates as every other page, so the script knows nothing about fields.
"""

from midcall.web.forms.app.document import asking, document

__all__ = ["asking", "document"]
