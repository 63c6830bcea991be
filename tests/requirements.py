"""Which tests show which promise of `docs/promises.md`.

A promise that is not built yet is `PLANNED`. `tests/test_requirements.py` holds the two together.
"""

from __future__ import annotations

from typing import Final

PLANNED: Final[tuple[str, ...]] = ()

ASKING = "tests/server/test_asking.py::"
REPLAY = "tests/server/test_replay.py::"
VISITS = "tests/server/test_visits.py::"
ADOPTION = "tests/server/test_adoption.py::"
MESSY = "tests/server/test_messy_tools.py::"
PROCESSES = "tests/server/test_processes.py::"
MACHINE = "tests/core/test_replay_machine.py::"
JOURNAL = "tests/core/test_journal.py::"
FORM = "tests/core/test_form.py::"
FIELDS = "tests/core/test_fields.py::"
TYPES = "tests/core/test_from_types.py::"
CHECK = "tests/core/test_check.py::"
AGREES = "tests/core/test_check_agrees_with_jsonschema.py::"
SECRETS = "tests/core/test_secrets.py::"
LINKS = "tests/core/test_links.py::"

SHOWN_BY: Final[dict[str, tuple[str, ...]]] = {
    "ASK-1": (
        ASKING + "test_a_client_that_declared_no_forms_is_never_sent_one",
        ASKING + "test_an_empty_elicitation_capability_means_forms_only",
        ASKING + "test_can_ask_tells_how_a_client_can_be_reached",
        VISITS + "test_a_client_without_url_mode_is_never_sent_one",
    ),
    "ASK-2": (
        PROCESSES + "test_a_question_is_pushed_on_the_stream_of_the_request_that_asks",
        ASKING + "test_on_the_newest_version_nothing_is_pushed_and_the_result_has_requests_and_state",
    ),
    "ASK-3": (
        ASKING + "test_prompts_and_resource_templates_ask_too",
        ASKING + "test_listing_never_asks",
        ASKING + "test_on_the_newest_version_nothing_is_pushed_and_the_result_has_requests_and_state",
        VISITS + "test_a_visit_that_takes_more_than_one_hold_goes_on_in_the_next_round",
    ),
    "ASK-4": (ASKING + "test_keys_are_unique_within_a_call_and_stable_over_replays",),
    "ASK-5": (ASKING + "test_accept_decline_and_cancel_reach_the_tool_as_three_things",),
    "ASK-6": (
        ASKING + "test_an_answer_that_does_not_fit_is_asked_again_with_the_problem_named",
        ASKING + "test_after_the_last_attempt_it_fails_with_a_clear_error",
    ),
    "ASK-7": (ASKING + "test_missing_answers_are_asked_again_and_extra_ones_ignored",),
    "ASK-8": (
        ASKING + "test_a_malformed_answer_is_a_protocol_error",
        ASKING + "test_reject_is_read_as_decline_and_content_counts_only_on_accept",
        MACHINE + "test_rubbish_is_no_answer",
        PROCESSES + "test_a_malformed_answer_to_a_push_is_a_protocol_error",
    ),
    "ASK-9": (
        ASKING + "test_outside_a_call_every_verb_says_so_at_once",
        ASKING + "test_complete_alone_works_outside_a_call",
    ),
    "ASK-10": (
        ASKING + "test_a_timeout_ends_the_question_and_tells_the_client",
        ASKING + "test_in_rounds_an_answer_that_comes_too_late_is_a_timeout",
        ASKING + "test_cancelling_the_call_cancels_its_pending_question",
    ),
    "ASK-11": (
        ASKING + "test_ask_all_leaves_in_one_round_and_gives_a_tuple_or_a_dict",
        ASKING + "test_branches_that_await_nothing_else_share_one_round",
    ),
    "ASK-12": (
        ASKING + "test_a_form_that_asks_for_a_secret_is_refused_before_anything_is_sent",
        ASKING + "test_a_reason_lets_a_field_that_is_only_named_like_a_secret_pass",
        ADOPTION + "test_adopted_forms_may_not_ask_for_secrets_either",
        SECRETS + "test_a_field_that_is_called_like_a_secret_is_found",
        SECRETS + "test_a_field_whose_name_only_looks_like_a_secret_is_let_through",
        SECRETS + "test_a_form_with_a_secret_is_refused_with_the_fields_the_verb_and_the_override",
        TYPES + "test_a_secret_type_is_refused_with_the_verb_that_takes_it",
    ),
    "ASK-13": (
        ASKING + "test_a_link_in_a_form_is_warned_about_and_refused_in_strict_mode",
        LINKS + "test_what_a_client_may_make_clickable_is_found",
        LINKS + "test_a_form_gives_every_text_that_a_client_shows",
    ),
    "ASK-14": (
        ASKING + "test_while_a_push_waits_progress_goes_out_if_the_caller_wants_it",
        ASKING + "test_without_a_progress_token_no_progress_is_sent",
    ),
    "FORM-1": (
        FORM + "test_the_schema_has_every_field_in_full",
        FORM + "test_the_sdk_takes_every_property_on_every_version",
        FORM + "test_a_form_survives_the_way_through_its_schema",
    ),
    "FORM-2": (
        FORM + "test_a_raw_schema_is_refused_with_the_path_of_what_mcp_does_not_know",
        TYPES + "test_what_cannot_be_asked_is_refused_with_its_path_and_what_to_do",
        FIELDS + "test_what_cannot_be_asked_is_refused_at_once_with_the_name_of_the_field",
        ASKING + "test_a_question_that_cannot_be_asked_is_refused_when_it_is_made",
    ),
    "FORM-3": (
        FORM + "test_an_old_version_gets_only_what_it_can_show_and_the_rest_in_words",
        FORM + "test_a_lowered_form_holds_nothing_that_2025_06_18_does_not_know",
        FORM + "test_what_an_old_client_types_is_lifted_to_what_a_new_one_sends",
        FORM + "test_what_could_not_be_sent_is_still_enforced",
    ),
    "FORM-4": (
        TYPES + "test_a_bare_type_is_one_field_and_is_read_as_its_bare_value",
        TYPES + "test_a_type_that_may_be_none_is_an_optional_field_and_none_when_left_out",
        TYPES + "test_annotated_constraints_reach_the_field",
        TYPES + "test_a_container_becomes_a_form_with_its_fields_in_order",
        TYPES + "test_a_full_answer_is_read_as_the_type",
    ),
    "FORM-5": (
        CHECK + "test_each_problem_is_a_code_and_a_sentence_for_the_user",
        CHECK + "test_all_problems_are_told_in_the_order_of_the_fields",
        ASKING + "test_an_answer_that_does_not_fit_is_asked_again_with_the_problem_named",
    ),
    "FORM-6": (
        AGREES + "test_our_verdict_is_that_of_the_reference_for_the_whole_and_for_each_field",
        AGREES + "test_our_verdict_on_rubbish_is_that_of_the_reference",
    ),
    "FORM-7": (
        CHECK + "test_tidying_drops_nulls_and_what_was_not_asked",
        CHECK + "test_tidying_drops_an_empty_text_where_it_can_only_mean_left_empty",
        CHECK + "test_filling_applies_the_defaults_of_omitted_fields_in_the_order_of_the_form",
        TYPES + "test_what_was_left_out_gets_its_default",
    ),
    "FORM-8": (
        FIELDS + "test_the_label_is_the_title_else_the_name",
        FORM + "test_fields_keep_their_order",
        FORM + "test_two_fields_of_one_name_are_refused",
    ),
    "RPL-1": (
        MESSY + "test_a_messy_tool_works_on_every_version",
        MESSY + "test_a_messy_tool_works_when_every_round_brings_one_answer",
        MACHINE + "test_a_program_gives_each_step_its_own_answer_however_often_it_is_cut",
    ),
    "RPL-2": (
        REPLAY + "test_the_state_is_sealed_on_every_kind_of_server",
        REPLAY + "test_a_state_belongs_to_one_tool_and_its_arguments",
        REPLAY + "test_a_state_belongs_to_one_user",
        REPLAY + "test_a_state_that_has_outlived_its_time_is_refused_with_advice",
    ),
    "RPL-3": (
        REPLAY + "test_answers_stay_with_their_question_whatever_order_branches_wake_in",
        REPLAY + "test_code_that_changes_its_message_every_run_is_a_mismatch",
        REPLAY + "test_code_that_took_another_way_once_is_simply_asked",
        REPLAY + "test_code_that_went_past_a_recorded_effect_is_a_mismatch",
        MACHINE + "test_the_order_in_which_distinct_questions_are_met_does_not_matter",
    ),
    "RPL-4": (
        REPLAY + "test_once_runs_its_function_once_and_gives_its_type_back",
        REPLAY + "test_an_effect_that_is_running_when_a_round_leaves_is_awaited_and_recorded",
    ),
    "RPL-5": (
        REPLAY + "test_with_a_shared_key_another_replica_goes_on",
        PROCESSES + "test_a_call_goes_on_in_another_process_after_the_first_has_died",
    ),
    "RPL-6": (REPLAY + "test_a_call_never_runs_into_a_stock_clients_cap",),
    "RPL-7": (
        REPLAY + "test_a_journal_of_another_version_is_refused",
        REPLAY + "test_a_journal_of_the_version_before_is_read",
        JOURNAL + "test_another_version_is_refused_and_named",
    ),
    "RPL-8": (REPLAY + "test_suspending_leaves_no_error_span_no_error_log_and_no_warning",),
    "RPL-9": (
        REPLAY + "test_suspending_runs_cleanup_and_says_so",
        REPLAY + "test_siblings_that_are_still_working_are_ended_too",
        REPLAY + "test_a_loop_around_a_bare_except_does_not_hang",
        MESSY + "test_a_messy_tool_works_on_every_version",
    ),
    "RPL-10": (REPLAY + "test_an_effect_that_is_running_when_a_round_leaves_is_awaited_and_recorded",),
    "RPL-11": (
        REPLAY + "test_recorded_outcomes_cannot_be_overwritten_by_the_client",
        REPLAY + "test_answers_to_what_was_not_asked_change_nothing",
        REPLAY + "test_the_state_is_sealed_on_every_kind_of_server",
        MACHINE + "test_only_what_waits_takes_an_answer",
    ),
    "RPL-12": (
        ADOPTION + "test_resolve_parameters_keep_working",
        ADOPTION + "test_resolve_parameters_and_ask_work_in_one_call",
        ADOPTION + "test_hand_written_rounds_keep_working_also_beside_ask",
        ADOPTION + "test_a_state_that_is_not_ours_passes_through_untouched",
        ADOPTION + "test_a_proxied_server_asks_through_a_proxy_that_has_midcall",
    ),
    "RPL-13": (
        ADOPTION + "test_ctx_elicit_works_on_every_version",
        ADOPTION + "test_ctx_elicit_url_works_on_every_version_that_has_urls",
        ADOPTION + "test_fastmcps_ctx_elicit_works_on_every_version",
    ),
    "RPL-14": (ASKING + "test_replayed_code_reports_no_progress_again",),
    "URL-1": (
        VISITS + "test_a_visit_returns_its_id_at_consent",
        VISITS + "test_a_url_that_is_not_fit_to_be_visited_is_refused",
        VISITS + "test_https_and_loopback_may_be_visited",
    ),
    "URL-2": (VISITS + "test_accepting_is_consent_and_not_completion",),
    "URL-3": PLANNED,
    "URL-4": (
        VISITS + "test_where_the_version_has_it_the_error_reaches_the_client",
        VISITS + "test_a_client_that_cannot_visit_is_not_sent_the_error",
        VISITS + "test_required_needs_at_least_one_visit_with_an_id",
    ),
    "URL-5": (VISITS + "test_a_url_that_is_not_fit_to_be_visited_is_refused",),
    "URL-6": PLANNED,
    **{f"CLI-{number}": PLANNED for number in range(1, 15)},
    **{f"PRT-{number}": PLANNED for number in range(1, 19)},
    **{f"RCH-{number}": PLANNED for number in range(1, 6)},
}
