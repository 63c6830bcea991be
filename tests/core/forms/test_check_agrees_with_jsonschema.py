from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker

from midcall.core.forms.check import check
from midcall.core.forms.form import Form
from midcall.core.forms.formats import FORMATS
from tests.core.strategies import content_for, forms, json_values

FORMAT_CHECKER = FormatChecker(formats=())
for name, fits in FORMATS.items():
    FORMAT_CHECKER.checks(name)(lambda value, fits=fits: not isinstance(value, str) or fits(value))

quick = settings(max_examples=60)
thorough = settings(quick, max_examples=300)


def reference(schema: dict[str, Any]) -> Draft202012Validator:
    return Draft202012Validator(schema, format_checker=FORMAT_CHECKER)


def refused_fields(form: Form, content: dict[str, Any]) -> set[str]:
    """The fields that the reference rejects, each checked with a separate schema."""
    schema = form.schema()
    refused: set[str] = set()
    for name, prop in schema["properties"].items():
        alone = {"type": "object", "properties": {name: prop}, "required": [name] if form.field(name).required else []}
        if not reference(alone).is_valid(content):
            refused.add(name)
    return refused


@quick
@given(forms)
def test_every_form_is_a_valid_json_schema(form: Form) -> None:
    Draft202012Validator.check_schema(form.schema())


@thorough
@given(forms.flatmap(lambda form: st.tuples(st.just(form), content_for(form))))
def test_our_verdict_is_that_of_the_reference_for_the_whole_and_for_each_field(case: tuple[Form, Any]) -> None:
    form, content = case
    problems = check(form, content)
    assert (not problems) == reference(form.schema()).is_valid(content), problems
    assert {problem.field for problem in problems} == refused_fields(form, content)


@quick
@given(forms, json_values)
def test_our_verdict_on_rubbish_is_that_of_the_reference(form: Form, content: Any) -> None:
    assert (not check(form, content)) == reference(form.schema()).is_valid(content)
