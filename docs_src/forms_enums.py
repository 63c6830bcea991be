from midcall import Choice, Choices, Form

COLOURS = {"r": "Red", "g": "Green"}

SHAPES = Form(
    Choice("plain", ["red", "green"]),  # enum
    Choice("titled", COLOURS),  # oneOf with const and title
    Choice("legacy", COLOURS, legacy=True),  # enum with enumNames
    Choices("many", ["red", "green"]),  # array, items.enum
    Choices("many_titled", COLOURS),  # array, items.anyOf with const and title
)

for name, wire in SHAPES.schema()["properties"].items():
    print(name, wire)
