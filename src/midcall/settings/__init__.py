"""Every setting and every limit: a constant, and below it what it means and what happens then.

Each module has those of one area; a process loads the areas that it uses. `table.py` reads them all, texts included,
for `docs/settings.md` and `midcall doctor --settings`. A text begins with the meaning, which is "Between two ..." for
the time between two of the same. After that, each on its own line:

    Then: what happens at the limit. Every number with a unit has it, except for such times.
    Unit: the unit of a number, if it isn't the last word of its name, a plural.
    Default: what applies if the constant is None.
    Argument: what sets it in code.
    Variable: what sets it in the environment.
"""
