from pathlib import Path

import pytest

from transduce.errors import InputError
from transduce.training.distributed.rank import ProcessRank


def test_an_environment_without_a_rank_is_that_of_a_single_process():
    assert ProcessRank.from_environment({"HOME": "/"}) == ProcessRank()
    assert ProcessRank().is_single_process


def test_the_environment_that_the_launcher_sets_is_read_again():
    rank = ProcessRank(
        rank=1, world_size=3, local_rank=1, local_size=3, rendezvous_file=Path("/m/x"), parent=7
    )
    for one in (rank, ProcessRank()):
        assert ProcessRank.from_environment(one.as_environment()) == one


def test_the_variables_of_torchrun_are_read():
    variables = {"RANK": "5", "WORLD_SIZE": "8", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "4"}
    rank = ProcessRank.from_environment(
        variables | {"MASTER_ADDR": "node1", "MASTER_PORT": "29500"}
    )
    assert rank == ProcessRank(rank=5, world_size=8, local_rank=1, local_size=4)
    assert ProcessRank.from_environment({"RANK": "0", "WORLD_SIZE": "1"}).is_single_process


def test_a_rank_without_a_rendezvous_is_refused():
    with pytest.raises(InputError, match="MASTER_ADDR is not\nhint: start by torchrun, or by wo"):
        ProcessRank.from_environment({"RANK": "0", "WORLD_SIZE": "2"})


def test_a_rank_that_is_no_number_is_refused():
    with pytest.raises(InputError, match=r"RANK is '-1' in the environment"):
        ProcessRank.from_environment({"RANK": "-1", "WORLD_SIZE": "2"})


@pytest.mark.parametrize(
    ("variables", "fact"),
    [
        ({"RANK": "0", "WORLD_SIZE": "0"}, "RANK is 0 and WORLD_SIZE is 0"),
        ({"RANK": "2", "WORLD_SIZE": "2"}, "RANK is 2 and WORLD_SIZE is 2"),
        (
            {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "3", "LOCAL_WORLD_SIZE": "2"},
            "LOCAL_RANK is 3 and LOCAL_WORLD",
        ),
    ],
)
def test_a_rank_among_too_few_processes_is_refused(variables, fact):
    with pytest.raises(InputError, match=fact):
        ProcessRank.from_environment(variables)


@pytest.mark.parametrize("port", [None, "", "abc", "0", "65536", "9" * 5_000, "²"])
def test_a_rendezvous_without_a_port_is_refused(port):
    variables = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1"}
    with pytest.raises(InputError, match="MASTER_PORT is "):
        ProcessRank.from_environment(variables | ({} if port is None else {"MASTER_PORT": port}))
