import numpy as np
import pytest
import torch
from sets import budget, cache, learn, look, overwrite, secret_pairs, tiny_base
from transformers import AutoModelForCausalLM

from tandem_trainer.config import CriticConfig
from tandem_trainer.methods.sweet_rl import Critic
from tandem_trainer.methods.sweet_rl_variants import ValueHead
from tandem_trainer.turn import Example, Turn

torch.set_num_threads(1)


@pytest.mark.parametrize(("training", "convention"), [("lora", "paper"), ("full", "reference-code")])
def test_the_critic_learns_which_trajectory_is_better(tmp_path, training, convention):
    base = tiny_base(tmp_path, training=training)
    with base.adapter("critic"):
        critic = Critic(CriticConfig(nll=0.0), cache(base, tmp_path), convention)
        before, after = learn(base, critic, secret_pairs(16, seed=0), secret_pairs(16, seed=1))
    assert before["loss"] == pytest.approx(np.log(2)) and before["margin"] == pytest.approx(0, abs=1e-6)
    assert before["accuracy"] == 0.5
    assert after["loss"] < 0.5 and after["accuracy"] == 1


def test_where_only_the_secret_tells_a_critic_without_it_learns_nothing(tmp_path):
    base = tiny_base(tmp_path)
    with base.adapter("critic"):
        critic = Critic(CriticConfig(hidden_information=False, nll=0.0), cache(base, tmp_path))
        _, after = learn(base, critic, secret_pairs(16, 0, hidden=False), secret_pairs(16, 1, hidden=False))
    assert after["accuracy"] == 0.5 and after["loss"] == pytest.approx(np.log(2), abs=0.01)


def test_the_figures_are_those_of_a_straight_computation(tmp_path):
    base = tiny_base(tmp_path, training="full")
    plain = AutoModelForCausalLM.from_pretrained(tmp_path / "llama-model")
    (pair,) = secret_pairs(1, seed=0)
    critic = Critic(CriticConfig(), cache(base, tmp_path))
    critic.precompute([pair])
    disturb(base)

    def ratios(turn: Turn) -> torch.Tensor:
        return straight(base.model, turn) - straight(plain, turn)

    def advantage(turn: Turn) -> float:
        return ratios(turn).mean().item()

    critic.settings = CriticConfig(length_normalisation=False)
    summed = sum(ratios(turn).sum().item() for turn in pair.chosen)
    assert look(base, critic, [pair])["log_ratio_chosen"] == pytest.approx(summed, abs=1e-5)
    critic.settings = CriticConfig()
    figures = look(base, critic, [pair])
    better, worse = (sum(map(advantage, side)) for side in (pair.chosen, pair.rejected))
    assert figures["log_ratio_chosen"] == pytest.approx(better, abs=1e-5)
    assert figures["log_ratio_rejected"] == pytest.approx(worse, abs=1e-5)
    assert figures["margin"] == pytest.approx(0.1 * (better - worse), abs=1e-6)
    nats = -torch.cat([straight(base.model, turn) for turn in pair.chosen]).mean().item()
    assert figures["nll"] == pytest.approx(nats, abs=1e-5)
    assert figures["loss"] == pytest.approx(np.log(1 + np.exp(-0.1 * (better - worse))) + 0.01 * nats, abs=1e-6)


def test_an_examples_weight_scales_its_loss_and_nothing_else(tmp_path):
    base = tiny_base(tmp_path)
    critic = Critic(CriticConfig(), cache(base, tmp_path))
    (pair,) = secret_pairs(1, seed=0)
    half = Example(pair.group, pair.chosen, pair.rejected, weight=0.5)
    critic.precompute([pair])
    disturb(base)
    loss, figures = critic.loss(base.model, [pair, half])
    whole, of_one = critic.loss(base.model, [pair])
    assert loss.item() == pytest.approx(1.5 * whole.item())
    assert figures["margin"] == pytest.approx(2 * of_one["margin"])
    assert (figures["examples"], figures["tokens"]) == (2, 20)


def test_the_value_head_learns_the_reward(tmp_path):
    base = tiny_base(tmp_path)
    with base.adapter("critic"):
        head = ValueHead(cache(base, tmp_path))
        before, after = learn(base, head, returns(16, seed=0), returns(16, seed=1), steps=40, rate=2e-2)
    assert before["loss"] == pytest.approx(np.log(2))
    assert after["loss"] < 0.55 and after["accuracy"] > 0.7  # the first turn does not determine the result


def test_the_value_heads_own_weights_are_saved_and_taken_back(tmp_path):
    base = tiny_base(tmp_path)
    head, other = ValueHead(cache(base, tmp_path)), ValueHead(cache(base, tmp_path))
    train = returns(4, seed=0)
    learn(base, head, train, train, steps=3)
    turns = [turn for example in train for turn in example.chosen]
    values = head.scores(base, turns, budget(tmp_path))
    assert np.ptp(values) > 0 and not other.scores(base, turns, budget(tmp_path)).any()
    overwrite(other.state(), head.state())
    assert np.array_equal(other.scores(base, turns, budget(tmp_path)), values)


def returns(count: int, seed: int) -> list[Example]:
    sides = [(pair, side) for pair in secret_pairs(count, seed) for side in ("chosen", "rejected")]
    return [Example(pair.group, getattr(pair, side), target=float(side == "chosen")) for pair, side in sides]


def disturb(base, size: float = 0.05) -> None:
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for _, weight in base.trainable():
            weight += size * torch.randn(weight.shape, generator=generator)


def straight(model, turn: Turn) -> torch.Tensor:
    """Computes log p of the response from one row and all its logits."""
    row = torch.from_numpy(np.concatenate([turn.prompt, turn.response])).long()
    with torch.no_grad():
        log_probs = model(row[None], use_cache=False).logits[0].log_softmax(-1)
    return log_probs[:-1].gather(1, row[1:, None])[-len(turn.response) :, 0]
