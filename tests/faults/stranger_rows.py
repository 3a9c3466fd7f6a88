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
            "runs/test_machine_settings.py"
            "::test_the_control_without_a_probe_stores_what_does_not_fit",
        ),
    ),
)
