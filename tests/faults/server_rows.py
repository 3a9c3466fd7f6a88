"""The rows of faults of the translation server: clients, load, its processes and models."""

from tests.faults.row import Row

HOSTILE, LIFE = "serve/test_hostile.py", "serve/test_life.py"
CONNECTIONS = "serve/test_connections.py"
SERVER_ROWS = (
    Row(
        number="T19",
        fault="hostile clients of the server: damaged, endless, slow or huge requests",
        promise="Limits hold, honest clients are answered, and every refusal is JSON with a status "
        "that says why, without a trace. A web page of another origin, or one that reaches the "
        "server by a name of its own, is refused. The long form sends damaged requests to the "
        "command while 200 slow connections are open and honest clients translate.",
        tests=(
            f"{HOSTILE}::test_damaged_requests_get_no_other_answers_than_refusals",
            f"{HOSTILE}::test_a_head_that_never_ends_is_not_waited_for",
            f"{HOSTILE}::test_two_hundred_slow_clients_hold_up_no_honest_one",
            f"{CONNECTIONS}::test_a_client_with_many_slow_connections_keeps_no_other_out",
            f"{CONNECTIONS}::test_requests_that_are_being_answered_keep_their_connections",
            f"{HOSTILE}::test_a_body_that_never_ends_is_not_waited_for",
            f"{HOSTILE}::test_a_client_that_does_not_read_is_not_waited_for",
            f"{HOSTILE}::test_a_large_body_is_refused_whether_its_length_is_said_or_not",
            f"{HOSTILE}::test_a_head_that_is_too_large_is_refused",
            f"{HOSTILE}::test_a_head_of_a_form_that_repeats_its_beginning_takes_linear_time",
            f"{HOSTILE}::test_what_is_no_http_is_refused_with_json",
            f"{HOSTILE}::test_what_is_no_json_is_refused_and_not_repeated",
            f"{HOSTILE}::test_broken_forms_are_refused",
            f"{HOSTILE}::test_names_of_host_that_are_not_this_server_s_are_refused",
            f"{HOSTILE}::test_web_pages_of_other_origins_are_refused",
            f"{HOSTILE}::test_requests_sent_at_once_are_answered_one_after_the_other",
            f"{HOSTILE}::test_a_fault_is_logged_without_the_text_and_told_without_a_trace",
            "soak/test_server.py::test_honest_clients_are_answered_among_thousands_of_hostile_ones",
            "soak/test_server.py"
            "::test_ten_thousand_damaged_requests_get_no_other_answers_than_refusals",
        ),
        controls=(
            f"{HOSTILE}::test_plain_uvicorn_waits_for_it_without_end",
            f"{CONNECTIONS}::test_the_control_that_refuses_the_newest_connection_is_caught",
            f"{HOSTILE}::test_the_control_that_reads_json_as_python_does_is_caught",
        ),
    ),
    Row(
        number="T20",
        fault="the server under load: over capacity, clients that leave, killed searches, SIGTERM, "
        "replaced and damaged models",
        promise="Every answer is the translation of the client's own text. Over capacity requests "
        "are refused at once with 503, and the search for a client that has left stops. When a "
        "search process ends, or is killed as it answers nothing for 30 seconds, another is "
        "started, as often as it takes, and repeats its sentences; a request that ends two of "
        "them is refused. /health says when a model has none. On "
        "SIGTERM accepted requests are answered. A model that does not verify is never used.",
        tests=(
            f"{LIFE}::test_no_answer_goes_to_another_client",
            f"{LIFE}::test_parallel_clients_get_the_answers_to_their_own_texts",
            f"{LIFE}::test_a_long_text_holds_up_no_short_one",
            f"{LIFE}"
            "::test_over_capacity_requests_are_refused_at_once_and_all_accepted_ones_are_answered",
            f"{LIFE}::test_what_a_client_that_leaves_has_asked_for_is_no_longer_searched",
            f"{LIFE}::test_what_takes_too_long_is_refused_and_no_longer_searched",
            f"{LIFE}::test_the_sentences_of_a_search_that_ends_are_searched_again",
            f"{LIFE}::test_a_sentence_that_ends_two_searches_is_refused",
            f"{LIFE}::test_a_request_that_ends_two_searches_is_refused_alone",
            f"{LIFE}::test_health_says_that_a_model_has_no_search_until_it_has_one_again",
            f"{LIFE}::test_a_search_that_is_stopped_is_replaced_and_health_says_so",
            f"{LIFE}::test_a_stopped_search_whose_pipe_is_full_does_not_stop_the_server",
            f"{LIFE}::test_a_search_that_cannot_be_started_again_is_tried_until_it_can",
            f"{LIFE}::test_thousands_of_failed_starts_are_followed_by_another_one",
            f"{LIFE}::test_a_search_that_ends_as_soon_as_it_is_ready_is_started_again",
            f"{LIFE}::test_a_search_that_starts_again_with_other_languages_is_not_used",
            f"{LIFE}::test_a_server_that_is_stopped_answers_what_it_has_accepted",
            f"{LIFE}::test_a_server_that_is_stopped_refuses_what_it_cannot_finish_in_time",
            "serve/test_replacement.py::test_another_model_in_the_folder_is_used_without_a_gap",
            "serve/test_replacement.py::test_a_damaged_model_is_never_used",
            "serve/test_replacement.py"
            "::test_a_model_that_could_not_be_loaded_for_want_of_memory_is_tried_again",
            "serve/test_replacement.py"
            "::test_a_server_that_is_stopped_while_a_model_is_loaded_leaves_no_search",
            "serve/test_command.py"
            "::test_it_survives_the_end_of_a_search_and_stops_with_its_work_done",
            "soak/test_server.py"
            "::test_under_load_no_answer_is_crossed_and_none_that_was_accepted_is_lost",
        ),
        controls=(
            f"{LIFE}::test_the_control_whose_requests_share_a_number_is_caught",
            f"{LIFE}::test_the_control_that_starts_a_search_once_is_caught",
        ),
    ),
)
