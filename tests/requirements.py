"""Maps each promise of `docs/promises.md` to its tests.

A promise that isn't built yet is `PLANNED`. `tests/test_requirements.py` keeps both in sync.
"""

from __future__ import annotations

from typing import Final

PLANNED: Final[tuple[str, ...]] = ()

PEERS = "tests/client/connection/test_url_required_peers.py::"
RATES = "tests/client/guard/test_rates.py::"
BUSY = "tests/client/connection/test_busy.py::"
OLDER = "tests/client/connection/test_older.py::"
ASKING = "tests/server/verbs/test_asking.py::"
ANSWERS = "tests/server/verbs/test_wrong_answers.py::"
PLACES = "tests/server/verbs/test_out_of_place.py::"
TIMEOUTS = "tests/server/running/test_timeouts.py::"
REFUSED = "tests/server/verbs/test_refused.py::"
REPLAY = "tests/server/running/test_replay.py::"
LIVE = "tests/server/running/test_live.py::"
SHARED = "tests/server/running/test_shared_store.py::"
ONCE_ONLY = "tests/server/running/test_continue_once.py::"
INSTEAD = "tests/server/running/test_replayed_instead.py::"
EVICTION = "tests/server/running/test_eviction.py::"
FOLLOWING = "tests/server/running/test_following.py::"
VARIABLES = "tests/server/running/test_context_variables.py::"
OVER_HTTP = "tests/server/running/test_over_http.py::"
CANCELLING = "tests/server/running/test_cancelling.py::"
HANDOVER = "tests/server/running/test_handover.py::"
DECIDING = "tests/server/running/test_deciding.py::"
LEFT = "tests/server/running/test_only_what_left.py::"
FASTMCP_VERSION = "tests/server/frameworks/test_fastmcp_version.py::"
ENDING = "tests/server/running/test_ending.py::"
LIVE_THREADS = "tests/server/running/test_threads_live.py::"
LIVE_GROUPS = "tests/server/running/test_groups_live.py::"
LIMITS = "tests/server/running/test_time_limits.py::"
OPEN = "tests/server/running/test_open_questions.py::"
CODES = "tests/server/running/test_resume_codes.py::"
BY_HAND = "tests/server/running/test_rounds_by_hand.py::"
SAMPLING = "tests/server/running/test_sampling_and_roots.py::"
SPANS = "tests/server/running/test_spans.py::"
CLOSED = "tests/server/frameworks/test_fail_closed.py::"
SEALING = "tests/server/resuming/test_sealing.py::"
SESSION = "tests/server/frameworks/test_session.py::"
ONE_PAGE = "tests/server/channels/test_one_page.py::"
WAITING = "tests/server/resuming/test_waiting_codes.py::"
APP_CODES = "tests/server/channels/test_app_codes.py::"
STRANGERS = "tests/strangers/test_strangers.py::"
VISITS = "tests/server/resuming/test_visits.py::"
ADOPTION = "tests/server/frameworks/test_adoption.py::"
ADOPTED_QUESTIONS = "tests/server/frameworks/test_adopted_questions.py::"
ADOPTED_ANSWERS = "tests/server/frameworks/test_adopted_answers.py::"
PROGRAMS = "tests/server/running/test_random_programs.py::"
MESSY = "tests/server/running/test_messy_tools.py::"
PROCESSES = "tests/server/test_processes.py::"
PUSHED = "tests/server/channels/test_pushed_branches.py::"
MACHINE = "tests/core/test_replay_machine.py::"
JOURNAL = "tests/core/test_journal.py::"
NAMES = "tests/server/once/test_journal_names.py::"
FORM = "tests/core/forms/test_form.py::"
FIELDS = "tests/core/forms/test_fields.py::"
TYPES = "tests/core/types/test_from_types.py::"
CHECK = "tests/core/forms/test_check.py::"
AGREES = "tests/core/forms/test_check_agrees_with_jsonschema.py::"
SECRETS = "tests/core/forms/test_secrets.py::"
LINKS = "tests/core/forms/test_links.py::"
GO_CLIENTS = "tests/peers/test_go_clients.py::"
PAGE_CLIENTS = "tests/peers/test_page_clients.py::"
ANSWERER = "tests/client/test_answerer.py::"
CONNECT = "tests/client/connection/test_connect.py::"
ATTACH = "tests/client/connection/test_attach.py::"
REQUIRED = "tests/client/connection/test_url_required.py::"
CONSENT = "tests/client/urls/test_urls.py::"
PLAIN = "tests/client/test_plain.py::"
LINES = "tests/client/lines/test_lines.py::"
TYPED = "tests/core/forms/test_line_input.py::"
TERMINAL = "tests/client/terminal/test_forms.py::"
GUIDES = "tests/peers/test_guides.py::"
FLOWS = "tests/client/terminal/test_flow.py::"
SERVER_LOG = "tests/client/transport/test_server_log.py::"
HOSTILE = "tests/client/test_hostile.py::"
HOSTILE_TERMINAL = "tests/client/test_hostile_terminal.py::"
HOSTILE_PAGE = "tests/client/test_hostile_page.py::"
TERMINAL_GONE = "tests/client/terminal/test_stage.py::"
TERMINAL_CALLS = "tests/client/terminal/test_end_to_end.py::"
TMUX = "tests/client/terminal/test_tmux.py::"
PAGE = "tests/client/browser/test_site.py::"
CHROMIUM = "tests/client/browser/test_chromium.py::"
PENDING = "tests/client/test_pending.py::"
SCRIPT = "tests/client/automatic/test_script.py::"
HEADLESS = "tests/client/automatic/test_headless.py::"
GUARD = "tests/client/guard/test_guard.py::"
DRAW = "tests/web/test_forms.py::"
CALL = "tests/cli/test_call.py::"
STORE = "tests/server/resuming/test_store.py::"
INSTALLING = "tests/server/test_install.py::"
COMPLETION = "tests/server/channels/test_completion.py::"
DOUBLE_CLICKS = "tests/portal/pages/test_double_clicks.py::"
PAGES_OF_TOOLS = "tests/server/verbs/test_out_of_band.py::"
UNSEEN = "tests/server/test_unseen.py::"
CONTRACT = "tests/contract/test_contract.py::"
RACES = "tests/contract/test_processes.py::"
REPLICAS = "tests/chaos/test_replicas.py::"
EIGHT = "tests/chaos/test_double_submit.py::"
SCANNING = "tests/test_scanning.py::"
PORTAL = "tests/portal/pages/test_pages.py::"
ATTACKS = "tests/portal/test_attacks.py::"
IDENTITY = "tests/portal/identity/test_identity.py::"
LOOPBACK = "tests/portal/identity/test_loopback.py::"
SETTINGS = "tests/portal/test_settings.py::"
ACCOUNT = "tests/portal/pages/test_account.py::"
VAULT = "tests/portal/test_vault.py::"
OAUTH = "tests/portal/oauth/test_oauth.py::"
OAUTH_ATTACKS = "tests/portal/oauth/test_oauth_attacks.py::"
HOSTILE_ISSUERS = "tests/portal/identity/test_hostile_issuers.py::"
CONNECTING = "tests/portal/pages/test_authorize.py::"
PORTAL_CHROMIUM = "tests/portal/pages/test_chromium.py::"
EXAMPLES = "tests/portal/test_examples.py::"
OPERATORS = "tests/cli/test_vault.py::"
REACH = "tests/server/channels/test_reach.py::"
HOSTS = "tests/server/channels/test_hosts.py::"
SENT_AWAY = "tests/server/channels/test_required.py::"
RELAY = "tests/server/channels/test_relay.py::"
PAGES_EACH = "tests/server/channels/test_pages.py::"
APPS = "tests/server/channels/test_apps.py::"
DOCTOR = "tests/doctor/test_checks.py::"
EVERYWHERE = "tests/peers/test_everywhere.py::"

SHOWN_BY: Final[dict[str, tuple[str, ...]]] = {
    "ASK-1": (
        ASKING + "test_a_client_that_declared_no_forms_is_never_sent_one",
        ASKING + "test_an_empty_elicitation_capability_means_forms_only",
        ASKING + "test_can_ask_returns_how_a_client_can_be_reached",
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
        VISITS + "test_a_visit_that_takes_more_than_one_hold_continues_in_the_next_round",
    ),
    "ASK-4": (ASKING + "test_keys_are_unique_within_a_call_and_stable_over_replays",),
    "ASK-5": (ASKING + "test_accept_decline_and_cancel_reach_the_tool_as_three_things",),
    "ASK-6": (
        ANSWERS + "test_an_answer_that_does_not_fit_is_asked_again_with_the_problem_named",
        ANSWERS + "test_after_the_last_attempt_it_fails_with_a_clear_error",
        ADOPTED_ANSWERS + "test_a_wrong_answer_fails_as_it_fails_in_the_sdk",
    ),
    "ASK-7": (
        ANSWERS + "test_missing_answers_are_asked_again_and_extra_ones_ignored",
        OPEN + "test_only_what_was_not_answered_is_asked_again",
        OPEN + "test_a_branch_that_asks_between_two_rounds_joins_the_next_one",
    ),
    "ASK-8": (
        ANSWERS + "test_a_malformed_answer_is_a_protocol_error",
        ANSWERS + "test_reject_is_read_as_decline_and_content_counts_only_on_accept",
        MACHINE + "test_rubbish_is_not_an_answer",
        PROCESSES + "test_a_malformed_answer_to_a_push_is_a_protocol_error",
    ),
    "ASK-9": (
        PLACES + "test_outside_a_call_every_verb_raises_at_once",
        PLACES + "test_complete_alone_works_outside_a_call",
    ),
    "ASK-10": (
        TIMEOUTS + "test_a_timeout_ends_the_question_and_notifies_the_client",
        TIMEOUTS + "test_in_rounds_an_answer_that_comes_too_late_is_a_timeout",
        LIMITS + "test_the_timeout_of_a_question_is_a_timer",
        LIMITS + "test_a_timeout_around_a_question_expires_between_two_rounds",
        LIMITS + "test_wait_for_around_a_question_expires_between_two_rounds",
        LIMITS + "test_a_cancel_scope_around_a_question_expires_and_the_tool_asks_something_else",
        TIMEOUTS + "test_cancelling_the_call_cancels_its_pending_question",
        PUSHED + "test_cancelling_a_call_closes_the_forms_that_it_has_gathered",
        PUSHED + "test_a_call_that_ends_takes_back_what_its_branches_still_ask",
    ),
    "ASK-11": (
        ASKING + "test_ask_all_leaves_in_one_round_and_gives_a_tuple_or_a_dict",
        ASKING + "test_branches_that_await_nothing_else_share_one_round",
    ),
    "ASK-12": (
        REFUSED + "test_a_form_that_asks_for_a_secret_is_refused_before_anything_is_sent",
        REFUSED + "test_a_reason_lets_a_field_that_is_only_named_like_a_secret_pass",
        ADOPTED_QUESTIONS + "test_a_form_that_names_a_secret_still_works_and_is_warned_about_once",
        ADOPTED_QUESTIONS + "test_a_strict_server_refuses_a_form_that_names_a_secret",
        SECRETS + "test_a_field_that_is_called_like_a_secret_is_found",
        SECRETS + "test_a_field_whose_name_only_looks_like_a_secret_is_let_through",
        SECRETS + "test_a_form_with_a_secret_is_refused_with_the_fields_the_verb_and_the_override",
        TYPES + "test_a_secret_type_is_refused_with_the_verb_that_takes_it",
    ),
    "ASK-13": (
        REFUSED + "test_a_link_in_a_form_is_warned_about_and_refused_in_strict_mode",
        LINKS + "test_what_a_client_may_make_clickable_is_found",
        LINKS + "test_a_form_gives_every_text_that_a_client_shows",
    ),
    "ASK-14": (
        TIMEOUTS + "test_while_a_push_waits_progress_goes_out_if_the_caller_wants_it",
        TIMEOUTS + "test_without_a_progress_token_no_progress_is_sent",
        SESSION + "test_progress_that_the_tool_reports_reaches_the_caller_whole",
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
        REFUSED + "test_a_question_that_cannot_be_asked_is_refused_when_it_is_made",
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
        CHECK + "test_all_problems_are_reported_in_the_order_of_the_fields",
        ANSWERS + "test_an_answer_that_does_not_fit_is_asked_again_with_the_problem_named",
        LINES + "test_an_invalid_line_is_reported_at_once_and_asked_again",
        TERMINAL + "test_what_does_not_fit_is_not_sent_and_the_field_says_why",
        TERMINAL + "test_what_a_draft_says_of_one_field_is_what_the_check_says",
        DRAW + "test_the_problems_on_the_page_are_those_of_check_word_for_word",
        DRAW + "test_any_posted_data_can_be_read_and_validated",
        PAGE + "test_what_does_not_fit_is_shown_again_with_its_problems_and_sent_when_it_does",
        PENDING + "test_content_that_does_not_fit_is_refused_with_all_problems_and_the_question_stays_open",
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
        "tests/server/verbs/test_titles.py::test_each_field_that_is_sent_has_a_title",
        FIELDS + "test_the_label_is_the_title_else_the_name",
        FORM + "test_fields_keep_their_order",
        FORM + "test_two_fields_of_one_name_are_refused",
    ),
    "RUN-1": (
        LIVE + "test_an_effect_before_two_questions_happens_once",
        LIVE + "test_an_effect_before_two_questions_happens_once_over_stdio",
        LIVE + "test_an_effect_before_two_questions_happens_once_over_http",
        LIVE + "test_with_a_store_a_call_runs_once_too",
        LIVE + "test_the_code_between_two_questions_runs_once",
        LIVE + "test_prompts_and_resources_run_once_too",
        LIVE + "test_a_tool_of_a_mounted_server_runs_once",
        LIVE_THREADS + "test_a_def_tool_runs_once_and_stays_in_its_thread",
        LIVE_THREADS + "test_an_async_tool_that_asks_in_a_thread_runs_once",
        LIVE_GROUPS + "test_questions_of_branches_leave_in_one_round_and_every_branch_runs_once",
        STRANGERS + "test_every_effect_happens_as_often_as_before",
    ),
    "RUN-2": (
        ONCE_ONLY + "test_the_same_retry_again_gets_the_same_result_and_runs_nothing",
        ONCE_ONLY + "test_the_same_retry_at_the_same_time_joins_the_first",
        ONCE_ONLY + "test_another_answer_to_a_state_that_was_continued_is_refused",
        ONCE_ONLY + "test_of_two_different_retries_at_the_same_time_one_is_refused",
        ONCE_ONLY + "test_a_decline_cannot_become_an_accept",
        INSTEAD + "test_a_state_continues_once_in_one_process_without_live_runs_too",
        DECIDING + "test_a_retry_that_is_dropped_while_its_outcome_is_written_leaves_the_live_run_to_the_same_retry",
        DECIDING + "test_in_replay_a_retry_that_is_dropped_during_the_cleanup_leaves_its_round_to_the_same_retry",
        CODES + "test_a_code_continues_once",
        CANCELLING + "test_a_state_whose_run_the_client_cancelled_is_refused_and_never_replayed",
    ),
    "RUN-3": (
        SHARED + "test_a_tool_runs_once_though_another_replica_gets_its_answers",
        SHARED + "test_the_same_retry_at_another_replica_joins_and_other_answers_are_refused_there",
        SHARED + "test_a_replica_that_has_stopped_leaves_its_calls_to_another_one",
        HANDOVER + "test_a_run_that_waits_is_beaten_for_however_long_its_round_took_to_store",
        HANDOVER + "test_a_claim_that_cannot_be_given_back_at_once_is_given_back_later",
    ),
    "RUN-4": (
        INSTEAD + "test_the_cleanup_of_a_run_has_run_before_the_client_has_the_round",
        INSTEAD + "test_a_lock_that_a_tool_holds_is_free_for_its_replay_elsewhere",
        INSTEAD + "test_a_def_tool_has_left_its_thread_before_the_client_has_the_round",
        INSTEAD + "test_replicas_that_share_a_policy_of_the_servers_own_end_the_run_before_its_round_leaves",
        LIVE + "test_with_keys_and_no_store_another_replica_may_get_the_retry_and_calls_are_replayed",
        DOCTOR + "test_replicas_with_shared_keys_and_no_store_are_told_that_a_state_can_be_continued_twice",
    ),
    "RUN-5": (
        EVICTION + "test_the_oldest_run_is_ended_when_there_are_too_many_and_replayed_when_its_answer_comes",
        EVICTION + "test_first_the_runs_of_the_caller_with_most_are_evicted",
        EVICTION + "test_a_run_that_is_being_served_is_not_evicted",
        EVICTION + "test_a_replay_after_an_eviction_is_logged_once_per_tool",
        ENDING + "test_a_run_that_nobody_answers_is_ended_when_its_state_has_expired",
        LIVE_THREADS + "test_at_most_half_of_the_threads_are_held_by_live_runs_and_other_calls_are_replayed",
    ),
    "RUN-6": (
        FOLLOWING + "test_the_request_id_is_that_of_the_newest_request",
        FOLLOWING + "test_the_progress_token_is_that_of_the_newest_request",
        FOLLOWING + "test_the_session_id_of_fastmcp_stays_for_the_whole_call",
        OVER_HTTP + "test_the_http_request_is_that_of_the_newest_request",
        OVER_HTTP + "test_the_access_token_is_that_of_the_newest_request",
        VARIABLES + "test_a_variable_that_newer_middleware_set_reaches_the_run",
        VARIABLES + "test_a_variable_that_the_tool_set_stays_as_the_tool_set_it",
    ),
    "RUN-7": (
        CANCELLING + "test_cancelling_the_request_that_is_served_cancels_the_run",
        CANCELLING + "test_cancelling_over_stdio_cancels_the_run",
        CANCELLING + "test_a_def_tool_that_checks_for_cancellation_is_told_of_it",
        OVER_HTTP + "test_a_retry_that_breaks_off_can_be_sent_again_and_joins_its_run",
        OVER_HTTP + "test_a_run_whose_retry_broke_off_and_is_not_sent_again_is_cancelled_after_a_while",
    ),
    "RUN-8": (
        ENDING + "test_a_server_that_stops_ends_its_live_runs_before_the_authors_own_cleanup",
        ENDING + "test_stdio_that_is_closed_ends_the_runs_inside_the_lifespan",
        ENDING + "test_a_server_stops_though_an_effect_hangs_and_the_log_names_its_tool",
        ENDING + "test_a_terminated_http_server_ends_the_runs_inside_the_lifespan",
        ENDING + "test_a_tool_that_swallows_every_cancellation_is_abandoned_and_named",
    ),
    "RUN-9": (
        CLOSED + "test_a_mistake_ends_the_call_even_if_the_tool_catches_it",
        CLOSED + "test_so_does_a_mistake_in_a_thread",
        CLOSED + "test_every_mistake_passes_a_tool_that_catches_exceptions",
        CLOSED + "test_a_call_that_took_another_way_when_it_was_replayed_approves_nothing",
        CLOSED + "test_after_a_mistake_nothing_is_asked_and_no_effect_begins",
        CLOSED + "test_nobody_decides_anything_while_the_store_is_out_of_reach",
    ),
    "RUN-10": (
        SAMPLING + "test_a_tool_that_samples_and_lists_roots_works_with_the_one_line",
        SAMPLING + "test_in_a_replay_their_results_come_from_the_journal",
    ),
    "RUN-11": (
        FASTMCP_VERSION + "test_a_tool_sees_the_version_that_was_negotiated_before_and_after_a_question",
        FASTMCP_VERSION + "test_a_branch_sees_it_while_another_one_asks",
        FASTMCP_VERSION + "test_middleware_sees_it_too",
        FOLLOWING + "test_a_tool_that_reads_the_protocol_version_sees_the_clients",
    ),
    "RPL-1": (
        MESSY + "test_a_messy_tool_works_on_every_version",
        MESSY + "test_a_messy_tool_works_when_every_round_brings_one_answer",
        MACHINE + "test_a_program_gives_each_step_its_own_answer_however_often_it_is_cut",
        PROGRAMS + "test_a_tool_in_which_nothing_fails_does_everything_once",
        PROGRAMS + "test_a_tool_in_which_branches_fail_ends_alike",
        REPLAY + "test_an_answer_that_came_ahead_counts_in_the_first_request_only",
    ),
    "RPL-2": (
        REPLAY + "test_the_state_is_sealed_on_every_kind_of_server",
        REPLAY + "test_a_state_belongs_to_one_tool_and_its_arguments",
        REPLAY + "test_a_state_belongs_to_one_user",
        REPLAY + "test_a_state_that_has_outlived_its_time_is_refused_with_advice_in_the_log",
    ),
    "RPL-3": (
        REPLAY + "test_answers_stay_with_their_question_in_any_order_of_branches",
        REPLAY + "test_code_that_changes_its_message_every_run_is_a_mismatch",
        REPLAY + "test_code_that_took_another_way_once_is_simply_asked",
        REPLAY + "test_code_that_went_past_a_recorded_effect_is_a_mismatch",
        REACH + "test_code_that_took_another_way_past_an_effect_does_not_continue",
        CLOSED + "test_a_call_that_took_another_way_when_it_was_replayed_approves_nothing",
        MACHINE + "test_the_order_in_which_distinct_questions_are_met_does_not_matter",
        LEFT + "test_equal_questions_that_different_channels_may_answer_stay_apart_in_any_order",
    ),
    "RPL-4": (
        NAMES + "test_one_state_with_other_answers_pays_once_with_a_store",
        REPLAY + "test_once_runs_its_function_once_and_gives_its_type_back",
        REPLAY + "test_an_effect_that_is_running_when_a_round_leaves_is_awaited_and_recorded",
        STORE + "test_an_effect_runs_once_even_if_an_old_state_is_sent_again",
        STORE + "test_an_effect_runs_once_when_two_replicas_get_the_same_state",
        STORE + "test_an_effect_that_was_cut_off_is_not_run_again",
        STORE + "test_an_effect_that_is_safe_to_repeat_is_repeated",
        STORE + "test_an_effect_that_failed_runs_again",
        REPLICAS + "test_the_last_round_at_all_replicas_at_once_pays_once",
    ),
    "RPL-5": (
        REPLAY + "test_with_a_shared_key_another_replica_resumes",
        PROCESSES + "test_a_call_resumes_in_another_process_after_the_first_has_died",
        INSTALLING + "test_on_one_machine_a_restarted_server_accepts_its_old_states_and_codes",
        STORE + "test_a_code_works_on_another_replica_after_the_first_is_gone",
        REPLICAS + "test_question_page_and_answer_are_with_three_replicas_and_the_first_is_dead",
    ),
    "RPL-6": (
        REPLAY + "test_a_call_never_runs_into_a_stock_clients_cap",
        CODES + "test_the_tenth_question_ends_the_request_with_a_code_and_the_same_run_continues",
        CODES + "test_a_stock_client_never_sees_more_rounds_than_it_takes",
        STORE + "test_a_call_with_more_rounds_than_a_client_takes_resumes_with_a_code",
        STORE + "test_a_person_who_takes_long_is_served_by_continuing",
        VISITS + "test_the_last_round_is_never_spent_on_waiting",
        EXAMPLES + "test_a_person_who_takes_longer_than_a_call_resumes_it",
        GO_CLIENTS + "test_a_call_that_only_holds_ends_with_a_code_before_they_give_up",
        GO_CLIENTS + "test_a_call_of_nine_questions_ends_in_one_go",
        GO_CLIENTS + "test_a_call_of_more_questions_continues_with_a_code",
    ),
    "RPL-7": (
        REPLAY + "test_a_journal_of_another_version_is_refused",
        JOURNAL + "test_another_version_is_refused_and_named",
    ),
    "RPL-8": (
        REPLAY + "test_suspending_leaves_no_error_span_no_error_log_and_no_warning",
        ENDING + "test_a_cleanup_that_fails_when_its_run_ends_is_not_reported_as_never_retrieved",
        SPANS + "test_an_error_is_recorded_on_the_span_of_the_request_that_returns_it",
        MESSY + "test_every_messy_tool_works_over_one_stdio_connection",
    ),
    "RPL-9": (
        REPLAY + "test_suspending_runs_cleanup_which_can_detect_it",
        INSTEAD + "test_branches_are_ended_with_their_run",
        INSTEAD + "test_cleanup_can_tell_that_the_call_continues",
        ENDING + "test_the_questions_of_all_branches_fail_when_their_run_is_ended",
        MESSY + "test_a_messy_tool_works_on_every_version",
    ),
    "RPL-10": (
        REPLAY + "test_an_effect_that_is_running_when_a_round_leaves_is_awaited_and_recorded",
        CANCELLING + "test_an_effect_that_is_running_finishes_before_the_run_is_cancelled",
    ),
    "RPL-11": (
        SHARED + "test_a_result_of_a_tool_never_becomes_a_midcall_state_on_its_way_to_another_replica",
        REPLAY + "test_recorded_outcomes_cannot_be_overwritten_by_the_client",
        REPLAY + "test_answers_to_what_was_not_asked_change_nothing",
        LEFT + "test_an_answer_to_what_was_asked_since_the_round_left_counts_nowhere",
        LEFT + "test_nonsense_as_an_answer_to_what_was_asked_since_is_ignored_and_the_run_goes_on",
        LEFT + "test_nonsense_as_an_answer_to_what_was_asked_is_refused_and_the_turn_is_still_there",
        REPLAY + "test_the_state_is_sealed_on_every_kind_of_server",
        MACHINE + "test_only_what_waits_and_has_left_in_this_round_takes_an_answer",
        SEALING + "test_our_states_are_marked_and_sealed",
        SEALING + "test_rounds_written_by_hand_resume_at_another_worker_as_without_midcall",
    ),
    "RPL-12": (
        ADOPTION + "test_resolve_parameters_keep_working",
        ADOPTED_ANSWERS + "test_resolve_parameters_are_left_to_the_sdk",
        ADOPTION + "test_resolve_parameters_and_ask_work_in_one_call",
        ADOPTION + "test_hand_written_rounds_keep_working_even_beside_ask",
        BY_HAND + "test_rounds_by_hand_keep_their_answers_and_state_and_questions_beside_them_wait_in_their_run",
        ADOPTION + "test_a_state_that_is_not_ours_passes_through_untouched",
        ADOPTION + "test_a_proxied_server_asks_through_a_proxy_that_has_midcall",
    ),
    "RPL-13": (
        ADOPTION + "test_ctx_elicit_works_on_every_version",
        ADOPTION + "test_ctx_elicit_url_works_on_every_version_that_has_urls",
        ADOPTION + "test_fastmcps_ctx_elicit_works_on_every_version",
        ADOPTED_QUESTIONS + "test_a_schema_travels_as_it_was_written",
        ADOPTED_QUESTIONS + "test_fastmcps_ctx_elicit_sends_the_schema_that_fastmcp_sends",
        ADOPTED_ANSWERS + "test_a_wrong_answer_fails_as_it_fails_in_the_sdk",
        ADOPTED_ANSWERS + "test_a_wrong_answer_fails_as_it_fails_in_fastmcp",
        ADOPTED_ANSWERS + "test_a_session_returns_the_answer_as_the_client_sent_it",
        ADOPTED_ANSWERS + "test_for_a_client_that_cannot_be_asked_the_error_is_that_of_the_sdk",
        ADOPTED_ANSWERS + "test_a_clients_own_error_reaches_the_tool_and_the_caller",
        STRANGERS + "test_every_effect_happens_as_often_as_before",
        STRANGERS + "test_the_host_gets_the_same_results",
    ),
    "RPL-14": (
        FOLLOWING + "test_progress_after_an_answer_goes_to_the_request_that_brought_it",
        FOLLOWING + "test_a_log_message_after_an_answer_reaches_the_client",
        FOLLOWING + "test_notifications_between_two_rounds_are_dropped_and_not_raised",
        OVER_HTTP + "test_progress_after_an_answer_comes_on_the_stream_of_the_retry",
    ),
    "URL-1": (
        VISITS + "test_a_visit_returns_its_id_at_consent",
        VISITS + "test_a_url_that_is_not_fit_to_be_visited_is_refused",
        VISITS + "test_https_and_loopback_may_be_visited",
        PAGE_CLIENTS + "test_every_page_has_its_id_on_every_version",
    ),
    "URL-2": (
        VISITS + "test_accepting_is_consent_and_not_completion",
        REQUIRED + "test_the_call_waits_until_the_server_says_that_all_are_done",
    ),
    "URL-3": (
        VISITS + "test_the_client_that_was_asked_is_notified_of_the_completion",
        COMPLETION + "test_only_the_client_that_was_asked_is_notified",
        COMPLETION + "test_an_answered_page_notifies_the_client_that_was_sent_there",
        COMPLETION + "test_no_client_is_notified_before_the_store_has_the_outcome",
        COMPLETION + "test_an_outcome_that_could_not_be_stored_notifies_nobody",
        COMPLETION + "test_a_version_without_the_notification_is_sent_none",
        PAGE_CLIENTS + "test_while_its_request_is_open_it_hears_of_the_completion_there",
        PAGE_CLIENTS + "test_once_its_request_has_ended_it_hears_of_the_completion_on_the_standalone_stream",
        PAGE_CLIENTS + "test_after_the_error_it_hears_of_the_completion_on_the_standalone_stream",
    ),
    "URL-4": (
        VISITS + "test_on_the_version_that_has_it_the_error_reaches_the_client",
        VISITS + "test_on_the_newest_version_the_error_becomes_a_round",
        VISITS + "test_a_client_that_cannot_visit_is_not_sent_the_error",
        VISITS + "test_required_needs_at_least_one_visit_with_an_id",
        SENT_AWAY + "test_if_the_author_says_that_all_clients_retry_a_stock_client_gets_the_error",
        SENT_AWAY + "test_with_a_back_channel_the_question_is_pushed",
        SENT_AWAY + "test_a_client_that_is_known_to_lack_url_mode_is_not_sent_it",
        PAGE_CLIENTS + "test_a_client_without_url_mode_gets_the_page_as_a_link_and_resumes_when_it_is_done",
        PAGE_CLIENTS + "test_a_client_that_says_yes_at_once_is_asked_once_and_held_and_gets_a_code",
    ),
    "URL-5": (VISITS + "test_a_url_that_is_not_fit_to_be_visited_is_refused",),
    "URL-6": (
        PLACES + "test_complete_alone_works_outside_a_call",
        STORE + "test_a_visit_is_completed_from_another_replica",
        COMPLETION + "test_the_client_is_notified_when_another_replica_reports_completion",
        COMPLETION + "test_a_notification_that_cannot_be_sent_is_logged_and_fails_nothing",
        COMPLETION + "test_a_client_that_has_left_does_no_harm",
        COMPLETION + "test_a_server_that_knows_nothing_of_the_visit_is_not_asked",
    ),
    "URL-7": (
        ONE_PAGE + "test_a_code_that_only_waited_still_works",
        ONE_PAGE + "test_a_client_that_gave_up_waiting_loses_nothing",
        ONE_PAGE + "test_without_a_progress_token_a_code_is_held_briefly_and_with_one_longer",
        ONE_PAGE + "test_codes_at_the_same_time_continue_once_and_get_the_same_result",
        STORE + "test_a_code_again_gets_the_same_result_and_runs_nothing_again",
        WAITING + "test_the_code_still_works_after_it_has_waited_in_vain",
        WAITING + "test_a_request_with_the_code_is_held_until_the_user_is_done",
        WAITING + "test_equal_codes_at_the_same_time_get_the_same_result",
        WAITING + "test_a_client_that_gives_up_waiting_loses_nothing",
        APP_CODES + "test_without_a_progress_token_the_code_is_held_briefly_and_still_works",
        APP_CODES + "test_a_client_that_gives_up_waiting_loses_nothing",
    ),
    "URL-8": (
        ONE_PAGE + "test_three_questions_are_one_link_and_one_tab_and_the_first_code_brings_the_result",
        ONE_PAGE + "test_the_tab_continues_in_a_separate_server",
        ONE_PAGE + "test_any_replica_serves_the_pages_and_takes_the_code_and_the_run_stays_where_it_is",
        ONE_PAGE + "test_secrets_approvals_and_forms_come_in_one_tab",
        ONE_PAGE + "test_questions_that_are_open_at_once_are_led_through_by_one_link",
        ONE_PAGE + "test_after_an_eviction_the_page_sends_the_user_back_and_the_call_is_replayed",
        ONE_PAGE + "test_a_run_evicted_while_its_page_is_answered_cleans_up_before_another_replica_continues",
        ONE_PAGE + "test_a_page_that_is_gone_from_the_store_ends_its_call",
        ONE_PAGE + "test_a_client_that_never_comes_back_leaves_nothing_running",
        APP_CODES + "test_three_questions_are_one_link_for_a_host_that_declares_apps_and_shows_none",
    ),
    "URL-9": (
        ONE_PAGE + "test_a_page_leads_nobody_but_its_user",
        ONE_PAGE + "test_if_the_user_is_unknown_a_page_leads_only_the_browser_that_answered_it",
        ONE_PAGE + "test_looking_at_what_comes_next_changes_nothing_and_needs_an_answer_first",
        ONE_PAGE + "test_a_leaked_store_shows_no_next_page",
    ),
    "CLI-1": (
        ANSWERER + "test_the_answerer_knows_who_asks_and_how_the_question_came",
        LINES + "test_the_user_sees_who_asks_and_how_it_came",
        LINES + "test_every_text_of_a_server_is_behind_a_bar",
        TERMINAL + "test_the_user_sees_who_asks_what_and_what_each_field_takes",
        PAGE + "test_two_servers_are_told_apart_and_answered_in_any_order",
        REQUIRED + "test_the_user_sees_the_message_of_the_error_unless_it_adds_nothing",
        GUIDES + "test_our_user_sees_why_a_call_needs_a_page",
        LINES + "test_the_reason_for_a_visit_is_shown_above_it",
        FLOWS + "test_the_reason_for_a_visit_is_shown_above_it",
        PAGE + "test_the_reason_for_a_visit_is_shown_above_it",
    ),
    "CLI-2": (
        LINES + "test_the_user_can_decline_and_cancel_at_every_prompt",
        LINES + "test_the_review_takes_decline_and_cancel_as_words",
        TERMINAL + "test_decline_and_cancel_are_in_sight_in_every_size",
        TERMINAL + "test_keys_and_buttons_end_a_form_and_one_line_is_left",
        TERMINAL + "test_the_mouse_does_the_same",
        TERMINAL_CALLS + "test_decline_and_cancel_reach_the_tool_as_two_things",
        PAGE + "test_decline_and_cancel_are_two_things_and_need_no_valid_form",
        CHROMIUM + "test_decline_and_cancel_are_always_there",
        ANSWERER + "test_an_outcome_reaches_the_server_as_what_it_is",
    ),
    "CLI-3": (
        LINES + "test_all_values_are_shown_before_they_are_sent",
        LINES + "test_a_value_can_be_changed_before_it_is_sent",
        LINES + "test_an_empty_line_takes_the_default",
        LINES + "test_what_came_together_is_reviewed_together_and_ends_one_by_one",
        FLOWS + "test_the_questions_of_one_round_are_one_flow_with_a_review_before_anything_is_sent",
        FLOWS + "test_every_answer_can_be_changed_from_the_review",
        TERMINAL + "test_an_untouched_draft_holds_the_defaults_and_nothing_else",
        DRAW + "test_defaults_are_filled_in",
        CHROMIUM + "test_problems_are_shown_at_their_fields_and_input_is_kept",
    ),
    "CLI-4": (
        "tests/client/transport/test_malformed_peers.py::test_a_malformed_pushed_question_is_refused_and_others_are_answered",
        "tests/client/transport/test_malformed_peers.py::test_in_a_round_it_is_cancelled_and_the_log_says_the_same",
        ANSWERER + "test_an_answer_that_does_not_fit_never_leaves",
        ANSWERER + "test_a_missing_mode_means_form",
        ANSWERER + "test_a_mode_that_was_not_declared_is_refused",
        ANSWERER + "test_a_version_without_visits_sends_none",
        ANSWERER + "test_a_malformed_question_that_is_pushed_is_refused_with_32602",
        ANSWERER + "test_a_malformed_question_in_a_round_is_cancelled_and_the_others_continue",
        ANSWERER + "test_an_empty_form_is_a_plain_yes_or_no",
        CONNECT + "test_only_the_modes_that_the_answerer_can_serve_are_declared",
        ATTACH + "test_it_declares_only_what_its_answerer_can_serve",
        LINES + "test_a_form_without_fields_accepts_yes_or_no",
        TERMINAL + "test_a_form_without_fields_is_a_plain_accept_decline_or_cancel",
        PAGE + "test_a_form_without_fields_is_a_yes_no_question",
        TERMINAL + "test_what_does_not_fit_is_not_sent_and_the_field_says_why",
    ),
    "CLI-5": (
        CONSENT + "test_the_parts_are_always_the_whole_address_and_nothing_raises",
        CONSENT + "test_the_domain_is_the_part_that_someone_registered",
        LINES + "test_the_whole_address_is_shown_and_opened_after_consent",
        LINES + "test_with_colours_the_site_stands_out_in_the_address_too",
        LINES + "test_nothing_is_opened_without_consent",
        FLOWS + "test_the_whole_address_is_shown_with_its_domain_and_opened_after_consent",
        FLOWS + "test_nothing_opens_without_consent",
        FLOWS + "test_without_a_browser_the_address_is_left_to_copy",
        PAGE + "test_a_visit_shows_the_whole_address_and_opens_nothing_before_consent",
        CHROMIUM + "test_an_address_is_opened_by_the_users_own_click_after_consent_and_not_before",
    ),
    "CLI-6": (
        CONSENT + "test_every_doubtful_kind_is_called_out",
        CONSENT + "test_an_address_that_hides_where_it_leads_is_not_offered",
        LINES + "test_every_warning_about_an_address_is_shown_before_consent",
        FLOWS + "test_every_doubt_is_spelled_out",
        PAGE + "test_every_doubt_about_an_address_is_spelled_out",
    ),
    "CLI-7": (
        PEERS + "test_on_complete_gets_known_ids_and_unknown_ones_marked_as_such",
        REQUIRED + "test_the_call_waits_until_the_server_says_that_all_are_done",
        REQUIRED + "test_hosts_and_answerers_hear_of_each_visit_that_is_done_once",
        REQUIRED + "test_ids_that_nobody_knows_are_not_kept_without_end",
    ),
    "CLI-8": (
        REQUIRED + "test_an_error_that_needs_very_many_visits_asks_for_none_and_takes_no_time",
        PEERS + "test_the_users_confirmation_is_enough_on_versions_without_ids",
        PEERS + "test_the_servers_report_is_enough",
        PEERS + "test_a_wait_without_either_ends_in_time_and_the_call_is_repeated",
        PEERS + "test_the_call_is_repeated_three_times_at_most",
        PEERS + "test_a_page_is_asked_for_once_in_a_call",
        PEERS + "test_a_script_agrees_and_the_call_is_repeated_in_time",
        PEERS + "test_headless_can_pass_visits_on_and_repeat_the_call",
        REQUIRED + "test_tools_prompts_and_resources_resume_when_the_visits_are_done",
        REQUIRED + "test_the_user_can_try_again_at_once_and_is_not_asked_for_the_same_visit_twice",
        REQUIRED + "test_a_page_whose_id_alone_is_new_is_not_asked_for_again",
        REQUIRED + "test_a_page_that_differs_in_more_than_its_id_is_asked_for_again",
        REQUIRED + "test_after_three_retries_the_servers_error_comes_out",
        REQUIRED + "test_one_visit_that_is_not_made_ends_the_call",
        REQUIRED + "test_the_user_can_give_up",
        CONNECT + "test_a_required_visit_is_made_and_its_end_heard_over_real_transports",
        ATTACH + "test_fastmcps_client_makes_required_visits_too",
        SENT_AWAY + "test_our_client_is_sent_to_the_page_by_the_error_and_calls_again",
        SENT_AWAY + "test_prompts_and_resources_are_served_so_too",
        LINES + "test_while_a_call_waits_the_user_can_try_again_or_give_up",
        FLOWS + "test_while_a_call_waits_the_user_can_try_again_or_give_up",
        CHROMIUM + "test_while_a_call_waits_for_visits_the_user_can_try_again_or_give_up",
        CALL + "test_a_visit_that_is_needed_and_declined_exits_with_3",
    ),
    "CLI-9": (
        RATES + "test_line_prompts_are_limited_and_the_user_sees_why",
        RATES + "test_so_is_the_terminal",
        RATES + "test_the_browser_is_limited_and_its_page_says_why",
        RATES + "test_pending_questions_are_limited_and_the_host_can_show_why",
        RATES + "test_scripts_and_policies_are_not_limited",
        GUARD + "test_questions_beyond_the_rate_are_cancelled_and_the_user_is_notified_once",
        GUARD + "test_each_server_has_its_own_rate",
        GUARD + "test_a_server_cannot_take_the_rate_of_another_one_by_its_name",
        CONNECT + "test_servers_that_have_the_same_name_are_told_apart_and_one_server_stays_one",
        GUARD + "test_a_rate_is_never_exceeded",
        GUARD + "test_ten_thousand_questions_in_a_second_stay_bounded",
        PENDING + "test_beyond_the_limit_questions_are_cancelled_never_declined_and_reported_once",
        FLOWS + "test_questions_beyond_the_limit_are_cancelled_and_the_user_is_notified",
        LINES + "test_questions_beyond_the_limit_are_cancelled_and_the_user_is_notified",
        HOSTILE_TERMINAL + "test_one_word_of_the_user_ends_a_flood_of_questions",
    ),
    "CLI-10": (
        ANSWERER + "test_the_state_is_echoed_exactly",
        ANSWERER + "test_a_round_without_a_state_is_answered_without_one",
    ),
    "CLI-11": (
        LINES + "test_without_a_terminal_nothing_hangs_and_standard_error_explains_it",
        FLOWS + "test_without_a_terminal_questions_are_cancelled_with_a_notice",
        CALL + "test_without_a_terminal_a_question_is_cancelled_and_the_command_reports_it",
        HEADLESS + "test_it_cancels_unless_told_otherwise",
        HEADLESS + "test_defaults_are_used_if_they_suffice",
        HEADLESS + "test_an_automatic_answer_is_reported",
        ANSWERER + "test_an_answerer_that_fails_cancels_its_question_alone",
        ANSWERER + "test_in_a_round_such_an_error_is_a_cancel_so_that_the_others_are_sent",
        SCRIPT + "test_one_question_without_an_answer_takes_no_other_along",
    ),
    "CLI-12": (
        PLAIN + "test_escape_sequences_are_removed_whole",
        PLAIN + "test_what_turns_text_around_is_removed",
        PLAIN + "test_nothing_that_steers_a_terminal_is_left",
        LINES + "test_text_from_a_server_cannot_steer_the_terminal",
        TERMINAL + "test_text_from_a_server_is_text",
        PAGE + "test_what_the_server_says_cannot_steer_the_page",
        DRAW + "test_text_from_the_server_is_never_markup",
        DRAW + "test_nothing_becomes_a_link",
        GUARD + "test_notices_for_the_user_are_safe_to_show",
        CALL + "test_nothing_that_a_server_says_can_act_on_the_terminal",
        SERVER_LOG + "test_lines_of_a_server_wait_until_its_form_is_gone",
        SERVER_LOG + "test_a_function_gets_each_line_made_safe",
        HOSTILE + "test_tools_of_a_hostile_server_are_listed_as_text",
        HOSTILE_TERMINAL + "test_at_a_terminal_the_user_sees_text_and_can_cancel",
        HOSTILE_TERMINAL + "test_nothing_of_a_server_can_act_on_the_terminal_of_a_program",
        HOSTILE_PAGE + "test_on_a_page_the_user_sees_text_and_can_cancel",
        HOSTILE_PAGE + "test_in_a_real_browser_the_largest_and_strangest_forms_can_be_used_and_sent",
    ),
    "CLI-13": (
        TERMINAL + "test_keys_and_buttons_end_a_form_and_one_line_is_left",
        TMUX + "test_ctrl_c_cancels_the_question_and_the_program_continues",
        TMUX + "test_a_question_that_the_server_takes_back_closes_its_form",
        FLOWS + "test_an_abandoned_question_closes_its_form_with_a_notice",
        LINES + "test_ctrl_c_cancels_the_question_and_the_next_one_is_asked",
        LINES + "test_a_question_that_the_server_withdraws_is_reported",
        CHROMIUM + "test_escape_cancels_if_nothing_was_typed",
        CHROMIUM + "test_escape_focuses_cancel_first_if_something_was_typed",
        CHROMIUM + "test_closing_the_page_cancels_what_it_showed",
        CHROMIUM + "test_a_withdrawn_question_disappears_with_a_notice",
        TERMINAL_GONE + "test_when_the_terminal_is_gone_the_question_is_cancelled_and_the_exit_code_shows_it",
        PENDING + "test_a_call_that_is_given_up_withdraws_its_question",
    ),
    "CLI-14": (
        TYPED + "test_yes_is_read_in_any_case",
        TYPED + "test_no_is_read_in_any_case",
        TYPED + "test_numbers_are_written_with_a_point",
        TYPED + "test_an_ambiguous_number_is_refused",
        DRAW + "test_numbers_are_read_the_same_in_every_country",
    ),
    "CLI-15": (
        BUSY + "test_a_tool_that_asks_for_nothing_but_time_is_called_again_with_its_state",
        BUSY + "test_so_are_prompts_and_resources",
        BUSY + "test_each_pause_is_longer_than_the_one_before",
        BUSY + "test_the_callers_deadline_ends_the_pause_and_the_connection_stays_usable",
    ),
    "CLI-16": (
        OLDER + "test_an_error_says_what_happened_and_what_to_pass",
        OLDER + "test_a_failed_result_comes_out_as_it_is_and_the_log_says_the_same",
        OLDER + "test_the_caller_can_allow_the_older_version_for_the_calls_that_need_it",
        "tests/cli/test_peers.py::test_a_server_that_cannot_ask_on_this_version_is_called_again_if_allowed",
    ),
    "PRT-1": (
        UNSEEN + "test_the_address_of_a_page_holds_an_id_that_cannot_be_guessed_and_nothing_else",
        PORTAL + "test_the_address_holds_only_the_id_under_the_base_url",
        ATTACKS + "test_an_edited_address_opens_nothing_and_guessing_is_slowed_down",
    ),
    "PRT-2": (
        ATTACKS + "test_without_sign_in_a_page_shows_nothing",
        PORTAL + "test_without_an_identity_only_plain_forms_are_served",
        PORTAL + "test_a_form_with_an_owner_is_not_open_to_all",
        SETTINGS + "test_it_is_closed_by_default",
        SETTINGS + "test_an_identity_that_proves_nothing_is_rejected",
        IDENTITY + "test_a_bare_header_or_a_bad_assertion_is_nobody",
        IDENTITY + "test_a_caller_that_is_not_fully_known_is_nobody",
        SENT_AWAY + "test_if_nobody_can_be_identified_only_forms_are_pages",
    ),
    "PRT-3": (
        ATTACKS + "test_another_signed_in_user_sees_nothing_and_it_stays_pending",
        IDENTITY + "test_another_user_of_the_issuer_is_rejected_and_can_switch_accounts",
        IDENTITY + "test_the_same_subject_of_another_issuer_is_somebody_else",
        EXAMPLES + "test_another_user_who_is_signed_in_gets_nothing_and_changes_nothing",
        PORTAL_CHROMIUM + "test_sign_in_and_switch_accounts_with_a_real_provider",
    ),
    "PRT-4": (
        ATTACKS + "test_identity_is_checked_again_when_the_page_is_posted",
        CONNECTING + "test_a_callback_in_another_browser_or_for_another_user_is_rejected",
        ACCOUNT + "test_deleting_needs_our_page_in_this_browser_and_the_same_user",
    ),
    "PRT-5": (
        PORTAL + "test_submitting_twice_at_once_stores_once",
        PORTAL + "test_an_answered_page_shows_its_outcome",
        PORTAL_CHROMIUM + "test_a_second_tab_is_too_late",
        CONTRACT + "test_a_record_is_completed_by_its_owner_once_and_in_time",
        RACES + "test_of_eight_processes_one_completes",
        EIGHT + "test_of_eight_processes_that_approve_one_succeeds_and_pays_once",
        EIGHT + "test_of_eight_processes_that_enter_a_secret_one_succeeds_and_only_its_secret_is_stored",
        EIGHT + "test_of_eight_processes_that_approve_and_decline_one_counts",
    ),
    "PRT-6": (
        PORTAL + "test_an_expired_page_is_gone",
        PAGES_OF_TOOLS + "test_a_page_that_was_not_answered_in_time_ends_the_tool",
    ),
    "PRT-7": (
        ATTACKS + "test_a_post_without_the_token_of_this_browser_is_rejected",
        ATTACKS + "test_every_page_has_a_new_token",
        ATTACKS + "test_a_post_from_another_origin_is_rejected",
        PORTAL_CHROMIUM + "test_another_site_cannot_answer_for_the_user",
    ),
    "PRT-8": (
        PORTAL + "test_get_changes_nothing",
        ACCOUNT + "test_opening_the_page_deletes_nothing",
    ),
    "PRT-9": (
        ATTACKS + "test_every_response_carries_the_headers_and_loads_nothing_from_elsewhere",
        ATTACKS + "test_only_the_page_that_redirects_to_a_provider_may_post_elsewhere",
        PORTAL_CHROMIUM + "test_a_page_cannot_be_framed",
    ),
    "PRT-10": (
        ATTACKS + "test_cookies_are_host_bound_secure_http_only_lax_and_signed",
        PORTAL_CHROMIUM + "test_a_browser_accepts_the_cookies_on_https",
        SETTINGS + "test_an_invalid_base_url_is_rejected",
    ),
    "PRT-11": (
        PORTAL + "test_a_page_names_the_server_the_client_the_purpose_and_the_time",
        PORTAL + "test_decline_and_cancel_reach_the_tool",
        PAGES_OF_TOOLS + "test_declining_on_the_page_reaches_the_tool",
        PORTAL_CHROMIUM + "test_a_page_can_be_declined_and_cancelled",
    ),
    "PRT-12": (
        PORTAL + "test_a_page_from_one_replica_can_be_answered_at_another",
        REPLICAS + "test_question_page_and_answer_are_with_three_replicas_and_the_first_is_dead",
        REPLICAS + "test_a_replica_that_dies_while_it_holds_the_call_loses_nothing",
        EXAMPLES + "test_a_call_resumes_after_the_server_was_restarted",
        PAGES_OF_TOOLS + "test_a_code_resumes_after_a_restart_even_if_the_portal_has_another_address",
        RACES + "test_a_waiter_in_another_process_wakes",
        RACES + "test_a_record_outlives_the_process_that_made_it",
    ),
    "PRT-13": (
        ATTACKS + "test_logs_hold_no_id_and_no_value",
        ATTACKS + "test_the_access_log_of_the_server_around_us_is_masked",
        ATTACKS + "test_an_internal_error_reveals_nothing",
        ATTACKS + "test_an_edited_address_opens_nothing_and_guessing_is_slowed_down",
        UNSEEN + "test_a_trace_holds_no_id_and_no_secret",
        LOOPBACK + "test_its_own_server_logs_no_paths",
        OAUTH + "test_after_a_whole_life_logs_and_store_hold_no_token_code_verifier_state_or_id",
        SCANNING + "test_a_leaked_id_or_value_fails_the_run",
    ),
    "PRT-14": (
        PAGES_OF_TOOLS + "test_a_secret_goes_from_the_page_to_the_tool_and_nowhere_else",
        PORTAL + "test_a_secret_goes_to_the_vault_and_nowhere_else",
        PORTAL_CHROMIUM + "test_problems_are_shown_values_are_kept_and_secrets_are_not",
        VAULT + "test_a_row_copied_to_another_owner_or_name_does_not_open",
        VAULT + "test_rotating_seals_everything_with_the_first_key_and_changes_nothing_else",
        VAULT + "test_no_value_and_no_key_appears_in_store_repr_log_or_error",
        OPERATORS + "test_after_a_rotation_the_new_key_alone_opens_everything",
    ),
    "PRT-15": (
        PAGES_OF_TOOLS + "test_a_token_comes_from_the_provider_once_and_then_from_the_vault",
        OAUTH + "test_the_authorization_request_has_all_it_needs_and_no_secret",
        OAUTH + "test_a_denial_at_the_provider_is_a_decline",
        OAUTH + "test_an_expired_token_is_renewed_and_the_rotated_refresh_token_stored",
        OAUTH_ATTACKS + "test_a_callback_that_comes_twice_counts_once",
        OAUTH_ATTACKS + "test_a_callback_in_another_browser_is_rejected_and_the_right_one_can_continue",
        OAUTH_ATTACKS + "test_a_response_after_ten_minutes_is_rejected",
        OAUTH_ATTACKS + "test_a_response_from_another_issuer_is_rejected",
        OAUTH_ATTACKS + "test_a_code_from_another_flow_is_rejected_by_the_verifier",
        CONNECTING + "test_consent_comes_first_and_then_the_provider_and_then_the_vault",
        CONNECTING + "test_a_callback_in_another_browser_or_for_another_user_is_rejected",
        CONNECTING + "test_a_response_counts_only_at_the_address_of_the_provider_that_was_asked",
        CONNECTING + "test_a_denial_without_a_state_decides_nothing_and_leads_back_to_our_page",
        CONNECTING + "test_a_denial_without_a_state_leads_to_no_page_unless_exactly_one_flow_is_pending",
        CONNECTING + "test_access_granted_after_a_decline_is_revoked",
        CONNECTING + "test_access_granted_after_its_question_is_gone_from_the_store_is_revoked",
        CONNECTING + "test_access_that_cannot_be_kept_is_revoked",
        PORTAL_CHROMIUM + "test_connecting_an_account_leads_to_the_provider_and_back",
    ),
    "PRT-16": (
        PAGES_OF_TOOLS + "test_an_approval_is_a_decision_on_exactly_these_details",
        PAGES_OF_TOOLS + "test_an_approval_is_taken_once_even_if_its_state_is_sent_again",
        PORTAL + "test_an_approval_shows_every_detail_in_full",
        PORTAL + "test_an_approval_is_bound_to_the_digest_of_what_was_shown",
        PORTAL + "test_details_that_changed_while_the_page_was_open_are_not_approved",
        REPLICAS + "test_the_last_round_at_all_replicas_at_once_pays_once",
    ),
    "PRT-17": (
        LOOPBACK + "test_it_listens_on_a_random_port_when_it_is_started_and_stops_when_it_is_closed",
        LOOPBACK + "test_a_rebound_host_is_rejected",
        LOOPBACK + "test_a_cross_site_post_is_rejected",
        LOOPBACK + "test_another_user_of_this_machine_is_rejected",
        PAGES_OF_TOOLS + "test_another_user_of_this_machine_who_calls_a_tool_is_not_taken_for_the_servers",
        LOOPBACK + "test_a_listener_on_the_port_of_a_gone_client_is_not_taken_for_it",
        LOOPBACK + "test_a_proxy_does_not_speak_for_the_user_of_this_machine",
        LOOPBACK + "test_cookies_are_named_per_instance",
        LOOPBACK + "test_if_the_system_does_not_say_the_id_is_the_only_protection",
    ),
    "PRT-18": (
        PORTAL_CHROMIUM + "test_a_page_is_answered",
        PORTAL_CHROMIUM + "test_everything_works_with_the_keyboard_alone",
        PORTAL_CHROMIUM + "test_a_screen_reader_finds_its_way",
        PORTAL_CHROMIUM + "test_every_page_fits_a_phone_in_light_and_dark",
    ),
    "PRT-19": (
        *(
            f"tests/portal/detached/test_detached.py::{test}"
            for test in (
                "test_a_link_outlives_its_server_and_another_one_continues_with_the_answer",
                "test_a_request_without_a_path_finds_no_page_and_fails_nowhere",
                "test_an_account_is_connected_at_the_address_of_its_server",
                "test_with_a_server_for_every_call_an_approval_counts",
                "test_servers_that_start_at_once_share_one_process",
                "test_after_it_is_killed_the_next_link_starts_another_at_the_same_address",
                "test_a_damaged_file_about_the_process_says_nothing",
                "test_who_reads_while_the_process_writes_where_it_listens_finds_the_old_or_the_new",
                "test_if_nothing_says_where_the_process_listens_the_server_serves_its_own_pages",
                "test_it_ends_when_nothing_is_open",
                "test_it_has_nothing_of_its_server_but_what_pages_need",
                "test_another_user_of_this_machine_reaches_neither_its_pages_nor_its_socket",
                "test_it_answers_only_to_its_own_host_and_its_own_pages",
                "test_a_living_server_checks_secrets_while_the_user_is_on_the_page",
                "test_a_secret_is_checked_when_its_call_continues_if_its_server_has_ended",
            )
        ),
    ),
    "PRT-20": (
        "tests/server/resuming/test_closed_pages.py::test_cancelling_a_call_closes_its_page",
        "tests/server/resuming/test_closed_pages.py::test_a_tool_that_returns_without_its_page_closes_it",
        "tests/portal/detached/test_detached.py::test_a_wait_that_its_client_cancels_uses_up_neither_the_page_nor_the_code",
    ),
    "RCH-1": (
        REACH + "test_can_ask_returns_the_channels_in_order",
        REACH + "test_a_client_with_urls_only_gets_a_form_as_a_page",
        REACH + "test_a_strong_confirmation_takes_a_link_but_no_default_and_no_relay",
        LEFT + "test_a_client_cannot_answer_what_only_a_page_may_answer",
        REPLAY + "test_no_answer_comes_ahead_of_a_question_whose_author_says_how_it_may_be_answered",
        REPLAY + "test_no_answer_comes_ahead_of_a_question_that_would_not_leave_in_a_round",
        APPS + "test_the_app_comes_before_the_link",
        PAGES_EACH + "test_several_questions_come_on_a_page_each",
        SENT_AWAY + "test_our_client_is_sent_to_the_page_by_the_error_and_calls_again",
        SENT_AWAY + "test_a_stock_client_gets_the_link",
        SENT_AWAY + "test_after_three_times_the_rest_goes_by_links",
        SENT_AWAY + "test_a_question_can_refuse_it",
        EVERYWHERE + "test_every_client_is_asked_all_five_questions",
        DOCTOR + "test_every_channel_is_reported_in_the_order_in_which_they_are_tried",
    ),
    "RCH-2": (
        REACH + "test_a_client_without_elicitation_gets_a_link_and_resumes_with_the_code",
        REACH + "test_a_whole_interview_works_from_a_client_that_has_never_heard_of_elicitation",
        REACH + "test_equal_calls_never_share_answers",
        SENT_AWAY + "test_a_retry_resumes_once",
        SENT_AWAY + "test_a_retry_is_for_the_request_that_was_sent_away_and_for_no_other",
        SENT_AWAY + "test_a_retry_is_for_the_user_who_was_sent_away",
        REACH + "test_what_was_done_before_the_question_is_not_done_again",
        STORE + "test_a_code_works_on_another_replica_after_the_first_is_gone",
        STORE + "test_a_code_again_gets_the_same_result_and_runs_nothing_again",
        STORE + "test_a_code_is_for_its_owner_alone",
        "tests/server/running/test_holders.py::test_a_code_that_somebody_else_has_read_does_not_work_for_them",
        "tests/server/running/test_holders.py::test_a_code_is_its_users_even_if_the_call_was_continued_for_another_replica",
        "tests/server/running/test_holders.py::test_a_user_continues_with_another_client",
        CODES + "test_a_code_that_nobody_gave_out_is_refused",
        EVERYWHERE + "test_every_client_is_asked_all_five_questions",
        "tests/portal/detached/test_detached.py::test_an_address_that_nobody_serves_any_more_is_replaced_at_once",
        "tests/portal/detached/test_detached.py::test_the_address_is_named_again",
    ),
    "RCH-3": (
        APPS + "test_a_form_that_is_shown_while_the_call_is_held_answers_that_call",
        APPS + "test_a_form_shown_with_the_result_answers_and_the_model_resumes",
        APPS + "test_other_clients_learn_nothing_of_apps",
        APPS + "test_a_nonce_that_was_made_up_opens_nothing",
        APPS + "test_the_nonce_of_one_user_opens_nothing_for_another",
        APPS + "test_two_calls_at_once_never_mix",
    ),
    "RCH-4": (
        REACH + "test_a_decline_faster_than_a_person_reads_leads_to_a_page",
        REACH + "test_a_decline_faster_than_a_person_reads_leads_to_a_link_without_url_mode",
        REACH + "test_a_second_decline_counts",
        REACH + "test_a_no_at_once_to_a_visit_counts_since_a_link_to_it_would_be_accepted_without_a_person",
        REACH + "test_a_no_at_once_to_a_visit_that_the_tool_waits_for_leads_to_a_link_and_still_waits",
        REACH + "test_without_another_channel_a_quick_decline_counts",
        REACH + "test_a_decline_is_never_replaced_by_a_default",
        REACH + "test_an_accept_without_content_is_asked_again_and_then_taken_for_not_shown",
        REACH + "test_a_decline_that_a_program_gives_on_purpose_is_believed_however_fast_it_is",
        HOSTS + "test_a_question_that_a_host_refuses_automatically_reaches_the_user_by_a_link",
        HOSTS + "test_an_approval_that_a_host_refuses_automatically_is_still_the_users",
        LEFT + "test_a_client_that_declined_at_once_cannot_answer_the_page_that_asks_again",
        HOSTS + "test_what_a_tool_asks_in_the_sdks_way_reaches_the_user_by_a_link_too",
        HOSTS + "test_without_a_page_the_model_reads_that_nobody_has_seen_the_question",
        HOSTS + "test_an_unseen_approval_in_a_prompt_raises_because_no_link_can_ask_again",
        HOSTS + "test_an_accept_is_never_doubted_however_fast_it_comes",
        HOSTS + "test_an_empty_yes_to_a_form_of_the_sdk_leads_to_a_link",
    ),
    "RCH-5": (
        REACH + "test_relay_is_off_unless_it_is_asked_for",
        REACH + "test_the_model_cannot_answer_in_the_place_of_a_page",
        RELAY + "test_what_wants_a_person_is_never_relayed",
        RELAY + "test_without_a_page_it_is_not_asked_at_all",
    ),
    "RCH-6": (
        HOSTS + "test_a_host_that_hides_numbers_is_asked_for_them_as_text",
        HOSTS + "test_what_is_typed_for_a_number_or_a_list_is_read_and_checked",
        HOSTS + "test_the_next_call_of_such_a_host_asks_for_text_at_once",
        HOSTS + "test_over_http_on_the_newest_version_it_is_remembered_of_a_users_client_and_of_no_stranger",
        HOSTS + "test_a_host_that_declares_apps_and_shows_none_gets_an_address_at_once_and_then_links",
        HOSTS + "test_for_a_host_without_elicitation_an_unfinished_call_is_an_ordinary_result_that_its_sdk_accepts",
        HOSTS + "test_a_host_with_elicitation_keeps_the_output_schemas_and_gets_an_error_result_that_its_sdk_accepts",
    ),
    "SAFE-1": (
        "tests/core/test_long_texts.py::test_a_long_odd_text_is_read_in_bounded_time",
        "tests/client/test_long_texts.py::test_a_long_odd_text_is_read_and_shown_in_bounded_time",
        "tests/client/test_long_texts.py::test_ten_thousand_answers_to_ten_thousand_options_are_read_at_once",
        "tests/portal/test_attacks.py::test_a_cookie_of_many_backslashes_does_not_hang_the_portal",
        "tests/client/urls/test_urls.py::test_no_address_takes_long",
        "tests/client/urls/test_urls.py::test_the_length_of_a_host_is_checked_before_it_is_encoded",
        "tests/core/test_urls.py::test_the_length_of_a_host_in_other_letters_is_checked_before_it_is_normalized",
        "tests/core/forms/test_patterns.py::test_odd_patterns_in_many_fields_of_another_server_are_judged_in_bounded_time",
        "tests/client/test_long_texts.py::test_a_round_of_very_many_questions_asks_none_and_takes_no_longer_than_a_few",
        "tests/client/test_long_texts.py::test_a_million_malformed_parts_of_a_message_take_no_longer_than_a_few",
    ),
    "SAFE-2": (
        "tests/core/forms/test_patterns.py::test_a_form_of_many_patterns_with_large_sets_is_read_in_bounded_time",
        "tests/core/forms/test_patterns.py::test_no_answer_and_no_default_makes_a_pattern_take_long",
        "tests/core/forms/test_patterns.py::test_a_pattern_that_cannot_run_in_linear_time_is_left_to_its_server",
        "tests/core/forms/test_patterns.py::test_an_author_learns_at_once_that_a_pattern_cannot_run_in_linear_time",
        "tests/core/forms/test_patterns.py::test_the_linear_engine_finds_what_the_dialect_says",
        "tests/client/transport/test_listing.py::test_the_pattern_of_an_output_schema_does_not_hang_the_client",
    ),
    "SAFE-3": (
        "tests/core/forms/test_patterns.py::test_an_answer_that_is_too_long_is_checked_for_nothing_else",
        "tests/core/forms/test_patterns.py::test_an_answer_that_would_take_long_is_too_long",
    ),
    "SAFE-4": (
        "tests/core/test_text.py::test_ordinary_text_stays_as_it_is",
        "tests/core/test_text.py::test_what_can_mislead_is_marked",
        "tests/core/test_text.py::test_a_stack_of_combining_characters_does_not_cover_other_lines",
        "tests/core/test_text.py::test_a_message_keeps_its_layout",
        "tests/core/test_text.py::test_no_character_that_unicode_lets_vanish_is_left",
        "tests/core/test_text.py::test_every_character_is_either_shown_or_marked",
        "tests/portal/pages/test_shown.py::test_a_value_is_approved_with_every_character_of_it_shown",
        "tests/portal/pages/test_shown.py::test_a_page_says_that_something_is_marked_if_something_is",
        "tests/portal/pages/test_shown.py::test_a_message_is_never_cut",
        "tests/portal/pages/test_shown.py::test_a_consent_page_shows_whole_names_and_scopes",
        "tests/portal/pages/test_shown.py::test_two_different_values_are_never_shown_alike",
        "tests/portal/pages/test_shown.py::test_a_number_is_shown_with_every_digit",
        "tests/portal/pages/test_chromium.py::test_what_is_approved_is_seen_whole_and_in_one_order",
        "tests/server/verbs/test_out_of_band.py::test_details_that_cannot_be_shown_are_refused_before_anybody_is_asked",
    ),
    "SAFE-5": (
        "tests/portal/pages/test_pages.py::test_an_approval_is_bound_to_the_digest_of_what_was_shown",
        "tests/server/verbs/test_decisions.py::test_the_digest_covers_everything_that_a_page_shows",
        "tests/server/verbs/test_decisions.py::test_what_was_accepted_for_something_else_cannot_be_used",
        "tests/server/verbs/test_decisions.py::test_what_was_not_accepted_cannot_be_used",
    ),
    "SAFE-6": (
        "tests/client/test_shown.py::test_line_prompts_show_a_whole_default_before_it_is_sent",
        "tests/client/test_shown.py::test_line_prompts_review_everything_that_is_sent",
        "tests/client/test_shown.py::test_line_prompts_offer_no_default_that_nobody_would_see_whole",
        "tests/client/test_shown.py::test_a_draft_sends_what_its_input_shows",
        "tests/client/test_shown.py::test_the_review_of_a_terminal_shows_everything_that_is_sent",
        "tests/client/test_shown.py::test_a_terminal_says_what_is_sent_if_an_input_cannot_show_it",
        "tests/client/test_shown.py::test_a_terminal_shows_a_default_that_is_wider_than_its_input",
        "tests/client/test_shown.py::test_a_page_shows_a_default_that_is_longer_than_a_line",
    ),
    "SAFE-7": (
        "tests/server/verbs/test_decisions.py::test_a_decision_is_used_by_one_continuation",
        "tests/server/verbs/test_decisions.py::test_of_many_forks_at_the_same_time_one_uses_the_decision",
        "tests/server/verbs/test_decisions.py::test_a_fork_changes_nothing_even_if_the_store_has_forgotten_which_states_were_continued",
        "tests/server/verbs/test_decisions.py::test_with_shared_keys_a_decision_does_not_count_in_another_store",
    ),
    "SAFE-8": (
        "tests/server/verbs/test_decisions.py::test_equal_approvals_one_after_the_other_are_two_decisions",
        "tests/server/verbs/test_decisions.py::test_equal_approvals_at_the_same_time_are_two_decisions",
        "tests/server/verbs/test_decisions.py::test_many_approvals_with_one_message_are_all_asked_for",
        "tests/server/verbs/test_decisions.py::test_completing_the_visit_to_an_approval_decides_nothing",
    ),
    "SAFE-9": (
        "tests/server/test_local_user.py::test_the_user_of_this_machine_gets_their_secret",
        "tests/server/test_local_user.py::test_a_web_page_and_what_looks_like_one_get_no_secret",
        "tests/server/test_local_user.py::test_several_host_headers_or_none_are_not_the_users",
        "tests/server/test_local_user.py::test_over_ipv6_it_is_the_same",
        "tests/server/test_local_user.py::test_over_sse_it_is_the_same",
        "tests/server/test_local_user.py::test_the_log_says_once_why_a_call_is_not_the_users",
    ),
    "SAFE-10": (
        "tests/client/browser/test_site.py::test_another_user_of_this_machine_who_reads_the_address_first_is_refused_and_spends_nothing",
    ),
    "SAFE-11": (
        "tests/contract/test_entered.py::test_a_secret_that_was_declined_cancelled_or_late_while_its_check_ran_is_kept_nowhere",
        "tests/contract/test_entered.py::test_of_two_submissions_only_the_first_is_stored",
        "tests/contract/test_entered.py::test_after_an_accept_the_secret_is_in_the_vault_and_no_longer_with_its_page",
        "tests/contract/test_entered.py::test_a_crash_between_two_writes_keeps_all_or_nothing",
        "tests/contract/test_entered.py::test_what_the_tool_has_yet_to_check_is_not_in_the_vault",
        "tests/contract/test_entered.py::test_access_granted_after_a_decline_is_kept_nowhere_and_revoked",
    ),
    "SAFE-12": (
        "tests/server/test_vault.py::test_a_server_cannot_read_what_the_user_gave_another_one",
        "tests/server/test_vault.py::test_servers_share_secrets_only_if_both_have_the_same_namespace",
        "tests/portal/test_vault.py::test_a_row_copied_to_another_server_does_not_open",
        "tests/portal/pages/test_pages.py::test_a_page_says_which_server_will_be_able_to_read_what_is_entered",
    ),
    "SAFE-13": (
        "tests/stores/test_tampering.py::test_nothing_that_a_record_says_can_be_changed_without_the_keys",
        "tests/stores/test_tampering.py::test_a_record_cannot_be_moved_to_another_server",
        "tests/stores/test_tampering.py::test_the_first_key_seals_and_all_keys_verify",
        "tests/stores/test_tampering.py::test_a_record_can_be_rolled_back_only_to_what_it_was",
        "tests/stores/test_tampering.py::test_without_a_vandal_the_bank_pays_what_was_approved",
        "tests/stores/test_tampering.py::test_a_decision_cannot_be_forged",
    ),
    "SAFE-14": (
        "tests/stores/test_tampering.py::test_a_code_of_one_server_does_not_run_the_tool_of_another",
        "tests/stores/test_tampering.py::test_a_record_cannot_be_moved_to_another_server",
        "tests/stores/test_tampering.py::test_a_state_of_one_namespace_is_refused_in_another",
        "tests/server/test_install.py::test_a_server_is_identified_by_its_name_and_its_namespace_on_every_replica",
    ),
    "SAFE-15": (
        ONE_PAGE + "test_what_a_run_keeps_without_a_request_counts_for_its_user",
        "tests/contract/test_quotas.py::test_one_caller_cannot_fill_the_store_and_others_continue",
        "tests/contract/test_quotas.py::test_all_callers_together_have_a_limit",
        "tests/contract/test_quotas.py::test_bytes_count_and_so_do_outcomes",
        "tests/contract/test_quotas.py::test_expired_records_do_not_count",
        "tests/contract/test_quotas.py::test_a_record_that_exists_counts_once",
        "tests/contract/test_quotas.py::test_what_follows_from_an_answer_or_a_sign_in_is_never_refused",
        "tests/server/test_quotas.py::test_a_client_that_fills_the_store_gets_an_error_and_no_effect_runs_uncounted",
        "tests/server/test_quotas.py::test_a_full_store_ends_the_call_even_if_its_tool_catches_the_error",
        "tests/server/test_quotas.py::test_doctor_says_how_full_the_store_is",
        "tests/server/test_quotas.py::test_quotas_come_from_arguments_then_from_the_environment",
        "tests/server/test_quotas.py::test_a_quota_is_a_whole_number",
        "tests/server/test_quotas.py::test_visits_of_a_server_without_a_store_are_counted_too",
        "tests/test_memories.py::test_strangers_cannot_fill_the_memory",
        "tests/test_memories.py::test_a_client_with_apps_calls_tools_that_do_not_exist",
        "tests/test_memories.py::test_the_newest_are_remembered",
        "tests/test_memories.py::test_no_name_passes_for_another_one",
        "tests/test_memories.py::test_every_cache_was_thought_about",
    ),
    "SAFE-16": (
        "tests/client/urls/test_urls.py::test_a_host_is_the_one_that_a_browser_opens_or_is_not_offered",
        "tests/client/urls/test_urls.py::test_a_host_that_browsers_read_differently_is_not_offered",
        "tests/client/guard/test_guard.py::test_hosts_are_allowed_and_denied",
    ),
    "SAFE-17": (
        "tests/stores/test_keys.py::test_a_key_that_is_easy_to_guess_is_refused_wherever_keys_enter",
        "tests/stores/test_keys.py::test_random_keys_are_never_refused",
    ),
    "SAFE-18": (
        "tests/portal/test_attacks.py::test_nobody_is_locked_out_by_someone_who_guesses_at_the_same_address_or_under_another_name",
        "tests/portal/identity/test_loopback.py::test_a_web_page_cannot_lock_the_user_of_this_machine_out",
        "tests/web/test_local_server.py::test_a_head_that_does_not_come_closes_the_connection",
        "tests/web/test_local_server.py::test_a_head_that_comes_byte_by_byte_closes_the_connection",
        "tests/web/test_local_server.py::test_the_second_request_of_a_connection_has_to_come_in_time_too",
        "tests/web/test_local_server.py::test_a_missing_body_closes_the_connection_and_the_app_is_notified",
        "tests/web/test_local_server.py::test_a_body_that_nobody_waits_for_has_to_come_in_time_too",
        "tests/web/test_local_server.py::test_an_idle_connection_is_closed",
    ),
    "SAFE-19": (
        "tests/test_logs.py::test_the_calls_were_found",
        "tests/test_logs.py::test_hostile_text_stays_on_one_visible_line_in_every_logger_call",
        "tests/test_logs.py::test_every_logger_of_the_source_is_guarded",
        "tests/test_logs.py::test_escaped_text_can_be_read_back",
        "tests/test_logs.py::test_ordinary_text_in_any_language_stays_as_it_is",
        "tests/test_logs.py::test_the_text_of_an_exception_cannot_look_like_a_line_of_the_log",
        REFUSED + "test_a_caller_who_causes_many_mistakes_hides_no_other",
    ),
    "SAFE-20": (
        "tests/web/test_fetching.py::test_a_public_issuer_opens_no_private_network_by_what_its_own_dns_says_later",
        "tests/web/test_fetching.py::test_where_an_issuer_is_counts_from_its_first_answer",
        "tests/web/test_fetching.py::test_a_provider_remembers_where_it_was",
        "tests/core/test_urls.py::test_an_ipv6_address_that_embeds_an_ipv4_address_is_in_its_network",
        "tests/web/test_fetching.py::test_metadata_cannot_name_an_internal_address_or_anything_but_https",
        "tests/web/test_fetching.py::test_metadata_can_name_public_hosts_and_where_the_issuer_is",
        "tests/web/test_fetching.py::test_an_issuer_in_a_private_network_cannot_point_to_this_machine_or_to_the_cloud",
        "tests/web/test_fetching.py::test_a_name_that_leads_to_this_machine_is_refused_when_we_connect",
        "tests/web/test_fetching.py::test_an_issuer_on_this_machine_can_lead_to_this_machine",
        "tests/portal/identity/test_identity_attacks.py::test_a_storm_of_tokens_with_unknown_keys_is_one_request_for_keys",
        "tests/portal/identity/test_identity_attacks.py::test_an_issuer_whose_metadata_points_inwards_or_to_plain_http_is_not_used",
    ),
    "SAFE-21": (
        "tests/portal/identity/test_identity_attacks.py::test_the_issuer_of_a_response_is_checked",
        "tests/portal/identity/test_identity_attacks.py::test_signing_out_ends_the_session_for_copies_of_the_cookie_on_every_replica",
        "tests/portal/identity/test_identity_attacks.py::test_signing_out_goes_to_the_issuer_if_it_offers_that",
    ),
    "SAFE-22": (
        "tests/settings/test_table.py::test_every_limit_says_what_happens_at_it",
        "tests/test_dependencies.py::test_every_floor_and_every_pin_is_safe",
    ),
    "SAFE-23": (
        "tests/fuzz/test_fuzz.py::test_nothing_that_strangers_send_does_harm",
        "tests/fuzz/test_fuzz.py::test_a_seed_makes_the_same_inputs_again",
        "tests/fuzz/test_fuzz.py::test_the_fuzzer_notices_harm_and_prints_the_input",
        "tests/fuzz/test_fuzz.py::test_what_was_found_before_does_no_harm_now",
        HOSTILE_ISSUERS + "test_metadata_of_any_type_is_refused_without_an_error_page",
        HOSTILE_ISSUERS + "test_claims_of_any_type_are_refused_without_an_error_page",
        HOSTILE_ISSUERS + "test_metadata_of_a_provider_of_any_type_is_a_provider_that_failed",
        APPS + "test_no_number_in_the_arguments_of_our_tools_is_an_internal_error",
    ),
    "SAFE-24": (
        "tests/test_requirements.py::test_every_test_that_a_page_names_exists",
        "tests/test_requirements.py::test_every_threat_names_a_test",
    ),
    "SAFE-25": (
        EVICTION + "test_large_answers_of_one_caller_take_only_so_much_memory",
        EVICTION + "test_results_that_nobody_fetches_are_bounded_and_a_forgotten_one_is_refused_and_not_made_again",
        EVICTION + "test_a_crowd_of_one_address_takes_the_room_of_that_address_only",
        ONCE_ONLY + "test_a_retry_gets_its_result_again_only_as_long_as_all_results_together_are_not_too_large",
        LIVE_THREADS + "test_people_who_never_answer_leave_threads_to_others",
        LIVE_THREADS + "test_one_caller_may_have_half_of_the_threads_that_others_leave_and_hears_why_there_are_no_more",
        LIVE_THREADS + "test_one_callers_waiting_def_tools_do_not_have_those_of_others_run_again",
        EVICTION + "test_large_arguments_of_one_caller_take_only_so_much_memory",
        EVICTION + "test_over_http_the_bodies_of_requests_count_and_an_address_takes_no_room_of_others",
        EVICTION + "test_the_turns_of_a_crowd_do_not_have_those_of_others_forgotten",
        EVICTION + "test_a_retry_of_one_caller_gets_its_result_again_however_much_others_get",
        EVICTION + "test_a_result_that_is_larger_than_all_may_be_together_pushes_out_only_its_callers",
    ),
    "SAFE-26": (
        FLOWS + "test_a_server_that_withdraws_the_last_question_gets_no_answer_before_the_user_sends_it",
        FLOWS + "test_what_next_accepts_is_reviewed_even_if_no_other_question_is_left",
        FLOWS + "test_a_decision_before_a_page_could_be_seen_does_not_count",
        FLOWS + "test_a_second_decline_does_not_decline_the_next_question",
        LINES + "test_what_was_typed_for_a_withdrawn_question_does_not_answer_the_next_one",
        LINES + "test_what_was_typed_for_a_review_that_changed_does_not_send_it",
        "tests/client/lines/test_keyboard.py::test_what_was_typed_before_a_prompt_can_be_dropped",
        CHROMIUM + "test_a_double_click_answers_only_the_question_that_it_was_for",
        "tests/web/test_app_chromium.py::test_a_double_click_in_an_app_answers_only_the_question_that_it_was_for",
        DOUBLE_CLICKS + "test_a_click_that_comes_too_soon_after_another_page_does_not_count",
        DOUBLE_CLICKS + "test_a_page_that_nobody_was_led_to_takes_an_answer_at_once",
        DOUBLE_CLICKS + "test_another_replica_knows_when_a_page_was_shown_whatever_its_clock_says",
        DOUBLE_CLICKS + "test_in_a_browser_a_double_click_approves_one_page",
        DOUBLE_CLICKS + "test_a_page_that_was_behind_another_window_takes_no_click_at_once",
    ),
    "SAFE-27": (
        LINES + "test_no_text_of_a_field_begins_where_lines_of_the_client_do",
        LINES + "test_no_complaint_about_an_answer_begins_a_line_with_text_of_a_server",
        LINES + "test_no_address_begins_a_line_of_ours_and_all_of_it_is_shown",
        LINES + "test_no_address_that_a_call_waits_for_begins_a_line_of_ours",
        FLOWS + "test_no_line_that_stays_begins_with_text_of_a_server",
        CALL + "test_at_a_terminal_no_text_of_a_server_begins_where_lines_of_the_command_do",
        "tests/cli/test_console.py::test_no_text_of_a_server_begins_where_lines_of_a_command_do",
        "tests/cli/test_console.py::test_only_the_first_line_of_a_sentence_that_quotes_a_server_is_ours",
        "tests/cli/test_console.py::test_no_record_of_a_log_begins_where_lines_of_a_command_do",
        "tests/client/transport/test_server_log.py::test_a_line_of_a_log_stays_one_line_despite_other_line_separators",
        "tests/cli/test_console.py::test_a_status_of_wide_characters_stays_on_its_line",
    ),
    "AUD-1": (
        "tests/server/running/test_holders.py::test_the_audit_trail_names_a_user_whom_no_page_knows",
        "tests/server/test_audit.py::test_each_question_is_asked_and_answered_once",
        "tests/server/test_audit.py::test_an_answer_that_does_not_fit_is_rejected_once",
        "tests/server/test_audit.py::test_a_question_that_nobody_answers_in_time_is_declined_once",
        "tests/server/test_audit.py::test_the_first_decline_counts_for_all_that_were_asked_together",
        "tests/server/test_audit.py::test_adopted_questions_are_in_the_trail_too",
        "tests/server/test_audit.py::test_a_form_on_a_page_has_the_events_of_the_page_and_of_the_visit",
        "tests/portal/test_audit.py::test_another_user_at_a_page_is_in_the_trail_with_both_names",
        "tests/portal/test_audit.py::test_a_post_that_is_not_from_our_page_is_in_the_trail",
        "tests/portal/test_audit.py::test_guessing_ids_is_in_the_trail_and_so_is_its_limit",
        "tests/portal/test_audit.py::test_an_answer_that_comes_too_late_or_for_other_details_is_in_the_trail",
        "tests/portal/test_audit.py::test_a_decline_on_a_page_is_in_the_trail",
        "tests/portal/identity/test_identity_attacks.py::test_a_sign_out_that_is_refused_is_in_the_audit_trail",
        "tests/portal/identity/test_identity_attacks.py::test_an_assertion_of_a_proxy_that_is_refused_is_in_the_audit_trail_once",
        "tests/client/browser/test_site.py::test_every_request_that_is_refused_is_in_the_audit_trail",
        "tests/portal/test_audit.py::test_another_user_of_this_machine_is_in_the_trail",
        "tests/server/test_local_user.py::test_a_caller_who_only_looks_local_is_in_the_audit_trail_once",
        "tests/portal/identity/test_identity_attacks.py::test_a_sign_in_that_is_refused_is_in_the_audit_trail",
        "tests/cli/test_vault.py::test_what_an_operator_deletes_is_in_the_audit_trail_without_its_value",
    ),
    "AUD-2": (
        "tests/server/test_audit_hides.py::test_no_sink_gets_an_answer_a_secret_or_anything_that_opens_something",
        "tests/server/test_audit.py::test_answers_are_included_only_if_that_is_asked_for",
    ),
    "AUD-3": (
        "tests/test_audit.py::test_a_file_gets_a_line_of_json_for_each_event",
        "tests/test_audit.py::test_only_its_owner_can_read_the_file_and_it_can_be_rotated",
        "tests/test_audit.py::test_names_that_others_choose_stay_on_one_line_and_are_cut",
        "tests/test_audit.py::test_a_process_that_ends_writes_what_is_left",
        "tests/test_audit.py::test_a_forked_process_has_its_own_queue",
        "tests/test_audit.py::test_the_variable_can_name_standard_error",
    ),
}
