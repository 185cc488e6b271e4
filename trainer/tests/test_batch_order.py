"""The order of examples depends on seed, epoch and step only."""

import random
from itertools import pairwise

import numpy as np
import pytest

from tandem_trainer.data.batch_order import epoch_order, micro_batches, step_batch, steps_per_epoch
from tandem_trainer.turn import Example, Turn

TURN = Turn(np.array([1], np.int32), np.array([2], np.int32))


def examples_of(*sizes: int) -> list[Example]:
    """Makes groups of these sizes, with their members scattered over the list."""
    groups = [f"task {number}" for number, size in enumerate(sizes) for _ in range(size)]
    random.Random(0).shuffle(groups)
    return [Example(group, (TURN,)) for group in groups]


def epoch_of(examples: list[Example], *, seed: int, epoch: int, batch: int) -> list[int]:
    steps = range(steps_per_epoch(len(examples), batch))
    return [
        index
        for step in steps
        for index in step_batch(examples, seed=seed, epoch=epoch, step_in_epoch=step, batch=batch)
    ]


EXAMPLES = examples_of(1, 4, 2, 7, 1, 3, 2)


@pytest.mark.parametrize("batch", [1, 3, 100])
def test_every_example_comes_once_an_epoch(batch):
    for epoch in range(3):
        assert sorted(epoch_of(EXAMPLES, seed=5, epoch=epoch, batch=batch)) == list(range(len(EXAMPLES)))
    behind = steps_per_epoch(len(EXAMPLES), batch)
    assert step_batch(EXAMPLES, seed=0, epoch=0, step_in_epoch=behind, batch=batch) == []


def test_a_run_that_resumes_at_any_step_sees_what_an_uninterrupted_one_sees():
    uninterrupted = [step_batch(EXAMPLES, seed=1, epoch=2, step_in_epoch=step, batch=3) for step in range(7)]
    for start in reversed(range(7)):
        epoch_order.cache_clear()
        assert step_batch(EXAMPLES, seed=1, epoch=2, step_in_epoch=start, batch=3) == uninterrupted[start]


def test_members_of_a_group_stand_side_by_side_in_the_order_given():
    order = epoch_of(EXAMPLES, seed=0, epoch=0, batch=4)
    groups = [EXAMPLES[index].group for index in order]
    assert sum(a != b for a, b in pairwise(groups)) == len(set(groups)) - 1
    for group in set(groups):
        members = [index for index in order if EXAMPLES[index].group == group]
        assert members == sorted(members)


def test_the_order_changes_with_epoch_and_seed_and_with_nothing_else():
    first = epoch_of(EXAMPLES, seed=0, epoch=0, batch=4)
    assert first == epoch_of(EXAMPLES, seed=0, epoch=0, batch=7)
    assert first != epoch_of(EXAMPLES, seed=0, epoch=1, batch=4)
    assert first != epoch_of(EXAMPLES, seed=1, epoch=0, batch=4)


def test_micro_batches_keep_the_order_and_the_budget():
    random_sizes = random.Random(1)
    for _ in range(50):
        sizes = [random_sizes.randint(1, 12) for _ in range(random_sizes.randint(1, 20))]
        batches = micro_batches(range(len(sizes)), lambda batch, sizes=sizes: sum(sizes[i] for i in batch), budget=16)
        assert [index for batch in batches for index in batch] == list(range(len(sizes)))
        assert all(sum(sizes[index] for index in batch) <= 16 for batch in batches)
        for batch, after in pairwise(batches):
            assert sum(sizes[index] for index in batch) + sizes[after[0]] > 16


def test_an_example_over_the_budget_stands_alone_and_tokens_are_counted_as_they_are_shared():
    sizes = [3, 40, 3, 3]
    assert micro_batches([0, 1, 2, 3], lambda batch: sum(sizes[i] for i in batch), budget=8) == [[0], [1], [2, 3]]
    assert micro_batches([0, 1, 2], lambda batch: 10 + len(batch), budget=13) == [[0, 1, 2]]
