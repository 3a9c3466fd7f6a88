"""The rows on distillations, on shards of a text, and on copies of a run."""

from tests.faults.row import Row

STAGES = "distillation/test_stages.py"
DISTIL, SHARDS = "cli/test_distil.py", "cli/test_shards.py"
COPIES = "runs/test_copies.py"

DISTIL_ROWS = (
    Row(
        number="T21",
        fault="a distillation is killed, or its disk is full, or its folder is changed, in any "
        "stage",
        promise="The same command again ends in the same bytes, and nothing must be deleted by "
        "hand. A full disk is one sentence with exit code 4. A stage is complete or absent; a "
        "damaged one, or one of another teacher, text or choice, is refused by name.",
        tests=(
            "journeys/test_distil.py"
            "::test_a_distillation_that_is_killed_twice_in_every_stage_ends_in_the_same_bytes",
            "journeys/test_distil.py"
            "::test_a_disk_that_fills_up_in_every_stage_is_reported_and_loses_nothing",
            "journeys/test_distil.py"
            "::test_a_distillation_whose_files_grow_too_large_says_so_and_goes_on_later_to_the_same_bytes",
            f"{DISTIL}::test_a_signal_keeps_the_last_finished_update_of_a_student",
            f"{DISTIL}::test_a_shard_with_a_changed_byte_is_named_and_once_deleted_made_anew",
            f"{DISTIL}::test_a_teacher_of_another_direction_neither_joins_nor_goes_on",
            f"{DISTIL}::test_a_folder_of_other_things_is_left_alone",
            f"{STAGES}::test_a_broken_distillation_goes_on_to_the_same_bytes",
            f"{STAGES}::test_a_shard_of_a_stranger_whose_lines_are_no_translations_is_refused",
            f"{STAGES}::test_another_teacher_or_text_is_refused",
        ),
        controls=(
            "journeys/test_distil.py"
            "::test_the_control_that_writes_a_stage_under_its_name_is_caught",
        ),
    ),
    Row(
        number="T22",
        fault="shards of a text that are killed, lost, damaged, missing, renamed or mixed; workers "
        "of Ray that are killed",
        promise="The merged text has the bytes of an undisturbed single shard, for any number of "
        "shards in any order. A shard is complete or absent. What does not belong together is "
        "refused by name, and no merged file appears.",
        tests=(
            f"{SHARDS}::test_shards_that_are_killed_twice_are_merged_to_the_text_of_one_process",
            f"{SHARDS}::test_any_number_of_shards_in_any_order_gives_one_output",
            f"{SHARDS}::test_a_shard_that_is_there_is_not_translated_again",
            f"{SHARDS}::test_a_shard_belongs_to_its_prefixes_and_to_how_it_was_drawn",
            f"{SHARDS}::test_what_does_not_fit_together_is_not_merged",
            f"{SHARDS}::test_shards_of_two_texts_are_not_merged",
            f"{SHARDS}::test_shards_of_two_models_are_not_merged",
            "external/test_ray.py::test_a_worker_that_is_killed_changes_nothing",
            "external/test_ray.py::test_a_cluster_of_two_nodes_writes_what_one_process_writes",
        ),
        controls=(f"{SHARDS}::test_the_control_that_writes_a_shard_under_its_name_is_caught",),
    ),
    Row(
        number="T23",
        fault="--copy-to: the machine is lost, or the copy is interrupted, damaged, edited, of "
        "another run or ahead",
        promise="The run goes on from its copy, where it never was, to the same bits. An "
        "interrupted copy leaves the one before. What is damaged or of another run is refused, "
        "overwrites nothing and leaves no folder. Where the copy cannot be written at the end, "
        "training says so.",
        tests=(
            f"{COPIES}::test_a_run_goes_on_from_its_copy_as_if_it_had_never_stopped",
            f"{COPIES}::test_a_copy_that_was_interrupted_leaves_the_one_before",
            f"{COPIES}::test_a_copy_that_is_killed_anywhere_has_one_of_the_two_runs",
            f"{COPIES}::test_a_damaged_file_of_a_copy_is_refused_and_leaves_no_folder",
            f"{COPIES}::test_a_list_that_was_edited_is_refused",
            f"{COPIES}::test_a_list_of_a_stranger_leads_nowhere_else",
            f"{COPIES}::test_a_list_that_is_no_file_is_not_waited_for",
            f"{COPIES}::test_a_copy_of_another_run_is_left_alone",
            f"{COPIES}::test_a_copy_that_is_ahead_of_the_folder_is_not_overwritten",
            f"{COPIES}::test_an_address_that_holds_something_else_is_refused_before_training",
            f"{COPIES}::test_where_nothing_can_be_written_training_ends_and_says_what_is_missing",
        ),
        controls=(f"{COPIES}::test_the_control_that_compares_no_hashes_brings_damage_back",),
    ),
)
