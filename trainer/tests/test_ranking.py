import numpy as np
import pytest
import torch
from models import tiny_model
from sets import BYE, SECRETS, budget, ids, tiny_base
from test_critic import disturb, straight
from transformers import AutoModelForCausalLM

from tandem_trainer.config import CandidatesConfig, CriticConfig, ModelConfig
from tandem_trainer.fault import Fault
from tandem_trainer.methods.sweet_rl import draw_pairs, rank, rank_candidates
from tandem_trainer.model.base import load_base
from tandem_trainer.run.budget import TokenBudget
from tandem_trainer.run.critic_report import rank_correlation, ranking_figures, sample_of
from tandem_trainer.run.distributed import Ranks
from tandem_trainer.run.event_file import Events
from tandem_trainer.run.shards import Shards
from tandem_trainer.run.stop import StopRequest
from tandem_trainer.turn import Candidates, History, Turn

torch.set_num_threads(1)

PROMPT = ids(3, 4, 5)


def of_texts(*texts: str, group: str = "a/0") -> Candidates:
    turns = tuple(Turn(PROMPT, ids(number + 3, BYE)) for number in range(len(texts)))
    return Candidates(History(group, PROMPT, PROMPT), turns, texts)


def ranked(scores, *texts):
    return rank(of_texts(*(texts or map(str, range(len(scores))))), np.array(scores), np.zeros(len(scores)))


def chosen_and_rejected(pairs):
    return [(pair.chosen[0].response[0] - 3, pair.rejected[0].response[0] - 3) for pair in pairs]


@pytest.mark.parametrize(
    ("scores", "good"),
    [
        ([0.1, 0.9, 0.4, 0.3], (False, True, True, False)),
        ([0.1, 0.9, 0.4], (False, True, None)),  # the middle one of an odd number is neither
        ([0.5, 0.5, 0.5, 0.1], (True, True, False, False)),  # equal ones as they were sampled
    ],
)
def test_the_upper_half_is_good_and_the_lower_half_bad(scores, good):
    assert ranked(scores).good == good


def test_a_turn_counts_as_often_as_it_was_sampled():
    one = ranked([0.1, 0.9, 0.1, 0.3], "a", "b", "a", "c")
    assert one.good == (False, True, False, True)
    pairs = draw_pairs(one, 4, seed=0)
    assert {(*pair, example.weight) for pair, example in zip(chosen_and_rejected(pairs), pairs, strict=True)} == {
        (1, 0, 2.0),
        (3, 0, 2.0),
    }
    assert sum(example.weight for example in draw_pairs(one, 3, seed=0)) == 3


def test_a_turn_in_both_halves_is_no_pair_with_itself_and_is_shown_in_neither():
    one = ranked([0.9, 0.5, 0.5, 0.5], "a", "b", "b", "b")
    assert one.good == (True, True, False, False)
    assert chosen_and_rejected(draw_pairs(one, 9, seed=0)) == [(0, 1)]
    assert [(shown["text"], shown["times"], shown.get("good")) for shown in sample_of(one)["candidates"]] == [
        ("a", 1, True),
        ("b", 3, None),
    ]


def test_the_same_text_in_other_tokens_has_the_score_of_the_first():
    one = ranked([0.1, 0.9, 0.4, 0.2, 0.3], "a", "b", "a", "b", "c")
    assert one.scores.tolist() == [0.1, 0.9, 0.1, 0.9, 0.3] and one.good == (False, True, False, True, None)
    assert chosen_and_rejected(draw_pairs(one, 9, seed=0)) == [(1, 0)]


def test_equal_scores_are_never_paired_with_each_other():
    assert set(chosen_and_rejected(draw_pairs(ranked([0.5, 0.5, 0.5, 0.1]), 9, seed=0))) == {(0, 3), (1, 3)}


@pytest.mark.parametrize("one", [ranked([0.5, 0.5, 0.5]), ranked([0.1, 0.9], "a", "a")])
def test_a_history_whose_candidates_all_agree_gives_no_pair_and_is_counted(one):
    assert set(one.good) == {None} and draw_pairs(one, 4, seed=0) == []
    assert ranking_figures([one, ranked([0.1, 0.9])])["without_pairs"] == 1


def test_which_pairs_are_drawn_depends_on_seed_round_and_turn_and_on_nothing_else():
    one = ranked(np.arange(16) / 16)
    pairs = draw_pairs(one, 4, seed=0, round=1)
    drawn = chosen_and_rejected(pairs)
    assert len(set(drawn)) == 4 and all(high >= 8 > low for high, low in drawn)
    assert all(turn.prompt is PROMPT for pair in pairs for turn in pair.turns)
    np.random.seed(7)
    assert drawn == chosen_and_rejected(draw_pairs(one, 4, seed=0, round=1))
    assert drawn != chosen_and_rejected(draw_pairs(one, 4, seed=1, round=1))
    assert drawn != chosen_and_rejected(draw_pairs(one, 4, seed=0, round=2))
    other = rank(of_texts(*map(str, range(16)), group="a/1"), np.arange(16) / 16, np.zeros(16))
    assert drawn != chosen_and_rejected(draw_pairs(other, 4, seed=0, round=1))


def test_rank_correlation_is_spearmans():
    left, right = np.array([1.0, 2, 3, 4, 5]), np.array([5.0, 6, 7, 8, 7])
    # ranks 0 1 2 3 4 and 0 1 2.5 4 2.5: covariance 8/5, variances 2 and 9.5/5, so 1.6/√(2·1.9)
    assert rank_correlation(left, right) == pytest.approx(1.6 / np.sqrt(2 * 1.9))
    assert rank_correlation(left, left**3) == pytest.approx(1) and rank_correlation(left, -left) == pytest.approx(-1)
    assert rank_correlation(left, np.zeros(5)) is None
    with pytest.raises(Fault, match="a/0 are no numbers"):
        ranked([0.1, np.nan])  # not taken for missing hidden information


def shards(tmp_path, base, count: int = 2, *, hidden: bool = True, **limits) -> Shards:
    """Samples candidates for histories of three tokens; the second secret is in front of every other history."""
    found = []
    for number in range(count):
        prompt = ids(*np.random.default_rng(number).integers(40, 60, 3))
        secret = ids(sorted(SECRETS)[number % 2])
        found.append(History(f"t/{number}", prompt, np.concatenate([secret, prompt]) if hidden else None))
    settings = CandidatesConfig(per_turn=5, max_new_tokens=6)
    made = Shards(tmp_path, found, settings, base.stop_ids, seed=0)
    made.sample(base, budget(tmp_path), **limits)
    return made


def test_the_untrained_control_is_the_pointwise_mutual_information(tmp_path):
    base = tiny_base(tmp_path)
    made = shards(tmp_path, base)
    plain = AutoModelForCausalLM.from_pretrained(tmp_path / "llama-model")
    with base.adapter("critic"):
        disturb(base)  # must not matter
    for one in rank_candidates(made, CriticConfig(), base, budget(tmp_path)):
        history = one.candidates.history
        for places in one.candidates.different.values():
            untrained, response = one.untrained[places[0]], one.candidates.turns[places[0]].response
            told = straight(plain, Turn(history.hidden_prompt, response))
            untold = straight(plain, Turn(history.prompt, response))
            assert untrained == pytest.approx((told - untold).mean().item(), abs=1e-5)


@pytest.mark.parametrize(
    ("convention", "hidden", "normalised"),
    [("paper", True, True), ("paper", False, False), ("reference-code", True, False), ("reference-code", False, True)],
)
def test_the_critics_score_is_the_turns_advantage(tmp_path, convention, hidden, normalised):
    base = tiny_base(tmp_path, training="full")
    made = shards(tmp_path, base)
    plain = AutoModelForCausalLM.from_pretrained(tmp_path / "llama-model")
    with base.adapter("critic"):
        disturb(base)
    settings = CriticConfig(hidden_information=hidden, length_normalisation=normalised)
    for one in rank_candidates(made, settings, base, budget(tmp_path), convention):
        history = one.candidates.history
        seen = history.hidden_prompt if hidden else history.prompt
        with base.adapter("critic"):
            for places in one.candidates.different.values():
                score, response = one.scores[places[0]], one.candidates.turns[places[0]].response
                of_reference = history.prompt if convention == "reference-code" else seen
                ratios = straight(base.model, Turn(seen, response)) - straight(plain, Turn(of_reference, response))
                assert score == pytest.approx((ratios.mean() if normalised else ratios.sum()).item(), abs=1e-4)


def test_under_the_reference_code_an_untrained_critic_already_ranks_like_the_control(tmp_path):
    base = tiny_base(tmp_path)
    made = shards(tmp_path, base)
    untrained = rank_candidates(made, CriticConfig(score="untrained"), base, budget(tmp_path))
    assert all(np.array_equal(one.scores, one.untrained) and True in one.good for one in untrained)
    assert ranking_figures(rank_candidates(made, CriticConfig(), base, budget(tmp_path)))["without_pairs"] == 2
    of_code = rank_candidates(made, CriticConfig(), base, budget(tmp_path), "reference-code")
    assert ranking_figures(of_code)["rank_correlation"] == pytest.approx(1)


def test_without_hidden_information_there_is_no_control_and_a_critic_that_wants_it_says_so(tmp_path):
    base = tiny_base(tmp_path)
    made = shards(tmp_path, base, hidden=False)
    with pytest.raises(Fault, match="t/0: its task has no hidden information"):
        rank_candidates(made, CriticConfig(), base, budget(tmp_path))
    with base.adapter("critic"):
        disturb(base)
    for one in rank_candidates(made, CriticConfig(hidden_information=False), base, budget(tmp_path)):
        assert np.isnan(one.untrained).all() and True in one.good


@pytest.mark.parametrize(("moved", "told"), [(1e-5, True), (0.05, False)])
def test_a_critic_whose_scores_drown_in_rounding_is_told(tmp_path, moved, told):
    folder = tiny_model(tmp_path / "model", dtype=torch.bfloat16)
    base = load_base(ModelConfig(str(folder), device="cpu", dtype="bfloat16"), run_folder=tmp_path)
    made = shards(tmp_path, base)
    with base.adapter("critic"):
        disturb(base, moved)
    heard = TokenBudget(4096, Ranks(), StopRequest(tmp_path), Events(tmp_path))
    rank_candidates(made, CriticConfig(), base, heard)
    notices = (tmp_path / "events.jsonl").read_text() if (tmp_path / "events.jsonl").exists() else ""
    assert ("rounding in bfloat16" in notices) == told


def test_no_token_of_the_hidden_information_reaches_the_policy(tmp_path, monkeypatch):
    base = tiny_base(tmp_path)
    made = shards(tmp_path, base, count=4)
    with base.adapter("critic"):
        disturb(base)
    ranked = rank_candidates(made, CriticConfig(), base, budget(tmp_path))
    monkeypatch.setattr("tandem_trainer.run.budget.token_log_probs", None)  # what is scored is not scored again
    again = rank_candidates(made, CriticConfig(), base, budget(tmp_path))
    assert [sample_of(one) for one in ranked] == [sample_of(one) for one in again]
    pairs = [pair for one in ranked for pair in draw_pairs(one, 4, seed=0)]
    assert len(pairs) == 16
    assert not {*SECRETS} & {int(token) for pair in pairs for turn in pair.turns for token in turn.prompt}
