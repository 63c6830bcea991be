"""Every sentence that a user or a model may read, in one place.

Plain functions, so that a sentence and what goes into it are checked together. Nothing here
imports anything else of midcall. What a client of ours says to its user is in `wording.client`.
"""

from __future__ import annotations

from collections.abc import Sequence


# --- forms and answers -----------------------------------------------------------------------
def is_required() -> str:
    return "is required"


def must_be_an_object() -> str:
    return "the answer must be an object with one value for each field"


def must_be_text() -> str:
    return "must be text"


def must_be_a_number() -> str:
    return "must be a number"


def must_be_a_whole_number() -> str:
    return "must be a whole number"


def must_be_true_or_false() -> str:
    return "must be true or false"


def must_be_a_list() -> str:
    return "must be a list of choices"


def too_short(least: int) -> str:
    return "must not be empty" if least == 1 else f"must have at least {least} characters"


def too_long(most: int) -> str:
    return f"must have at most {most} {'character' if most == 1 else 'characters'}"


def too_small(least: float) -> str:
    return f"must be at least {least}"


def too_large(most: float) -> str:
    return f"must be at most {most}"


def not_like(pattern: str) -> str:
    return f"must match the pattern {pattern}"


def not_a(format: str) -> str:
    examples = {
        "email": "an email address such as name@example.com",
        "uri": "a full web address such as https://example.com",
        "date": "a date such as 2026-07-28",
        "date-time": "a date and time with its offset such as 2026-07-28T09:30:00Z",
    }
    return f"must be {examples[format]}"


def not_one_of(options: Sequence[str]) -> str:
    return f"must be one of: {listed(options)}"


def not_among(options: Sequence[str]) -> str:
    return f"must hold only these: {listed(options)}"


def too_few(least: int) -> str:
    return f"needs at least {least} {'choice' if least == 1 else 'choices'}"


def too_many(most: int) -> str:
    return f"takes at most {most} {'choice' if most == 1 else 'choices'}"


def listed(options: Sequence[str]) -> str:
    """The first options by name, and how many there are beyond: a country list is no sentence."""
    shown = ", ".join(options[:12])
    return shown if len(options) <= 12 else f"{shown} and {len(options) - 12} more"


def option(value: str, title: str | None) -> str:
    """An option as a user may type it, with its title where that tells more."""
    return value if title is None or title == value else f"{value} ({title})"


def type_your_choices(options: Sequence[str], least: int | None, most: int | None) -> str:
    """For clients that cannot show a multiple choice: it becomes a line of text."""
    bounds = [f"at least {least}" if least else "", f"at most {most}" if most is not None else ""]
    how_many = " and ".join(bound for bound in bounds if bound) or "any number"
    return f"Type {how_many} of these, separated by commas: {', '.join(options)}."


def default_is(shown: str) -> str:
    """For clients that cannot pre-fill a field."""
    return f"If left empty: {shown}."


def suggested(shown: str) -> str:
    """The same, for a field that may not be left empty."""
    return f"Suggested: {shown}."


def not_fitting(reason: str) -> str:
    """What a type's own validator said, as a sentence about the field."""
    for opening in ("Value error, ", "Assertion failed, "):
        reason = reason.removeprefix(opening)
    for subject in ("Input should ", "String should ", "Value should ", "List should ", "Set should ", "Tuple should "):
        if reason.startswith(subject):
            return f"must {reason.removeprefix(subject)}"
    return reason or "does not fit"


def secrets_in_form(names: Sequence[str]) -> str:
    which = "this field asks" if len(names) == 1 else "these fields ask"
    return f"{which} for a secret, and a form passes through the client and may pass through the model."


def secret_type_advice() -> str:
    return "Ask with secret() instead."


def secrets_advice() -> str:
    return 'Ask with secret() instead; if it is no secret, say why with not_secret="the reason".'


# --- questions (for the author) --------------------------------------------------------------
def empty_message() -> str:
    return "A question needs a message: one sentence that tells the user what is asked, and why."


def bad_key(key: str) -> str:
    return f"{key!r} cannot be a key: use 1 to 64 letters, digits and _ . : - and begin with a letter, digit or _."


def bad_timeout(timeout: float) -> str:
    return f"timeout={timeout!r} must be a positive number of seconds."


def bad_attempts(attempts: int) -> str:
    return f"attempts={attempts!r} must be 1 or more."


def bad_default(problems: list[str]) -> str:
    return f"default= does not fit the form: {'; '.join(problems)}."


def default_not_an_option() -> str:
    return "default= must be one of the options."


def unknown_channels(unknown: list[str], known: list[str]) -> str:
    return f"via= names no channel: {', '.join(unknown)}. The channels are {', '.join(known)}."


def bad_options(why: str) -> str:
    return f"These are not the options of a question: {why}."


def not_a_question(kind: str) -> str:
    return f"ask_all() takes Question(...) values, not {kind}."


def bad_address(why: str) -> str:
    return f"This URL cannot be visited: {why}."


def empty_visit_id() -> str:
    return "A visit's id must not be empty; leave it out to have one minted."


def duplicate_key(key: str) -> str:
    return f"The key {key!r} was used for another question of this call."


def duplicate_key_advice() -> str:
    return "Keys are unique within a call: leave key= out, or put a counter into it."


# --- replay (for the author, and for the model) ----------------------------------------------
def damaged_journal() -> str:
    return "The state of this call cannot be read."


def other_keys() -> str:
    return "The state of this call was kept by a server with other keys, and cannot be read here. Replicas share keys."


def unknown_journal_version(found: object, known: int) -> str:
    return f"The state of this call has version {found}; this midcall reads version {known} and the one before it."


def malformed_answer(why: str) -> str:
    return f"Malformed answer to a question: {why}."


def mistake(kind: str, called: object, place: str | None) -> str:
    """The beginning of a line in the log: what, in which tool, and where."""
    named = f" in {called!r}" if isinstance(called, str) else ""
    return f"{kind}{named}" if place is None else f"{kind}{named} ({place})"


def replay_mismatch(recorded: list[str], tried: str, effects: list[str]) -> str:
    past = f", past the effect {', '.join(map(repr, effects))}" if effects else ", and not for the first time"
    return (
        f"The tool did not go the way that was recorded{past}: "
        f"recorded was {', '.join(map(repr, recorded))}, met was {tried!r}."
    )


def replay_mismatch_advice() -> str:
    return (
        "A tool runs again on every round and must ask the same way each time. Put what changes between "
        "runs (time, random numbers, reads) into `once`, or give the question a key=."
    )


def model_start_again() -> str:
    return "This call could not be continued, and nothing more was done. Call the tool again from the start."


def suspend_advice() -> str:
    return (
        "The tool is unwound because a round of questions is leaving; it runs again with the answers. "
        "Let this exception pass: catch `Exception`, never everything."
    )


def swallowed_suspend() -> str:
    return (
        "A tool kept catching midcall's Suspend and was left where it stood. Its questions did leave. "
        "Replace the bare `except:` (or `except BaseException:`) around ask() with `except Exception:`."
    )


def too_many_rounds(limit: int) -> str:
    return f"This call needs more than {limit} rounds, and clients give up after that."


def too_many_rounds_advice() -> str:
    return "Ask together what belongs together: ask_all(...) puts many questions into one round."


def model_too_many_rounds() -> str:
    return (
        "This tool has to ask the user more often than one call allows, so it stopped. "
        "Its author can ask several things at once (ask_all)."
    )


def journal_too_large(size: int, limit: int) -> str:
    return f"The state of this call has grown to {size:,} bytes; at most {limit:,} travel with a request."


def journal_too_large_advice() -> str:
    return "Record less: let `once` return an id or a summary instead of the data itself."


def once_unknown(name: str) -> str:
    return f"once({name!r}) was begun before, and nobody knows whether it has ended"


def once_unknown_advice() -> str:
    return (
        "The process that ran it may have died. If the function is safe to repeat, use once.retry(...), or let it take "
        "`idempotency_key`."
    )


def empty_secret_name() -> str:
    return "a secret needs a name"


def reserved_secret_name(name: str) -> str:
    return (
        f"a secret cannot be called {name!r}: names that begin with oauth: are those of connected accounts. "
        "For an access token, use authorize()"
    )


def secret_not_right(name: str) -> str:
    return f"The secret {name!r} was entered, and its check did not accept it"


def please_authorize(title: str) -> str:
    return f"Please authorize access to {title}."


def unknown_provider(provider: str, known: Sequence[str]) -> str:
    names = ", ".join(map(repr, known)) or "none"
    return f"the portal has no provider {provider!r}; it has {names}. Name it in Portal(providers=[...])"


def no_token(provider: str) -> str:
    return f"{provider!r} was authorized, and there is no valid token"


def approval_used() -> str:
    return "This approval was taken before, or is not for these details"


def bad_details(why: str) -> str:
    return f"the details of an approval must be plain data: {why}"


def no_portal() -> str:
    return "no portal is installed"


def no_page(kind: str, why: str) -> str:
    return f"The user cannot be sent to a page for this {kind}: {why.rstrip('.')}."


def no_portal_advice() -> str:
    return "Use midcall.install(server, portal=Portal(...)); docs/portal.md tells what it needs."


def state_refused(ttl: float) -> str:
    minutes = f"{ttl / 60:g} minutes"
    return (
        "Invalid or expired requestState: this call can no longer be continued. States live for "
        f"{minutes} and belong to one user, one tool and its arguments. Call again from the start."
    )


# --- asking (for the author, and for the model) ----------------------------------------------
def no_call(verb: str) -> str:
    return f"{verb}() was used outside an MCP call."


def no_call_advice() -> str:
    return (
        "Use it in a tool, prompt or resource of a server that midcall.install(...) was called on, "
        "and in a task that the tool started."
    )


def asks_inside_once(verb: str) -> str:
    return f"{verb}() was used inside the function of a once(...). Ask first, and hand the answer to once()."


def not_awaited(verb: str) -> str:
    return f"{verb}(...) must be awaited: write `await {verb}(...)`."


def needs_from_thread(verb: str) -> str:
    return (
        f"{verb}() is async, and this is a thread. In a `def` tool import it from midcall.from_thread "
        f"(`from midcall.from_thread import {verb}`), or make the tool `async def`."
    )


def no_channel(reasons: dict[str, str]) -> str:
    channels_for: dict[str, list[str]] = {}  # several often lack the same
    for channel, reason in reasons.items():
        channels_for.setdefault(reason, []).append(channel)
    told = "; ".join(f"{', '.join(channels)}: {reason}" for reason, channels in channels_for.items())
    return f"The user cannot be asked. {told}."


def no_channel_advice(mode: str) -> str:
    what = "URLs (mode: url)" if mode == "url" else "forms"
    default = "" if mode == "url" else "give the question a default=, "
    return (
        f"For clients that cannot show {what}: install a portal, which reaches everyone from a tool by a link "
        f"(install(..., portal=Portal())), {default}or look with can_ask() first. Clients that can need stdio, "
        "stateful HTTP or protocol 2026-07-28. `midcall doctor` tells what this server lacks."
    )


def client_gone() -> str:
    return "The client went away while the user was asked."


def client_error(code: int, message: str) -> str:
    return f"The client answered the question with an error ({code}: {message})."


def client_error_advice() -> str:
    return "The user may not have seen the question. Treat it as not answered."


def waiting_for_user() -> str:
    return "Waiting for the user"


def ask_again(message: str, problems: list[tuple[str, str]]) -> str:
    told = "\n".join(f"- {label}: {text}" if label else f"- {text}" for label, text in problems)
    return f"{message}\n\nPlease correct:\n{told}"


def invalid_answer(attempts: int, problems: list[str]) -> str:
    times = "once" if attempts == 1 else f"{attempts} times"
    return f"The answer did not fit the form, asked {times}: {'; '.join(problems)}."


def declined() -> str:
    return "The user declined."


def cancelled() -> str:
    return "The user cancelled."


def timed_out(seconds: float | None) -> str:
    return "The user did not answer in time." if seconds is None else f"The user did not answer within {seconds:g} s."


def link_in_form(links: tuple[str, ...]) -> str:
    return (
        f"A form question contains a link ({', '.join(links)}). Users cannot tell where it leads: use visit() instead."
    )


def completion_not_sent() -> str:
    return "A visit is complete, but its client could not be told."


def visit_not_done() -> str:
    return "The visit was not completed in time."


def no_visits() -> str:
    return "UrlElicitationRequired needs at least one visit."


def visit_needs_id() -> str:
    return "Outside a call a visit needs an id of its own: Visit(message, url, id=...)."


def empty_effect_name() -> str:
    return "once() needs a name for its effect, such as 'charge'."


def result_not_recordable(name: str, kind: str) -> str:
    return f"once({name!r}) returned a {kind}, which JSON cannot hold as its annotation says."


def annotation_not_recordable(function: str, annotation: object) -> str:
    return f"The result of {function} cannot be recorded: its return annotation {annotation!r} has no JSON form."


def not_recordable_advice() -> str:
    return "Return plain data, a pydantic model, a dataclass or a TypedDict, and annotate it."


def model_declined() -> str:
    return (
        "The user declined to answer, so nothing was done. Do not ask again for the same thing; "
        "offer an alternative or ask the user how to go on."
    )


def model_cancelled() -> str:
    return (
        "The user closed the question without answering, so nothing was done. "
        "The tool can be called again later if the user still wants it."
    )


def model_timed_out() -> str:
    return "The user did not answer in time, so nothing was done. Call the tool again when the user is there."


def model_invalid_answer() -> str:
    return "The answers given did not fit the form, so nothing was done. Tell the user what is needed, and call again."


def model_cannot_ask() -> str:
    return (
        "This tool has to ask the user something, and this client has no way to show the question. "
        "Nothing was done. Tell the user, who can use another client."
    )


def model_visit_not_done() -> str:
    return "The user has not finished on the web page yet. Call the tool again when they say that they are done."


def model_broken() -> str:
    return "This tool failed because of a mistake in its own code. Nothing can be done about it from here."


def model_once_unknown(name: str) -> str:
    return (
        f"The step {name!r} of this tool was begun, and it is not known whether it was finished. "
        "Do not call the tool again before the user has checked."
    )


def model_secret_not_right(name: str) -> str:
    return (
        f"What the user entered for {name!r} was not accepted. Ask them to look for the right one before you try again."
    )


def model_no_token(provider: str) -> str:
    return f"The user has no valid authorization for {provider!r}. Call the tool again to ask for it."


def model_approval_used() -> str:
    return (
        "This approval was used before, and it is not known whether what was approved was done. "
        "Do not call the tool again before the user has checked."
    )


# --- going on later (for the model) -----------------------------------------------------------
def not_finished(why: str, tool: str, code: str) -> str:
    return (
        f"NOT FINISHED YET, and nothing is wrong. {why} When the user says that it is done, or after a while, "
        f'call the tool {tool} with {{"code": "{code}"}}: it goes on from here. Do not make the first call again. '
        "The code works once."
    )


def needs_a_page(pages: Sequence[tuple[str, str]]) -> str:
    asked = "\n".join(f"- {message}\n  {address}" for message, address in pages)
    one = len(pages) == 1
    return (
        f"The user has to {'do something' if one else 'do some things'} on a web page first. Show "
        f"{'this address' if one else 'these addresses'} to the user, whole and as it is, and say what it is for:\n"
        f"{asked}\nDo not open it, and do not answer in their place."
    )


def needs_visits(count: int) -> str:
    pages = "a web page" if count == 1 else f"{count} web pages"
    return f"The user has to do something on {pages} first. Then make this call again."


def needs_the_chat(message: str, schema: str) -> str:
    return (
        f"Ask the user in the chat: {message}\nTheir answer must fit this JSON Schema: {schema}\n"
        "Never make an answer up, and never choose for them."
    )


def answer_with(why: str, tool: str, code: str) -> str:
    return (
        f"NOT FINISHED YET, and nothing is wrong. {why}\nThen call the tool {tool} with "
        f'{{"code": "{code}", "action": "accept", "content": {{...}}}}, or with the action "decline" if they say no, '
        'or "cancel" if they do not want to decide. The code works once.'
    )


def answer_title() -> str:
    return "Hand over what the user answered"


def answer_description() -> str:
    return (
        "Hands over what the user said in the chat to a question of a tool, and goes on with its call. "
        "Only for a result that asks for it, and only with what the user really said."
    )


def answer_action() -> str:
    return "Whether the user answered (accept), said no (decline), or did not decide (cancel)"


def answer_content() -> str:
    return "What the user answered, by field, where the action is accept"


def waits_for_a_page() -> str:
    return "The user has not finished on the web page yet."


def waits_for_more_rounds() -> str:
    return "There is more to ask than one call allows."


def continue_title() -> str:
    return "Go on with a call that was not finished"


def continue_description() -> str:
    return (
        "Goes on with a call whose result said NOT FINISHED YET, from where it stopped. "
        "Takes the code that is in that result."
    )


def continue_code() -> str:
    return "The code from the result that said NOT FINISHED YET"


def unknown_code() -> str:
    return (
        "There is nothing to go on with under this code: it was used before, it is too old, or it belongs to somebody "
        "else. If the user still wants it, make the first call again."
    )


# --- installing (for the author) -------------------------------------------------------------
def not_a_server(kind: str) -> str:
    return f"install() takes an MCPServer, a low-level Server or a FastMCP server, not {kind}."


def installed_twice() -> str:
    return "midcall is installed on this server already. Call install() once per server."


def bad_keys(why: str) -> str:
    return f"These keys (keys=, or MIDCALL_KEYS) cannot be used: {why}"


def bad_keys_advice() -> str:
    return (
        "A key is a string of at least 32 characters of randomness; make one with "
        '`python -c "import secrets; print(secrets.token_hex(32))"`. Several, separated by commas in '
        "MIDCALL_KEYS, rotate: the first seals, all unseal."
    )


def keys_and_principal_need_boundary() -> str:
    return "This server has no request-state boundary that midcall knows."


def process_local_key() -> str:
    return (
        "midcall: as far as can be seen, this HTTP server seals the state of its calls with a key of this process "
        "alone. Calls that wait for an answer are lost on a restart and cannot move to another replica. Set "
        "MIDCALL_KEYS, or pass keys= to install(), also where the server has keys of its own."
    )


def bad_number(name: str, value: object) -> str:
    told = {"doubt": "0 or more seconds", "max_rounds": "a whole number from 1 on, or None"}
    return f"{name}={value!r} must be {told.get(name, 'more than 0 seconds')}."


def bad_portal(kind: str) -> str:
    return f"portal= must be a Portal, not {kind}: install(server, portal=Portal(...))."


def bad_store(kind: str) -> str:
    return f"store= must be a URL such as sqlite:///path, or a store, not {kind}."


def bad_principal(kind: str) -> str:
    return f"principal= must be a function that takes the request's context and names the user, not {kind}."


def not_a_message(kind: str) -> str:
    return f"A question begins with its message, a text, and not with {kind}: ask('How many days?', int)."


def not_a_function(kind: str) -> str:
    return f"once() takes a function and its arguments, and not {kind}: once('charge', charge, amount)."


def unknown_mode(mode: object) -> str:
    return f"There is no mode {mode!r}: can_ask() takes 'form', 'url' or none."


def relay_needs_store() -> str:
    return "relay=True needs a store: install(server, relay=True, store='sqlite://')."


def ambiguous_options() -> str:
    return "Two of these options read the same. Options must differ as text."


def only_in_thread(verb: str) -> str:
    return f"midcall.from_thread.{verb}() blocks, and this is the event loop. Here: `await midcall.{verb}(...)`."


# --- the App (for hosts, models and users) ----------------------------------------------------
def app_title() -> str:
    return "A question to the user"


def app_description() -> str:
    return "Shows what a tool of this server asks the user in the middle of its work, and takes the answer."


def app_tool_title() -> str:
    return "Take an answer from the form"


def app_tool_description() -> str:
    return "For the form that this server shows. It takes what the user fills in there, and is of no use to a model."


def app_tool_said(state: str) -> str:
    said = {
        "asking": "There is a question to the user.",
        "waiting": "There is no question yet.",
        "done": "The question is answered.",
        "late": "The question can no longer be answered.",
    }
    return said.get(state, "There is no such question.")


def needs_an_app(messages: Sequence[str]) -> str:
    asked = "\n".join(f"- {message}" for message in messages)
    return (
        f"The user has to fill in a form first. It is shown to them with this result, and asks:\n{asked}\n"
        "Tell the user to look at it. Do not answer in their place, and do not ask the same in the chat."
    )


def app_says(code: str) -> str:
    return f'I am done with the form. Please go on: call midcall_continue with {{"code": "{code}"}}.'
