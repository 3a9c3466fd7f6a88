"""A small store for whoever asks, of bytes: an id is a byte and two."""

import dataclasses

import pytest

from transduce.corpus.build import build_store
from transduce.settings import Data
from transduce.tasks import build_task
from transduce.vocabulary.learn import learn_vocabulary
from transduce.vocabulary.vocabulary import Vocabularies

DATA = Data(vocabulary_size=258, max_length=12, source_tokens=40, target_tokens=40)


def quiet(_):
    """Progress that nobody looks at."""


@pytest.fixture
def store_of(tmp_path):
    """Build a store from pairs; words name what differs from the usual."""

    def build_one(
        pairs, name="store", progress=quiet, cleaning=dict, keeps_texts=False, shares=(), **settings
    ):
        data = dataclasses.replace(DATA, **settings)
        bytes_only = learn_vocabulary(["a line"], 258)
        return build_store(
            tmp_path / name,
            pairs if shares else [pairs],
            build_task(data, Vocabularies(bytes_only, bytes_only)),
            data,
            inputs={"source": "1a2b", "target": "3c4d"},
            cleaning=cleaning,
            shares=shares,
            keeps_texts=keeps_texts,
            progress=progress,
        )

    return build_one
