from dataclasses import replace

import pytest
import torch
from sets import budget, step_pairs, tiny_base
from test_critic import disturb, straight

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


@pytest.mark.parametrize("shared", [False, True], ids=["a resumed run", "another run"])
def test_what_was_computed_before_is_read_from_the_disk(tmp_path, base, forwards, shared):
    folders = [tmp_path / name for name in ("first", "second")] if shared else [tmp_path, tmp_path]
    first, second = (
        ReferenceCache(base, folder, budget(tmp_path), shared=tmp_path / "shared" if shared else None)
        for folder in folders
    )
    first.compute([*TURNS, *TURNS])
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


def test_another_precision_or_commit_has_figures_of_its_own(base):
    names = {module.name_of(base)}
    for revision in ("a" * 40, "b" * 40):
        base.config = replace(base.config, revision=revision)
        names.add(module.name_of(base))
    base.dtype = torch.bfloat16
    assert len({*names, module.name_of(base)}) == 4


def test_a_damaged_file_is_said_and_computed_again(tmp_path, base, capsys):
    references = ReferenceCache(base, tmp_path / "run", budget(tmp_path), shared=tmp_path / "shared")
    references.compute(TURNS)
    before = references.of(TURNS)
    for folder in (references.folder, references.shared):
        (file,) = folder.iterdir()
        file.write_bytes(file.read_bytes()[:-4])
    references.compute(TURNS)
    assert all(torch.equal(left, right) for left, right in zip(references.of(TURNS), before, strict=True))
    assert capsys.readouterr().err.count("it is computed again") == 2


def test_a_shared_folder_that_cannot_be_made_is_said_once(tmp_path, base, capsys, monkeypatch):
    monkeypatch.setattr(module, "PIECE", 2)
    (tmp_path / "file").touch()
    references = ReferenceCache(base, tmp_path, budget(tmp_path), shared=tmp_path / "file" / "shared")
    references.compute(TURNS)
    assert len(references.of(TURNS)) == len(TURNS)
    assert capsys.readouterr().err.count("cannot be written") == 1
