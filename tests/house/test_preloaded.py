"""The modules that forked commands of tests find imported."""

import importlib

import pytest
from tests.forked import PRELOADED


@pytest.mark.parametrize("name", PRELOADED)
def test_a_preloaded_module_can_be_imported(name):
    importlib.import_module(name)
