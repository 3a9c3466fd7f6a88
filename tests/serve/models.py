"""Models with random weights for the server's searches, which load them by these names."""

import os
import signal
from dataclasses import replace

from tests.inference.random_models import random_translator

from transduce.errors import InputError
from transduce.inference.translator import Translator


def load_random() -> Translator:
    """A model from English to German whose outputs differ from line to line."""
    return random_translator()


def load_back() -> Translator:
    """Another model, from German to English."""
    return random_pair(2, "de", "en")


def load_third() -> Translator:
    """A model from French to English."""
    return random_pair(3, "fr", "en")


def random_pair(seed: int, source: str, target: str) -> Translator:
    found = random_translator(seed)
    data = replace(found.recipe.data, source_language=source, target_language=target)
    return replace(found, recipe=replace(found.recipe, data=data))


def load_nothing() -> Translator:
    raise InputError("no such folder", "name another", file="somewhere")


def load_and_die() -> Translator:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError
