from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

import pytest
from pydantic import EmailStr, Field
from typing_extensions import TypedDict

from midcall.core.adopted import AdoptedQuestion
from midcall.core.forms.fields import Choice, Choices, Flag, Number, Text
from midcall.core.forms.form import Form
from midcall.core.forms.secrets import message_asks_for_secret, refuse_secrets, secret_fields
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


class Word(TypedDict):
    word: str


SECRET_MESSAGES = [
    *("OpenAI API key?", "Your password:", "Password", "password?", "New password?", "Confirm password", "API keys?"),
    *("What is your password?", "What's the password?", "What\u2019s your API key?", "Enter your GitHub token"),
    *("Paste the client secret", "Please enter the password for example.com", "Type your passphrase.", "Your PIN?"),
    *("Give me the access token", "Provide an API key!", "enter your one-time code", "Paste the token from GitHub"),
    *("  Your password?\nI need it to sign in.", "What is your password? I need it to sign in.", "github_token?"),
    *("Your password, please", "Enter your password (8 characters or more)", 'Password for "example.com"?'),
    *("Paste your accessToken here", "Client secret of the app?", "Votre mot de passe ?", "Your card number?"),
    *("What is the secret?", "ENTER YOUR PASSWORD", "Enter user name and password", "Social Security Number?"),
]
HARMLESS_MESSAGES = [
    *("Which API key name should I use?", "How many tokens?", "What is the key of this song?", "Public key?"),
    *("Name of the secret to rotate?", "Password policy?", "What is the secret of your success?"),
    *("What is your favourite token ring?", "Which password?", "Which API key?", "Reset password?", "SSO or password?"),
    *("Passkey, SSO, password?", "Passkey/password?", "What is an API key?", "Type of secret?", "Is it secret?"),
    *("What is the name of your secret?", "What is the stop token?", "Next page token?", "What is the public key?"),
    *("Which of these did you mean?\nYour password", 'Rename "password"?', "What is the `token`?", "Say 'password'"),
    *("Reset password: which category?", "Password: keep or reset?", "How should I store the API key?", "Drop a pin?"),
    *(
        "What is the title of the letter about your password?",
        "Ring bearer?",
        "Pay by credit card?",
        "?",
        "...",
        "名前?",
    ),
    *(
        "A good title for the article about your password?",
        "Token?ring",
        "Enter your password hint",
        "a secret question?",
    ),
]


@pytest.mark.parametrize("message", SECRET_MESSAGES)
@pytest.mark.parametrize("type", [str, str | None, Annotated[str, Field(min_length=8)]])
def test_a_bare_text_whose_message_asks_for_a_secret_is_refused(message: str, type: Any) -> None:
    with pytest.raises(SecretInForm, match=r"for a secret.*secret\(\).*not_secret="):
        Question(message, type)


@pytest.mark.parametrize("message", HARMLESS_MESSAGES)
def test_a_message_that_only_mentions_a_secret_is_let_through(message: str) -> None:
    Question(message, str)


@pytest.mark.parametrize("message", SECRET_MESSAGES)
def test_a_reason_lets_a_message_through(message: str) -> None:
    Question(message, str, not_secret="a word in a party game")


@pytest.mark.parametrize("type", [int, bool, date, EmailStr, Literal["a", "b"], Form(Text("word")), Word])
def test_the_message_counts_only_if_nothing_else_says_what_the_text_is(type: Any) -> None:
    Question("Your password?", type)


def test_a_form_that_the_sdk_sends_is_not_judged_by_its_message() -> None:
    schema = {"type": "object", "properties": {"answer": {"type": "string"}}}
    assert AdoptedQuestion({"message": "Your password?", "requestedSchema": schema}).secrets == ()


def test_only_the_beginning_of_a_long_message_is_read() -> None:
    assert message_asks_for_secret("Enter your password")
    assert not message_asks_for_secret(f"Enter {'really ' * 100}your password")


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
