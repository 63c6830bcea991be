"""The form as an MCP App: one document that loads nothing, and what is shown in it.

The document is the same for every question. Its script asks the server what to show, and the server
draws it here, with the same templates as everywhere; so the script knows nothing of fields.
"""

from midcall.web.forms.app.document import asking, document

__all__ = ["asking", "document"]
