"""Fixtures of several test files."""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # two workers share the cores, and threads that wait for a core take another one's

import pytest
from tiny_run import tiny_run, train

LONGEST = (
    "test_cluster",
    "test_fsdp",
    "test_real_model",
    "test_interrupted",
    "test_distributed",
    "test_run",
    "test_finish",
    "test_shared_critic",
)


def pytest_collection_modifyitems(items):
    """Puts the files that take longest first: begun last, one of them would keep a core waiting."""
    place = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.stem, len(LONGEST)))


@pytest.fixture(scope="session")
def straight(tmp_path_factory):
    """Trains SWEET-RL with human preferences, without interruption. Tests read it and leave it as it is."""
    path = tiny_run(tmp_path_factory.mktemp("straight"), preferences=True)
    ran = train(path)
    assert (ran.code, ran.stderr) == (0, "")
    return path
