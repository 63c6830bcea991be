from midcall import Choices, Form, Text

FORM = Form(
    Text("code", pattern="^[A-Z]{3}$", default="OSL"),
    Choices("days", {"sat": "Saturday", "sun": "Sunday"}, min_items=1),
)

for version in ("2026-07-28", "2025-06-18"):
    print(version, FORM.schema(version))
