"""What several files of tests look at."""

import pytest
from tiny_run import tiny_run, train


@pytest.fixture(scope="session")
def straight(tmp_path_factory):
    """A run of SWEET-RL with human preferences that nothing interrupted."""
    path = tiny_run(tmp_path_factory.mktemp("straight"), preferences=True)
    ran = train(path)
    assert (ran.code, ran.stderr) == (0, "")
    return path
