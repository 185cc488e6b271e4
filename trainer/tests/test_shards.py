import json

import numpy as np
import pytest
import torch
from models import FAMILIES, tiny_tokenizer
from sets import budget, ids, tiny_base
from test_critic import disturb

from tandem_trainer.config import CandidatesConfig
from tandem_trainer.data.dialogue import Dialogue, Spoken
from tandem_trainer.data.template import Template
from tandem_trainer.fault import Fault
from tandem_trainer.methods.sweet_rl import histories
from tandem_trainer.model.log_probs import token_log_probs
from tandem_trainer.run import sampler
from tandem_trainer.run import shards as shards_module
from tandem_trainer.run.sampler import side_by_side
from tandem_trainer.run.shards import Shards
from tandem_trainer.run.stop import Stopped
from tandem_trainer.turn import History

torch.set_num_threads(1)

SETTINGS = CandidatesConfig(per_turn=3, max_new_tokens=8)


@pytest.fixture(autouse=True)
def two_histories_a_shard(monkeypatch):
    monkeypatch.setattr(shards_module, "SHARD", 2)


def some_shards(tmp_path, base, settings=SETTINGS, seed: int = 0, round: int = 1, shared=None) -> Shards:
    generator = np.random.default_rng(0)
    prompts = [generator.integers(3, 300, size).astype(np.int32) for size in (12, 5, 20)]
    found = [History(f"t/{number}", prompt, prompt) for number, prompt in enumerate(prompts)]
    return Shards(tmp_path, found, settings, base.stop_ids, seed, round, shared)


def all_candidates(made: Shards):
    return [candidates for number in range(len(made)) for candidates in made.read(number)]


def files(made: Shards) -> list[str]:
    return [made.path(number).read_text() for number in range(len(made))]


@pytest.mark.parametrize(
    ("family", "temperature"),
    [*((family, 1.0) for family in FAMILIES), ("llama", 1.3), ("gemma2", 0.7), ("qwen3_next", 0.7)],
)
def test_what_the_sampler_says_of_its_tokens_is_what_the_trainer_computes(tmp_path, family, temperature):
    base = tiny_base(tmp_path, family)
    disturb(base)
    settings = CandidatesConfig(per_turn=3, max_new_tokens=8, temperature=temperature)
    made = some_shards(tmp_path, base, settings)
    made.sample(base, budget(tmp_path))
    for one in all_candidates(made):
        with torch.no_grad():
            log_probs = token_log_probs(base.model, one.turns, temperature=temperature)
        for turn, computed in zip(one.turns, log_probs, strict=True):
            assert turn.sampled and np.allclose(turn.log_probs, computed, atol=1e-4)
    figures = made.figures()
    assert figures["histories"] == 3 and figures["candidates"] == 9 and figures["sampler_difference"] < 1e-5


def test_a_run_that_was_broken_off_samples_only_what_is_missing(tmp_path):
    base = tiny_base(tmp_path)
    straight = some_shards(tmp_path / "straight", base)
    straight.sample(base, budget(tmp_path))

    def die(done: int, total: int) -> None:
        raise KeyboardInterrupt

    broken = some_shards(tmp_path / "broken", base)
    with pytest.raises(KeyboardInterrupt):
        broken.sample(base, budget(tmp_path), die)
    assert broken.path(0).exists() and not broken.path(1).exists()
    told = []
    torch.rand(5)  # what ran before does not matter
    broken.sample(base, budget(tmp_path), lambda done, total: told.append((done, total)))
    assert told == [(1, 1)] and files(broken) == files(straight)


def test_seed_and_round_decide_what_is_sampled(tmp_path):
    base = tiny_base(tmp_path)
    samples = []
    for seed, round in ((0, 1), (1, 1), (0, 2)):
        made = some_shards(tmp_path, base, seed=seed, round=round)
        made.sample(base, budget(tmp_path))
        samples.append([turn.response.tolist() for one in all_candidates(made) for turn in one.turns])
    assert samples[0] != samples[1] != samples[2] != samples[0]
    assert len({str(sample) for sample in samples[0]}) == 9  # all candidates differ


def test_candidates_come_from_the_policy_as_it_is_now(tmp_path):
    base = tiny_base(tmp_path)
    made = some_shards(tmp_path / "before", base)
    attention, mode, state = base.model.config._attn_implementation, base.model.training, torch.get_rng_state()
    made.sample(base, budget(tmp_path))
    assert base.model.config._attn_implementation == attention and base.model.training == mode
    assert torch.equal(torch.get_rng_state(), state)
    with base.adapter("critic"):
        disturb(base)
    same = some_shards(tmp_path / "critic changed", base)
    same.sample(base, budget(tmp_path))
    disturb(base)
    other = some_shards(tmp_path / "policy changed", base)
    other.sample(base, budget(tmp_path))
    assert files(made) == files(same) != files(other)


@pytest.mark.parametrize("family", ["llama", "qwen3_next"])
def test_a_candidate_ends_with_the_token_that_ends_a_turn_or_is_counted_as_cut(tmp_path, family):
    base = tiny_base(tmp_path, family)
    disturb(base)
    made = some_shards(tmp_path, base, CandidatesConfig(per_turn=16, max_new_tokens=12))
    made.stop_ids = frozenset(range(3, 100))  # a third of all tokens
    made.sample(base, budget(tmp_path))
    assert made.figures()["sampler_difference"] < 1e-5  # also when other turns have ended
    responses = [turn.response for one in all_candidates(made) for turn in one.turns]
    ended = [response[-1] in made.stop_ids for response in responses]
    assert not any(token in made.stop_ids for response in responses for token in response[:-1])
    assert all(len(response) == 12 for response, whole in zip(responses, ended, strict=True) if not whole)
    assert made.figures()["cut"] == ended.count(False) and ended.count(True) > 0


def test_a_request_to_stop_ends_sampling_without_half_a_shard_and_a_damaged_one_is_named(tmp_path):
    base = tiny_base(tmp_path)
    made = some_shards(tmp_path, base)
    (tmp_path / "stop").touch()
    with pytest.raises(Stopped):
        made.sample(base, budget(tmp_path))
    assert not list(tmp_path.glob("candidates/*"))
    made.path(0).parent.mkdir(exist_ok=True)
    made.path(0).write_text("{")
    with pytest.raises(Fault, match="delete it and resume"):
        made.read(0)


def test_too_little_memory_halves_how_many_are_sampled_at_once_until_not_even_one_fits(tmp_path, monkeypatch):
    tried, room = [], 2

    def short_of_memory(base, prompts, count, *others):
        tried.append(len(prompts) * count)
        if tried[-1] > room:
            raise MemoryError
        return side_by_side(base, prompts, count, *others)

    monkeypatch.setattr(sampler, "side_by_side", short_of_memory)
    base = tiny_base(tmp_path)
    made = some_shards(tmp_path, base)
    made.sample(base, budget(tmp_path))
    assert tried == [6, 3, *[1] * 9]  # three turns at each of two histories, halved down to one
    assert [len(one.turns) for one in all_candidates(made)] == [3, 3, 3]
    room = 0
    with pytest.raises(Fault, match="Not even one candidate fits"):
        some_shards(tmp_path / "none", base).sample(base, budget(tmp_path))


def test_histories_are_what_the_agent_read_and_beside_it_what_the_critic_reads():
    template = Template(tiny_tokenizer())
    messages = tuple(
        {"role": role, "content": content}
        for role, content in (("user", "Sort it."), ("assistant", "How?"), ("user", "Upwards."), ("assistant", "Done."))
    )
    turns = tuple(Spoken(position, ids=ids(5, 2)) for position in (1, 3))
    dialogue = Dialogue("a", "task", messages, turns, hidden_information="sorted(values)", settled=True)
    first, second = histories([dialogue], template)
    assert (first.messages, second.messages) == (dialogue.messages[:1], dialogue.messages[:3])
    assert (first.group, second.group) == ("a/0", "a/1")
    read = template.tokenizer.decode(second.prompt)
    assert "How?" in read and "Upwards." in read and "sorted(values)" not in read
    assert "sorted(values)" in template.tokenizer.decode(second.hidden_prompt)
    (unknown, _) = histories([Dialogue("a", "task", messages, turns, settled=True)], template)
    assert unknown.hidden_prompt is None


def test_the_logged_turn_is_one_of_the_candidates_where_it_is_asked_for(tmp_path):
    base = tiny_base(tmp_path)
    template = Template(base.tokenizer)
    messages = ({"role": "user", "content": "Sort it."}, {"role": "assistant", "content": "How?"})
    short, long = (
        Dialogue(name, name, messages, (Spoken(1, ids=ids(*range(5, end))),), settled=True)
        for name, end in (("short", 10), ("long", 14))
    )
    settings = CandidatesConfig(per_turn=3, max_new_tokens=8, with_logged=True)
    found = histories([short, long], template, settings)
    made = Shards(tmp_path, found, settings, base.stop_ids, 0)
    made.sample(base, budget(tmp_path))
    first, second = made.read(0)
    assert [len(one.turns) for one in (first, second)] == [3, 2]  # a turn beyond the limit is left out
    logged = first.turns[-1]
    assert logged.response.tolist() == [*range(5, 10)] and not logged.sampled and logged.log_probs is None
    assert first.texts[-1] == base.tokenizer.decode(logged.response, skip_special_tokens=True)
    assert made.figures()["candidates"] == 4  # sampled ones only
    without = Shards(tmp_path, histories([short, long], template), settings, base.stop_ids, 0)
    assert without.path(0) != made.path(0)
    assert [one.logged for one in without.histories[0]] == [None, None]


def test_what_another_run_shared_is_not_sampled_again_and_a_second_round_is_not_shared(tmp_path, monkeypatch):
    base = tiny_base(tmp_path)
    shared = tmp_path / "shared"
    some_shards(tmp_path / "first", base, round=2, shared=shared).sample(base, budget(tmp_path))
    assert not shared.exists()  # its policy has learned
    first = some_shards(tmp_path / "first", base, shared=shared)
    first.sample(base, budget(tmp_path))
    monkeypatch.setattr(shards_module.Sampler, "sample", lambda *_: pytest.fail("It was sampled."))
    second = some_shards(tmp_path / "second", base, shared=shared)
    second.sample(base, budget(tmp_path))
    assert files(second) == files(first)


def test_turns_that_another_engine_drew_are_compared_and_kept_as_if_they_were_sampled(tmp_path, monkeypatch):
    base = tiny_base(tmp_path)
    sampled = some_shards(tmp_path / "sampled", base)
    sampled.sample(base, budget(tmp_path))
    drawn = some_shards(tmp_path / "drawn", base)
    for number in range(len(drawn)):
        assert not drawn.is_drawn(number)
        drawn.write_drawn(number, [candidates.turns for candidates in sampled.read(number)])
        assert drawn.is_drawn(number)
    monkeypatch.setattr(sampler.Sampler, "sample", None)
    drawn.sample(base, budget(tmp_path), numbers=[1])
    assert drawn.missing() == [0]
    drawn.sample(base, budget(tmp_path))
    for number in range(len(drawn)):
        made, same = (map(json.loads, shards.path(number).read_text().splitlines()) for shards in (drawn, sampled))
        for row, was in zip(made, same, strict=True):
            assert row["difference"] == pytest.approx(was["difference"], abs=1e-4)  # kept numbers are rounded
            assert {**row, "difference": 0} == {**was, "difference": 0}
    assert not any(map(drawn.is_drawn, range(len(drawn))))
