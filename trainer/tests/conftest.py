"""Fixtures of several test files."""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # two workers share the cores, and threads that wait for a core take another one's

import pytest
from tiny_run import tiny_run, train

SLOWEST_FIRST = (
    "test_cluster",
    "test_fsdp",
    "test_real_model",
    "test_interrupted",
    "test_distributed",
    "test_run",
    "test_finish",
    "test_shared_critic",
)


# Their tests are the quick selection, `pytest -m "not slow" -n0`, but for those that are marked `slow` themselves.
QUICK = (
    "test_archer",
    "test_base",
    "test_batch_order",
    "test_checkpoint",
    "test_config",
    "test_critic",
    "test_events",
    "test_export",
    "test_log_probs",
    "test_losses",
    "test_optimise",
    "test_pairs",
    "test_play",
    "test_policy",
    "test_prefix_tree",
    "test_prompt_file",
    "test_reference_cache",
    "test_rows",
    "test_sampler",
    "test_schema",
    "test_sweet_rl",
    "test_template",
    "test_tokenize_turns",
    "test_track",
    "test_worker_nodes",
)
# These start a Ray cluster, or several processes that train together.
CLUSTER = ("test_cluster", "test_distributed", "test_fsdp")


def pytest_collection_modifyitems(items):
    """Marks the tests, and puts the files that take longest first: begun last, one would keep a core waiting."""
    place = {name: number for number, name in enumerate(SLOWEST_FIRST)}
    items.sort(key=lambda item: place.get(item.path.stem, len(SLOWEST_FIRST)))
    for item in items:
        if item.path.stem not in QUICK:
            item.add_marker("slow")
        if item.path.stem in CLUSTER:
            item.add_marker("cluster")


@pytest.fixture(scope="session")
def straight(tmp_path_factory):
    """Trains SWEET-RL with human preferences, without interruption. Tests read it and leave it as it is."""
    path = tiny_run(tmp_path_factory.mktemp("straight"), preferences=True)
    ran = train(path)
    assert (ran.code, ran.stderr) == (0, "")
    return path
