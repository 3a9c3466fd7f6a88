"""The faults that a run must outlive, what is promised, and which tests hold the promise.

A control is a sabotaged version of what the row tests: it passes when the row's own check sees the
harm. A row without one would prove nothing.
"""

import sys
from dataclasses import dataclass
from functools import cache
from typing import final


@final
@dataclass(frozen=True, kw_only=True)
class Row:
    """One kind of fault; tests are named `folder/test_file.py::test_name`, from `tests/`."""

    number: str
    fault: str
    promise: str
    tests: tuple[str, ...]
    controls: tuple[str, ...]


ROWS = (
    Row(
        number="T1",
        fault="SIGKILL at any moment",
        promise="The same command again goes on from the last finished save to the same bits. "
        "Nothing half-written has a final name; nothing is left to clean by hand.",
        tests=(
            "checkpoint/test_kills.py::test_forty_kills_lose_nothing_and_leave_nothing",
            "checkpoint/test_kills.py::test_two_hundred_kills_by_the_clock_lose_nothing",
            "checkpoint/test_kills.py::test_a_kill_in_every_single_call_loses_nothing",
            "checkpoint/test_kills.py::test_ten_thousand_kills_lose_nothing",
            "journeys/test_kills.py::test_twenty_five_kills_of_training_lose_nothing",
            "journeys/test_kills.py::test_a_killed_preparation_is_gone_on_with",
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
        fault="power cut: what was not synced is gone, torn or zeros",
        promise="Every save that was announced is there and verifies; no final name stands over "
        "half a folder. The calls of a real training are recorded with strace, and what each "
        "prefix of them may leave on a disk is drawn at random, written out and read by us.",
        tests=("faults/test_power.py::test_a_power_cut_after_any_call_takes_no_announced_save",),
        controls=("faults/test_power.py::test_the_control_a_saver_that_forgets_is_caught",),
    ),
    Row(
        number="T3",
        fault="a disk that is full, refuses, or cannot be read",
        promise="Training goes on, the last good save stays, one message says what failed, and "
        "the next save is tried; three failed saves in a row end the run with exit code 4. The "
        "same command later ends in the same bits. Each call of a save is made to fail in turn, "
        "once and for good.",
        tests=(
            "faults/test_refused.py"
            "::test_one_call_of_a_save_fails_and_training_goes_on_to_the_same_bits",
            "faults/test_refused.py"
            "::test_a_disk_that_refuses_for_good_ends_the_run_with_exit_code_4",
            "faults/test_refused.py"
            "::test_a_disk_that_cannot_be_read_at_the_start_is_told_and_loses_nothing",
            "durable/test_files.py::test_short_writes_are_continued",
            "durable/test_folder.py::test_whatever_call_fails_the_name_is_not_given",
            "durable/test_folder.py::test_a_file_over_the_limit_of_the_system_is_told",
            "durable/test_folder.py::test_a_full_disk_keeps_what_was_there",
            "journeys/test_limits.py::test_training_that_finds_no_room_says_so_and_goes_on_later",
            "journeys/test_limits.py"
            "::test_a_disk_that_is_full_is_told_and_gone_on_with_when_there_is_room",
        ),
        controls=(
            "faults/test_refused.py"
            "::test_the_control_that_saves_straight_to_the_final_name_is_caught",
        ),
    ),
    Row(
        number="T4",
        fault="a flipped bit in any file that is kept",
        promise="Refused, with the name of the file and both sums; a run goes back to the newest "
        "sound save and says so. Nothing damaged is ever used.",
        tests=(
            "checkpoint/test_saves.py"
            "::test_a_flip_in_any_class_of_bytes_is_named_and_the_save_before_is_taken",
            "faults/test_damage.py::test_a_flip_in_any_byte_is_named_and_the_save_before_is_taken",
            "tasks/test_damage.py::test_a_model_folder_is_refused",
            "tasks/test_damage.py::test_a_corpus_is_refused",
            "tasks/test_damage.py::test_what_a_run_was_begun_with_is_refused",
            "tasks/test_damage.py::test_a_snapshot_is_refused",
            "tasks/test_damage.py::test_a_save_is_refused_by_name_and_the_one_before_is_found",
        ),
        controls=(
            "tasks/test_damage.py::test_the_control_without_verification_damage_is_used_in_silence",
        ),
    ),
    Row(
        number="T5",
        fault="files cut, empty, missing, doubled, swapped; leftovers",
        promise="Refused, or the save before is taken. Files of two steps are never mixed. "
        "Leftovers of dead processes are cleaned, those of living ones are not.",
        tests=(
            "faults/test_damage.py::test_a_cut_at_any_byte_is_named_and_the_save_before_is_taken",
            "faults/test_damage.py"
            "::test_a_missing_or_doubled_file_is_named_and_the_save_before_is_taken",
            "faults/test_damage.py::test_files_of_two_steps_are_never_mixed",
            "faults/test_damage.py"
            "::test_a_run_with_no_sound_save_left_is_refused_and_not_begun_anew",
            "tasks/test_damage.py::test_a_file_of_a_model_or_a_corpus_that_was_cut_is_refused",
            "checkpoint/test_saves.py::test_leftovers_and_other_names_are_no_saves",
            "durable/test_lock.py::test_leftovers_of_killed_processes_are_cleaned_and_nothing_else",
            "durable/test_lock.py::test_what_another_process_still_writes_is_left_alone",
        ),
        controls=(
            "faults/test_damage.py::test_the_control_whose_saves_do_not_know_their_step_is_caught",
        ),
    ),
    Row(
        number="T11",
        fault="many in one folder; an owner that died, or stands still",
        promise="One works, the others end with exit code 6 and name its process, machine and "
        "start. A lock goes with its owner. Readers never see half of what is deleted meanwhile.",
        tests=(
            "faults/test_owner.py::test_of_many_at_once_one_works_and_a_dead_one_is_in_nobodys_way",
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
        fault="a place where nothing can be kept, or that leads elsewhere",
        promise="Refused with one sentence before the first step, and nothing outside the run's "
        "folder changes. A link that a person names as the run's folder is followed; links inside "
        "it are not. A strange name is a name, and cannot forge a message.",
        tests=(
            "faults/test_places.py"
            "::test_a_place_that_cannot_hold_a_run_is_refused_before_the_first_step",
            "faults/test_places.py::test_a_read_only_disk_is_refused_before_the_first_step",
            "faults/test_places.py::test_a_current_folder_that_is_gone_is_told",
            "faults/test_places.py::test_a_strange_name_is_a_name",
            "faults/test_places.py::test_names_of_ours_differ_by_more_than_their_case",
            "faults/test_places.py::test_on_a_disk_that_knows_no_case_the_same_run_is_found",
            "faults/test_places.py"
            "::test_a_run_folder_that_vanishes_ends_the_run_and_comes_not_back",
        ),
        controls=(
            "faults/test_places.py::test_the_control_that_looks_only_at_the_first_save_is_caught",
            "faults/test_places.py::test_the_control_that_follows_links_is_caught",
        ),
    ),
    Row(
        number="T13",
        fault="the wall clock jumps",
        promise="The newest save is the highest step. When saves are written, their order and "
        "every bit are those of a run by a clock that is right.",
        tests=(
            "faults/test_clock.py::test_a_clock_that_jumps_changes_no_bit_and_no_save",
            "faults/test_clock.py::test_the_newest_save_is_the_highest_step_whatever_its_time",
        ),
        controls=(
            "faults/test_clock.py::test_the_control_that_times_its_saves_by_the_wall_is_caught",
            "faults/test_clock.py::test_the_control_that_takes_the_newest_by_its_time_is_caught",
        ),
    ),
)


@cache
def rows_by_test() -> dict[str, Row]:
    """Which row a test is of."""
    return {f"tests/{test}": row for row in ROWS for test in (*row.tests, *row.controls)}


def row_of(nodeid: str) -> Row | None:
    """The row of a test as pytest names it, with its parameters."""
    return rows_by_test().get(nodeid.split("[")[0])


if __name__ == "__main__":  # for scripts/renew-reliability
    sys.stdout.write("\n".join(rows_by_test()) + "\n")
