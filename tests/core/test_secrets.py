from __future__ import annotations

from typing import Any

import pytest

from midcall.core.forms.fields import Choice, Choices, Flag, Number, Text
from midcall.core.forms.form import Form
from midcall.core.forms.secrets import refuse_secrets, secret_fields
from midcall.core.question import Question
from midcall.errors import InvalidForm, InvalidQuestion, SecretInForm

SECRETS = [
    *("password", "Password", "userPassword", "user-password", "password1", "old_password", "DB_PASSWORD", "passwd"),
    *(
        "pwd",
        "passphrase",
        "passcode",
        "Passwort",
        "mot de passe",
        "contraseña",
        "Your password (8 characters or more)",
    ),
    *("secret", "client_secret", "clientSecret", "secretKey", "secret_id", "credentials"),
    *("api_key", "apiKey", "APIKey", "apikey", "API keys", "OpenAI API key", "private_key", "privatekey", "ssh_key"),
    *("token", "access_token", "accessToken", "accesstoken", "oauth2Token", "github_token", "bearer", "refresh tokens"),
    *("Your access token, please", "Paste the token from GitHub", "token_value"),
    *(
        "card_number",
        "cardNumber",
        "cardnumber",
        "credit card",
        "cvv",
        "CVC2",
        "pin",
        "card-pin",
        "PIN code",
        "pin number",
    ),
    *("otp", "2fa_code", "one-time code", "verification_code", "seed phrase", "ssn", "Social Security Number"),
]
HARMLESS = [
    *("max_tokens", "maxTokens", "token_count", "tokens", "token limit", "max_token", "next_page_token", "stop token"),
    *(
        "tokenizer",
        "token_symbol",
        "keyboard",
        "key",
        "monkey",
        "public_key",
        "ssh public key",
        "primary key",
        "keynote",
    ),
    *("secretary", "secretly", "password_length", "passwordPolicy", "api_key_name", "access key id", "token_type"),
    *("passenger", "passport", "compass", "spin", "pinned", "opinion", "pincode", "card", "postcard", "discard number"),
    *(
        "iban",
        "account number",
        "author",
        "authority",
        "country code",
        "post code",
        "number of cards",
        "name",
        "a",
        "名前",
    ),
]


@pytest.mark.parametrize("name", SECRETS)
def test_a_field_that_is_called_like_a_secret_is_found(name: str) -> None:
    assert secret_fields(Form(Text(name))) == (name,)
    assert secret_fields(Form(Text("x", title=name))) == ("x",)


@pytest.mark.parametrize("name", HARMLESS)
def test_a_field_whose_name_only_looks_like_a_secret_is_let_through(name: str) -> None:
    assert secret_fields(Form(Text(name))) == ()
    assert secret_fields(Form(Text("x", title=name))) == ()


def test_a_number_can_be_a_secret_too() -> None:
    assert secret_fields(Form(Number("pin"), Number("age"), Number("cvv"))) == ("pin", "cvv")


def test_a_yes_or_no_and_a_choice_hold_nothing_that_the_author_does_not_know() -> None:
    form = Form(Flag("reset_password"), Choice("token", ["a"]), Choices("secrets", ["a"]))
    assert secret_fields(form) == ()


def test_a_form_with_a_secret_is_refused_with_the_fields_the_verb_and_the_override() -> None:
    form = Form(Text("name"), Text("password", default="hunter2"), Text("k", title="API key"))
    with pytest.raises(SecretInForm) as refused:
        refuse_secrets(form, None)
    said = str(refused.value)
    assert said.startswith("password, k: these fields ask for a secret")
    assert "secret()" in said
    assert 'not_secret="' in said
    assert "hunter2" not in said
    assert isinstance(refused.value, InvalidForm)


def test_a_reason_lets_a_form_through_and_an_empty_one_does_not() -> None:
    form = Form(Text("pin", title="Which pin of the chip?"))
    refuse_secrets(form, "it is a pin of a chip")
    for no_reason in ("", "  ", None):
        with pytest.raises(SecretInForm):
            refuse_secrets(form, no_reason)


@pytest.mark.parametrize("fields", [[Text("password")], [Text("name")]])
@pytest.mark.parametrize("reason", [True, 1, ["password"]])
def test_a_reason_is_a_text_in_every_form(reason: Any, fields: list[Text]) -> None:
    with pytest.raises(InvalidQuestion, match="must be the reason, as text"):
        Question("Which?", Form(*fields), not_secret=reason)


def test_a_form_without_a_secret_needs_no_reason() -> None:
    refuse_secrets(Form(Text("name")), None)
