from pathlib import Path

import pytest

from transduce.errors import InputError
from transduce.training.distributed.rank import Place, environment_of


def test_who_finds_nothing_in_the_environment_is_alone():
    assert Place.of({"HOME": "/"}) == Place()
    assert Place().is_alone


def test_what_the_launcher_writes_is_read_again():
    place = Place(rank=1, size=3, local_rank=1, local_size=3, meeting=Path("/m/x"), parent=7)
    assert Place.of(environment_of(place)) == place
    assert place.name == "process 1 of 3"


def test_torchrun_s_words_are_understood():
    words = {"RANK": "5", "WORLD_SIZE": "8", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "4"}
    place = Place.of(words | {"MASTER_ADDR": "node1", "MASTER_PORT": "29500"})
    assert place == Place(rank=5, size=8, local_rank=1, local_size=4)
    assert Place.of({"RANK": "0", "WORLD_SIZE": "1"}).is_alone


def test_a_rank_without_a_place_to_meet_is_refused():
    with pytest.raises(InputError, match="MASTER_ADDR is not\nhint: start by torchrun, or by --wo"):
        Place.of({"RANK": "0", "WORLD_SIZE": "2"})


def test_a_rank_that_is_no_number_is_refused():
    with pytest.raises(InputError, match=r"RANK is '-1' in the environment"):
        Place.of({"RANK": "-1", "WORLD_SIZE": "2"})
