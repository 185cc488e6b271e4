from dataclasses import replace

import pytest
import torch
from sets import budget, step_pairs, tiny_base
from test_critic import disturb, straight

from tandem_trainer.fault import Fault
from tandem_trainer.run import reference_cache as module
from tandem_trainer.run.objective import turns_of
from tandem_trainer.run.reference_cache import ReferenceCache

torch.set_num_threads(1)

TURNS = turns_of(step_pairs(3, seed=0))


@pytest.fixture
def base(tmp_path):
    return tiny_base(tmp_path)


@pytest.fixture
def forwards(monkeypatch):
    """Records the turns that pass through the model."""
    seen = []

    def counted(base, turns, budget, **others):
        seen.extend(turns)
        return score(base, turns, budget, **others)

    score = module.score
    monkeypatch.setattr(module, "score", counted)
    return seen


def test_they_are_those_of_the_base_whatever_the_adapter_has_learned(tmp_path, base):
    before = [straight(base.model, turn) for turn in TURNS]
    disturb(base)
    references = ReferenceCache(base, tmp_path, budget(tmp_path))
    references.compute(TURNS)
    for turn, expected in zip(references.of(TURNS), before, strict=True):
        assert torch.allclose(turn, expected, atol=1e-5)


def test_a_budget_of_few_tokens_gives_the_same(tmp_path, base):
    wide = ReferenceCache(base, tmp_path / "wide", budget(tmp_path))
    narrow = ReferenceCache(base, tmp_path / "narrow", budget(tmp_path, tokens=8))
    wide.compute(TURNS)
    narrow.compute(TURNS)
    for left, right in zip(wide.of(TURNS), narrow.of(TURNS), strict=True):
        assert torch.allclose(left, right, atol=1e-5)


def test_a_resumed_run_reads_them_from_the_disk(tmp_path, base, forwards):
    first, second = (ReferenceCache(base, tmp_path, budget(tmp_path)) for _ in range(2))
    first.compute([*TURNS, *TURNS])
    assert len(forwards) == len(TURNS)
    second.compute(TURNS)
    assert len(forwards) == len(TURNS)
    assert all(torch.equal(left, right) for left, right in zip(first.of(TURNS), second.of(TURNS), strict=True))


def test_a_run_that_was_killed_goes_on_where_it_was(tmp_path, base, forwards, monkeypatch):
    monkeypatch.setattr(module, "PIECE", 4)

    def die(done: int, total: int) -> None:
        raise KeyboardInterrupt

    references = ReferenceCache(base, tmp_path, budget(tmp_path))
    with pytest.raises(KeyboardInterrupt):
        references.compute(TURNS, die)
    assert len(forwards) == 4
    references.compute(TURNS)
    assert len(forwards) == 6


def test_another_precision_has_figures_of_its_own(tmp_path, base):
    here = ReferenceCache(base, tmp_path, budget(tmp_path)).folder
    base.dtype = torch.bfloat16
    assert ReferenceCache(base, tmp_path, budget(tmp_path)).folder != here


def test_a_damaged_file_is_named(tmp_path, base):
    references = ReferenceCache(base, tmp_path, budget(tmp_path))
    references.compute(TURNS)
    (file,) = references.folder.iterdir()
    file.write_bytes(file.read_bytes()[:-4])
    with pytest.raises(Fault, match="delete it and resume"):
        references.compute(TURNS)


def test_a_full_disk_is_one_sentence_and_leaves_no_file(tmp_path, base, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    references = ReferenceCache(base, tmp_path, budget(tmp_path))
    with pytest.raises(Fault, match="cannot be written: No space left on device"):
        references.compute(TURNS)
    assert not list(references.folder.glob("*.f32"))


def test_what_another_run_shared_is_not_computed_again(tmp_path, base, forwards):
    shared = tmp_path / "shared"
    first = ReferenceCache(base, tmp_path / "first", budget(tmp_path), shared=shared)
    second = ReferenceCache(base, tmp_path / "second", budget(tmp_path), shared=shared)
    first.compute(TURNS)
    second.compute(TURNS)
    assert len(forwards) == len(TURNS)
    assert all(torch.equal(left, right) for left, right in zip(first.of(TURNS), second.of(TURNS), strict=True))


def test_commits_of_one_base_share_no_numbers(base):
    names = set()
    for revision in (None, "a" * 40, "b" * 40):
        base.config = replace(base.config, revision=revision)
        names.add(module.name_of(base))
    assert len(names) == 3
