"""Fixtures of several test files."""

import pytest
from tiny_run import tiny_run, train


@pytest.fixture(scope="session")
def straight(tmp_path_factory):
    """Trains SWEET-RL with human preferences, without interruption."""
    path = tiny_run(tmp_path_factory.mktemp("straight"), preferences=True)
    ran = train(path)
    assert (ran.code, ran.stderr) == (0, "")
    return path
