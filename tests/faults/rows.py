"""The faults that a run must survive, what is promised for each, and the tests of the promise.

A control is a test of a sabotaged version of the code: it passes if the row's own check detects
the damage. A row without a control would prove nothing.
"""

import sys

from tests.faults.distil_rows import DISTIL_ROWS
from tests.faults.page_rows import PAGE_ROWS
from tests.faults.row import Row
from tests.faults.server_rows import SERVER_ROWS
from tests.faults.stranger_rows import STRANGER_ROWS

ROWS = (
    Row(
        number="T1",
        fault="SIGKILL at any moment",
        promise="The same command again resumes from the last finished checkpoint to the same "
        "bits. No half-written file has its final name, and nothing must be deleted by hand.",
        tests=(
            "checkpoint/test_kills.py::test_forty_kills_lose_nothing_and_leave_nothing",
            "checkpoint/test_kills.py::test_two_hundred_kills_by_the_clock_lose_nothing",
            "checkpoint/test_kills.py::test_a_kill_in_every_single_call_loses_nothing",
            "checkpoint/test_kills.py::test_ten_thousand_kills_lose_nothing",
            "journeys/test_kills.py::test_twenty_five_kills_of_training_lose_nothing",
            "journeys/test_kills.py::test_a_killed_preparation_is_resumed",
            "journeys/test_kills.py::test_what_a_killed_command_was_making_is_absent_or_whole",
            "soak/test_kills.py::test_two_hundred_kills_of_training_lose_nothing",
        ),
        controls=(
            "checkpoint/test_kills.py"
            "::test_the_control_that_writes_straight_to_the_final_name_is_caught",
            "journeys/test_kills.py::test_the_control_that_writes_in_place_is_caught",
        ),
    ),
    Row(
        number="T2",
        fault="power cut: data that was not synced is lost, partly written or zeros",
        promise="Every checkpoint that was reported exists and passes verification; no incomplete "
        "folder has its final name. The system calls of a real training are recorded with strace; "
        "after each of them, disks that a power cut may leave are drawn at random and read.",
        tests=(
            "faults/test_power.py::test_a_power_cut_after_any_call_takes_no_announced_checkpoint",
        ),
        controls=("faults/test_power.py::test_the_control_that_does_not_sync_is_caught",),
    ),
    Row(
        number="T3",
        fault="a disk that is full, refuses, or cannot be read",
        promise="Training continues, the last intact checkpoint stays, one message names the "
        "failure, and the next checkpoint is tried; three failures in a row end the run with exit "
        "code 4. The same command later ends in the same bits. Each system call of a checkpoint is "
        "made to fail in turn, once and for ever.",
        tests=(
            "faults/test_refused.py"
            "::test_training_continues_to_the_same_bits_if_one_call_of_a_checkpoint_fails",
            "faults/test_refused.py"
            "::test_a_disk_that_refuses_for_good_ends_the_run_with_exit_code_4",
            "faults/test_refused.py"
            "::test_a_disk_that_cannot_be_read_at_the_start_is_reported_and_loses_nothing",
            "durable/test_files.py::test_short_writes_are_continued",
            "durable/test_folder.py::test_whatever_call_fails_the_name_is_not_given",
            "durable/test_folder.py::test_a_file_over_the_limit_of_the_system_is_reported",
            "durable/test_folder.py::test_a_full_disk_keeps_what_was_there",
            "journeys/test_limits.py::test_training_on_a_full_disk_reports_it_and_resumes_later",
            "journeys/test_limits.py"
            "::test_a_full_disk_is_reported_and_the_run_resumes_when_space_is_free",
        ),
        controls=(
            "faults/test_refused.py"
            "::test_the_control_that_writes_checkpoints_under_the_final_name_is_caught",
        ),
    ),
    Row(
        number="T4",
        fault="a flipped bit in any stored file",
        promise="The file is refused by name with both checksums; a run resumes from the newest "
        "intact checkpoint with a message. Damaged data is never used.",
        tests=(
            "checkpoint/test_resume.py"
            "::test_a_flip_in_any_class_of_bytes_is_named_and_the_checkpoint_before_is_taken",
            "faults/test_damage.py::test_a_flip_in_any_byte_is_named_and_the_checkpoint_before_is_taken",
            "runs/test_damage.py::test_a_model_folder_is_refused",
            "runs/test_damage.py::test_a_corpus_is_refused",
            "runs/test_damage.py::test_damaged_files_that_a_run_was_started_with_are_refused",
            "runs/test_damage.py::test_a_snapshot_is_refused",
            "runs/test_damage.py::test_a_checkpoint_is_refused_by_name_and_the_one_before_is_found",
        ),
        controls=(
            "runs/test_damage.py::test_the_control_without_verification_damage_is_used_in_silence",
        ),
    ),
    Row(
        number="T5",
        fault="files cut, empty, missing, doubled, swapped; leftovers",
        promise="The folder is refused, or the checkpoint before is used. Files of two steps are "
        "never mixed. Temporary files of dead processes are deleted, those of living ones are not.",
        tests=(
            "corpus/test_store.py::test_ids_that_are_cut_while_they_are_read_are_a_sentence_and_no_signal",
            "corpus/test_store.py"
            "::test_no_file_of_a_store_is_mapped_as_a_cut_would_end_its_reader_by_a_signal",
            "faults/test_damage.py::test_a_cut_at_any_byte_is_named_and_the_checkpoint_before_is_taken",
            "faults/test_damage.py"
            "::test_a_missing_or_doubled_file_is_named_and_the_checkpoint_before_is_taken",
            "faults/test_damage.py::test_files_of_two_steps_are_never_mixed",
            "faults/test_damage.py"
            "::test_a_run_without_an_intact_checkpoint_is_refused_and_not_started_anew",
            "runs/test_damage.py::test_a_file_of_a_model_or_a_corpus_that_was_cut_is_refused",
            "checkpoint/test_resume.py::test_leftovers_and_other_names_are_no_checkpoints",
            "durable/test_lock.py::test_leftovers_of_killed_processes_are_cleaned_and_nothing_else",
            "durable/test_lock.py::test_what_another_process_still_writes_is_left_alone",
        ),
        controls=(
            "faults/test_damage.py::test_the_control_whose_checkpoints_do_not_know_their_step_is_caught",
            "corpus/test_store.py::test_the_control_that_maps_the_file_is_killed",
        ),
    ),
    Row(
        number="T6",
        fault="SIGTERM, SIGINT, twice, SIGUSR1; to one process, and to one of two",
        promise="The first SIGTERM or SIGINT drops the update in progress and writes a checkpoint "
        "of the last finished one; the second ends the process at once, and what was written is "
        "intact; after SIGUSR1 a checkpoint is written and training continues. The same command "
        "resumes to the same bits.",
        tests=(
            "faults/test_signals.py::test_a_signal_at_any_call_keeps_the_last_finished_update",
            "faults/test_signals.py::test_sigusr1_keeps_the_update_that_it_came_in",
            "faults/test_signals.py::test_a_signal_by_the_clock_keeps_the_last_finished_update",
            "journeys/test_signals.py"
            "::test_training_stops_with_its_last_update_saved_and_resumes_to_the_same_end",
            "journeys/test_signals.py"
            "::test_a_signal_at_the_start_is_reported_and_nothing_is_half_written",
            "journeys/test_signals.py::test_a_validation_is_left_at_once_and_repeated_later",
            "journeys/test_signals.py"
            "::test_a_second_signal_ends_it_at_once_and_the_last_checkpoint_is_intact",
            "journeys/test_signals.py::test_translating_is_ended_with_a_sentence_and_no_file",
            "journeys/test_signals.py"
            "::test_preparing_is_ended_with_a_sentence_and_nothing_half_written",
            "journeys/test_workers.py::test_one_signal_stops_all_after_the_last_finished_update",
            "journeys/test_workers.py::test_a_second_signal_ends_all_at_once",
            "journeys/test_workers.py::test_sigusr1_writes_a_checkpoint_and_training_continues",
            "training/distributed/test_group.py"
            "::test_a_checkpoint_requested_of_one_process_is_written_and_training_continues",
        ),
        controls=(
            "faults/test_signals.py::test_the_control_that_stops_in_the_middle_of_things_is_caught",
        ),
    ),
    Row(
        number="T7",
        fault="numbers that are not finite, in one process or in one of two",
        promise="All processes skip the same step, decided on the reduced norm, and count it; too "
        "many in a row end the run with exit code 5; no checkpoint contains such a number.",
        tests=(
            "faults/test_overflow.py::test_every_use_of_weights_that_overflow_is_refused",
            "training/test_loop_keeping.py"
            "::test_updates_that_are_not_finite_are_skipped_and_counted",
            "training/test_loop_keeping.py"
            "::test_several_in_a_row_end_the_run_and_no_checkpoint_holds_what_is_not_finite",
            "training/test_loop_keeping.py::test_weights_that_are_not_finite_are_never_saved",
            "training/distributed/test_group.py"
            "::test_a_step_that_is_not_finite_in_one_process_is_skipped_by_all",
            "training/distributed/test_group.py"
            "::test_too_many_in_a_row_stop_all_and_what_is_saved_is_finite",
            "soak/test_workers.py::test_wherever_a_number_is_not_finite_all_skip_the_same_step",
        ),
        controls=(
            "training/distributed/test_group.py"
            "::test_control_processes_that_decide_for_themselves_drift_apart",
            "faults/test_overflow.py"
            "::test_the_control_that_does_not_look_at_sums_hands_out_what_is_no_number",
        ),
    ),
    Row(
        number="T8",
        fault="one of several processes or their launcher is killed, stopped, fails or is cut off",
        promise="The others end within the time limit and name the lost process, with exit code 7; "
        "no process remains. The same command resumes to the same bits, and so does torchrun when "
        "it starts the processes again, on as many machines as are left.",
        tests=(
            "journeys/test_lost.py::test_a_lost_process_is_named_and_the_same_bits_come_out",
            "journeys/test_lost.py::test_a_process_that_fails_shows_its_fault_and_is_named",
            "journeys/test_lost.py::test_processes_that_are_cut_off_end_after_the_limit",
            "journeys/test_lost.py::test_a_process_lost_by_torchrun_is_named_and_ends_the_others",
            "journeys/test_lost.py::test_a_launcher_that_is_killed_leaves_nobody",
            "journeys/test_torchrun.py::test_processes_that_are_killed_twice_end_in_the_same_bits",
            "journeys/test_torchrun.py"
            "::test_a_loss_under_one_or_two_machines_ends_in_the_same_bits",
            "training/distributed/test_rendezvous.py"
            "::test_every_attempt_has_a_prefix_of_its_own_whatever_the_earlier_ones_left",
        ),
        controls=(
            "journeys/test_lost.py::test_the_control_that_outlives_its_launcher_is_caught",
            "training/distributed/test_rendezvous.py"
            "::test_the_control_whose_attempts_have_one_prefix_is_caught",
        ),
    ),
    Row(
        number="T9",
        fault="a run of one process is stopped anywhere and resumed",
        promise="Weights, moments, snapshots and the journal's figures are equal to the bit to "
        "those of a run that was never stopped.",
        tests=(
            "runs/test_resume.py::test_a_stop_anywhere_after_an_update_changes_no_bit",
            "runs/test_resume.py::test_a_run_that_is_stopped_again_and_again_ends_the_same",
            "training/test_loop_resume.py"
            "::test_a_run_of_40_steps_stopped_anywhere_resumes_to_the_same_bits",
            "training/test_loop_resume.py"
            "::test_a_run_stopped_inside_its_updates_ends_in_the_same_bits",
            "soak/test_resume.py"
            "::test_a_run_of_200_steps_stopped_anywhere_resumes_to_the_same_bits",
        ),
        controls=(
            "runs/test_resume.py"
            "::test_the_control_a_dropout_that_does_not_know_its_step_is_noticed",
            "training/test_loop_resume.py"
            "::test_control_dropout_that_does_not_know_its_step_gives_other_bits",
            "training/test_loop_resume.py::test_control_adam_without_its_moments_gives_other_bits",
        ),
    ),
    Row(
        number="T10",
        fault="a run of several processes is stopped and resumed; open ports",
        promise="The same number of processes ends in the same bits; with --exact every number "
        "does. No port is open to other machines.",
        tests=(
            "training/distributed/test_exchange.py::test_exact_processes_end_in_the_bits_of_one",
            "training/distributed/test_exchange.py"
            "::test_the_same_number_of_processes_ends_in_the_same_bits_wherever_it_was_stopped",
            "journeys/test_workers.py"
            "::test_with_exact_every_number_of_processes_ends_in_the_same_bits",
            "journeys/test_workers.py::test_nothing_listens_beyond_this_machine",
            "soak/test_workers.py"
            "::test_one_to_four_exact_processes_end_in_the_same_bits_wherever_they_were_stopped",
        ),
        controls=(
            "training/distributed/test_exchange.py"
            "::test_control_gradients_added_process_by_process_have_other_bits",
        ),
    ),
    Row(
        number="T11",
        fault="many processes in one folder; an owner of the lock that died or is stopped",
        promise="One process works, the others end with exit code 6 and name its id, machine and "
        "start. A lock ends with its owner. Readers never get half of a folder that is deleted.",
        tests=(
            "faults/test_owner.py::test_of_many_processes_one_works_and_a_dead_one_blocks_no_other",
            "faults/test_owner.py::test_an_owner_that_stands_still_is_still_the_owner",
            "faults/test_owner.py::test_a_reader_never_sees_half_of_what_is_deleted_meanwhile",
            "durable/test_lock.py::test_a_forked_worker_neither_keeps_nor_releases_the_lock",
            "durable/test_lock.py::test_the_lock_goes_with_a_killed_process",
            "journeys/test_limits.py::test_two_processes_in_one_folder_are_one_too_many",
        ),
        controls=(
            "faults/test_owner.py::test_the_control_with_a_file_of_the_process_id_is_caught",
        ),
    ),
    Row(
        number="T12",
        fault="a folder that cannot be written, or with links to other folders",
        promise="The folder is refused with one sentence before the first step, and nothing "
        "outside of its folder changes. A link named as the run's folder is followed; links inside "
        "it are not. Any file name is allowed, and no name can forge a message.",
        tests=(
            "faults/test_places.py::test_the_clean_up_of_a_lock_hides_no_error_of_a_folder_that_vanished",
            "faults/test_places.py"
            "::test_a_folder_that_cannot_hold_a_run_is_refused_before_the_first_step",
            "faults/test_places.py::test_a_read_only_disk_is_refused_before_the_first_step",
            "faults/test_places.py::test_a_deleted_current_folder_is_reported",
            "faults/test_places.py::test_a_strange_name_is_a_name",
            "faults/test_places.py::test_names_of_ours_differ_by_more_than_their_case",
            "faults/test_places.py::test_on_a_disk_that_knows_no_case_the_same_run_is_found",
            "faults/test_places.py"
            "::test_a_run_folder_that_vanishes_ends_the_run_and_comes_not_back",
        ),
        controls=(
            "faults/test_places.py::test_the_control_that_checks_the_first_checkpoint_only_is_caught",
            "faults/test_places.py::test_the_control_that_follows_links_is_caught",
            "faults/test_places.py"
            "::test_the_control_whose_clean_up_looks_into_the_folder_hides_the_error",
        ),
    ),
    Row(
        number="T13",
        fault="the wall clock jumps",
        promise="The newest checkpoint is that of the highest step. Times of checkpoints, their "
        "order and every bit are those of a run with a correct clock.",
        tests=(
            "faults/test_clock.py::test_a_clock_that_jumps_changes_no_bit_and_no_checkpoint",
            "faults/test_clock.py::test_the_newest_checkpoint_is_the_highest_step_whatever_its_time",
        ),
        controls=(
            "faults/test_clock.py::test_the_control_that_times_its_checkpoints_by_the_wall_is_caught",
            "faults/test_clock.py::test_the_control_that_takes_the_newest_by_its_time_is_caught",
        ),
    ),
    *STRANGER_ROWS,
    *PAGE_ROWS,
    *SERVER_ROWS,
    *DISTIL_ROWS,
)


BY_TEST = {f"tests/{test}": row for row in ROWS for test in (*row.tests, *row.controls)}


def row_of(nodeid: str) -> Row | None:
    """Return the row of a test, given pytest's name with its parameters; None if it has none."""
    return BY_TEST.get(nodeid.split("[")[0])


if __name__ == "__main__":  # for scripts/renew-reliability
    sys.stdout.write("\n".join(BY_TEST) + "\n")
