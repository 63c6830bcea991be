"""Every setting and every limit: argument, environment variable, default, meaning, and what happens then.

Each module has the rows of one area, and the constants that other modules import; `table.py` puts them together.
`docs/settings.md` and `midcall doctor --settings` show the table. A process loads the areas that it uses.

Every number with a unit is a limit, and says what happens at it (`then=`), or the time between two of the same
(`interval=True`).
"""
