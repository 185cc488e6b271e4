import numpy as np
import pytest

from tandem_trainer.fault import Fault
from tandem_trainer.model.prefix_tree import forest_tokens, grow
from tandem_trainer.turn import Turn


def turn(prompt, response) -> Turn:
    return Turn(np.array(prompt, np.int32), np.array(response, np.int32))


def rows_of(forest) -> list[list[int]]:
    """Returns the row of tokens on each segment's path."""
    rows = []
    for segment in forest.segments:
        runs = (*segment.ancestors, (segment.start, segment.end))
        rows.append([int(token) for start, end in runs for token in forest.ids[start:end]])
    return rows


def test_candidates_of_one_prompt_hold_the_prompt_once():
    forest = grow([turn([1, 2, 3], [4, 5, 9]), turn([1, 2, 3], [6, 9]), turn([1, 2, 3], [7, 8, 9])])
    assert forest.ids.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert forest.positions.tolist() == [0, 1, 2, 3, 4, 3, 3, 4]
    assert rows_of(forest) == [[1, 2, 3, 4, 5], [1, 2, 3, 6], [1, 2, 3, 7, 8]]


def test_turns_that_continue_each_other_are_one_segment():
    forest = grow([turn([1, 2], [3, 4]), turn([1, 2, 3, 4, 5], [6, 7]), turn([1, 2, 3, 4, 5, 6, 7, 8], [9, 2])])
    assert len(forest.segments) == 1
    assert forest.ids.tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9]


def test_branches_of_branches_keep_their_whole_path():
    forest = grow([turn([1], [2, 3, 0]), turn([1, 2], [4, 5, 0]), turn([1, 2], [4, 6, 0]), turn([7], [1, 0])])
    assert sorted(rows_of(forest)) == [[1, 2, 3], [1, 2, 4, 5], [1, 2, 4, 6], [7, 1]]
    assert forest.positions.tolist() == [len(row) - 1 for row in _prefixes(forest)]


def _prefixes(forest):
    """Returns for each token of the pack the row up to it."""
    for segment, row in zip(forest.segments, rows_of(forest), strict=True):
        before = len(row) - (segment.end - segment.start)
        for depth in range(before, len(row)):
            yield row[: depth + 1]


def test_each_response_token_is_read_from_the_token_before_it():
    generator = np.random.default_rng(0)
    turns = [turn(generator.integers(0, 3, p), generator.integers(0, 3, n)) for p in (1, 2, 5) for n in (1, 2, 4, 6)]
    turns.append(turns[-1])  # a turn that is given twice is computed once
    forest = grow(turns)
    prefixes = list(_prefixes(forest))
    for one, place in zip(turns, forest.places, strict=True):
        row = [*one.prompt.tolist(), *one.response.tolist()]
        for index, n in enumerate(place.tolist()):
            assert forest.targets[n] == one.response[index]
            assert prefixes[forest.reads[n]] == row[: len(one.prompt) + index]
    pairs = set(zip(forest.reads.tolist(), forest.targets.tolist(), strict=True))
    assert len(pairs) == len(forest.reads)
    assert len({tuple(prefix) for prefix in prefixes}) == len(prefixes)


def test_ends_are_read_at_the_last_response_token():
    forest = grow([turn([1, 2], [3]), turn([1, 2], [3, 4])], ends=True)
    assert forest.ids[forest.reads].tolist() == [3, 4]
    assert forest.positions[forest.reads].tolist() == [2, 3]


def test_counting_agrees_with_growing():
    generator = np.random.default_rng(1)
    for _ in range(20):
        sizes = generator.integers(1, 8, (6, 2))
        turns = [turn(generator.integers(0, 2, p), generator.integers(0, 2, n)) for p, n in sizes]
        assert forest_tokens(turns) == len(grow(turns).ids)
    padded = [turn([1, 2, 3], [4, 5]), turn([1, 2], [9]), turn([1, 2, 3, 4, 5, 6], [7])]
    assert forest_tokens(padded, shared=False) == 6  # the first two rows are prefixes of the third
    assert forest_tokens([*padded, turn([8], [9])], shared=False) == 12


def test_an_empty_response_is_refused():
    with pytest.raises(Fault, match="empty"):
        grow([turn([1], [])])
