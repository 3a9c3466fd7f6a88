"""The rows on exhausted machines, folders of strangers, formats, and hostile text."""

from tests.faults.row import Row

STRANGER_ROWS = (
    Row(
        number="T14",
        fault="memory, open files or threads run out",
        promise="Translating, scoring and aligning repeat a batch as two halves, with the same "
        "outputs in order. Training tries out its largest micro-batch where memory is scarce, and "
        "halves it once before the number is stored. What cannot go on ends with exit code 8 and "
        "one sentence; an announced checkpoint stays.",
        tests=(
            "faults/test_allowance.py::test_a_line_that_would_take_gigabytes_is_refused_before_it_is_encoded",
            "faults/test_allowance.py::test_lines_that_would_take_gigabytes_to_score_are_refused",
            "faults/test_allowance.py::test_no_more_than_a_part_of_a_long_text_is_encoded_at_once",
            "faults/test_allowance.py::test_a_picture_is_refused_by_its_pieces_before_its_search",
            "faults/test_allowance.py::test_a_picture_of_a_wide_beam_is_refused",
            "faults/test_allowance.py"
            "::test_a_beam_of_a_stranger_s_recipe_that_would_take_gigabytes_is_refused",
            "faults/test_allowance.py"
            "::test_a_validation_with_a_beam_that_would_take_gigabytes_is_refused_before_training",
            "faults/test_allowance.py::test_a_server_draws_no_picture_that_takes_over_a_hundred_megabytes",
            "faults/test_allowance.py::test_a_server_searches_as_many_sentences_at_once_as_fit",
            "faults/test_memory.py"
            "::test_a_batch_that_does_not_fit_is_halved_and_every_output_is_the_same",
            "faults/test_memory.py::test_whichever_step_fails_no_line_is_lost_or_out_of_order",
            "faults/test_memory.py::test_pairs_are_scored_and_aligned_in_smaller_batches",
            "runs/test_machine_settings.py"
            "::test_one_that_does_not_fit_is_halved_once_before_the_number_is_stored",
            "journeys/test_exhaustion.py::test_a_text_is_translated_the_same_in_little_memory",
            "journeys/test_exhaustion.py"
            "::test_training_in_too_little_memory_ends_with_a_sentence_and_its_last_save",
            "journeys/test_exhaustion.py::test_files_that_cannot_be_opened_end_with_a_sentence",
            "journeys/test_exhaustion.py::test_threads_that_cannot_be_started_end_with_a_sentence",
        ),
        controls=(
            "faults/test_memory.py::test_the_control_that_goes_on_without_the_batch_is_caught",
            "faults/test_allowance.py::test_the_control_without_an_account_begins_the_work",
            "runs/test_machine_settings.py"
            "::test_the_control_without_a_probe_stores_what_does_not_fit",
        ),
    ),
    Row(
        number="T15",
        fault="a model folder that a stranger made, or that was damaged on the way",
        promise="It is refused with exit code 3 and one sentence: no traceback, no hang, no more "
        "than 200 MB, no file outside of the folder, no process, no connection, no code of its "
        "own. Tried: absurd contents, manifests, headers, recipes and vocabularies with right "
        "checksums; things that are not files; random changes with right and wrong checksums.",
        tests=(
            "faults/test_strangers.py::test_hostile_folders_are_refused_with_a_sentence",
            "faults/test_strangers.py::test_hostile_parts_of_a_folder_are_refused",
            "faults/test_strangers.py::test_mutations_are_refused_or_make_another_sound_model",
            "faults/test_strangers.py::test_what_is_no_file_is_refused",
            "runs/test_hostile_imports.py::test_a_checkpoint_of_a_stranger_is_refused",
            "vocabulary/test_charsmap.py::test_what_leads_out_of_its_trie_is_refused",
            "faults/test_second_trial.py::test_it_is_refused_with_a_sentence",
            "faults/test_second_trial.py::test_a_value_of_any_type_has_a_sentence",
            "inference/test_hostile_folders.py"
            "::test_a_recipe_of_a_larger_model_is_refused_before_a_model_is_built",
            "inference/test_hostile_folders.py::test_a_sparse_file_of_a_terabyte_is_refused_unread",
            "runs/test_resealed.py::test_a_resealed_state_is_refused",
            "runs/test_resealed.py::test_a_resealed_store_is_refused",
        ),
        controls=(
            "faults/test_strangers.py::test_the_control_that_reads_pickles_is_caught",
            "faults/test_strangers.py::test_the_control_that_compares_no_checksums_is_caught",
        ),
    ),
    Row(
        number="T16",
        fault="folders of older and newer versions",
        promise="Models of every task and kind of vocabulary, and a run with its corpus, of every "
        "format are kept for ever. Today's code opens them: equal text, scores to six digits, "
        "equal ids and updates; the run is resumed. A newer format is refused by name.",
        tests=(
            "golden/test_formats.py::test_a_model_of_this_format_answers_as_it_did",
            "golden/test_formats.py::test_a_run_of_this_format_is_read_averaged_and_resumed",
            "golden/test_formats.py::test_a_newer_format_is_refused_with_the_version_to_install",
        ),
        controls=(
            "golden/test_formats.py::test_the_control_that_reads_a_setting_s_new_default_is_caught",
        ),
    ),
    Row(
        number="T17",
        fault="odd text: control characters, separators, marks, markup, damaged UTF-8",
        promise="One line in is one line out, in its place, alone or among others. Bytes that are "
        "no UTF-8 and NUL characters in files are refused with file and line; any text comes back "
        "from its ids as it was normalised.",
        tests=(
            "house/test_expressions.py::test_every_expression_takes_linear_time",
            "faults/test_odd_lines.py::test_every_odd_line_has_one_output_in_its_place",
            "text/test_files.py::test_only_a_newline_ends_a_line",
            "text/test_files.py"
            "::test_bytes_that_are_no_utf8_are_named_with_file_line_and_a_way_out",
            "text/test_files.py::test_sides_of_different_length_are_refused_with_both_counts",
            "text/test_files.py::test_a_line_without_end_is_refused",
            "properties/test_text_vocabulary.py::test_text_comes_back_without_loss",
        ),
        controls=(
            "house/test_expressions.py::test_the_control_of_a_quadratic_expression_is_caught",
            "faults/test_odd_lines.py::test_the_control_that_splits_as_python_does_is_caught",
        ),
    ),
)
