"""ArCHer: its updates by hand, on a chain that value iteration solves, and on a tiny model."""

import json
import signal

import numpy as np
import pytest
import torch
from dialogues import dialogue_of
from models import tiny_tokenizer
from sets import budget, cache, learn, secret_pairs, tiny_base
from test_interrupted import IN_STEP
from tiny_run import events, model_of, states, tiny_run, train, write_lines

from tandem_trainer.config import ArcherConfig
from tandem_trainer.data.template import Template
from tandem_trainer.data.tokenize_turns import settle
from tandem_trainer.fault import Fault
from tandem_trainer.losses import (
    actor_critic_error,
    policy_gradient_loss,
    polyak,
    q_targets,
    utterance_advantage,
    v_targets,
)
from tandem_trainer.methods.archer import Critic, Heads, advised, trajectories
from tandem_trainer.methods.sweet_rl import histories
from tandem_trainer.run.prepare import prepare
from tandem_trainer.run_json import read_config
from tandem_trainer.turn import Candidates, Example, Turn

torch.set_num_threads(1)

# A chain of three states. Asking leads to the next one for nothing, and from the last one to the end.
ANSWERED = torch.tensor([0.2, 0.5, 0.9])  # reward of answering in each state
GAMMA = 0.8
ASK, ANSWER = 0, 1


def best_values() -> tuple[torch.Tensor, torch.Tensor]:
    """Value iteration: (3, 2) and (3,)."""
    q = torch.zeros(3, 2)
    for _ in range(3):
        q = torch.stack([GAMMA * torch.cat([q.amax(1)[1:], torch.zeros(1)]), ANSWERED], 1)
    return q, q.amax(1)


def learnt_values(policy) -> tuple[torch.Tensor, torch.Tensor]:
    """Trains tables by the critic's update functions. policy: from Q̄ of one head, (3, 2), to four turns ã a state."""
    torch.manual_seed(0)
    q, v = torch.randn(2, 3, 2, requires_grad=True), torch.randn(2, 3, requires_grad=True)
    q_bar, v_bar = q.detach().clone(), v.detach().clone()
    state, action = (each.flatten() for each in torch.meshgrid(torch.arange(3), torch.arange(2), indexing="ij"))
    rewards = torch.where(action == ANSWER, ANSWERED[state], 0.0)
    is_last = (action == ANSWER) | (state == 2)
    after = (state + 1).clamp(max=2)
    optimiser = torch.optim.SGD([q, v], lr=0.5)
    for _ in range(600):
        samples = policy(q_bar[0])[state]  # (6, 4)
        of_q = q_targets(rewards, v_bar[:, after], is_last, GAMMA)
        of_v = v_targets(q_bar[:, state[:, None], samples])
        optimiser.zero_grad()
        actor_critic_error(q[:, state, action], v[:, state], of_q, of_v).backward()
        optimiser.step()
        q_bar, v_bar = polyak(q_bar, q.detach(), 0.2), polyak(v_bar, v.detach(), 0.2)
    return q.detach(), v.detach()


def test_on_a_chain_the_critic_of_the_greedy_policy_ends_at_the_values_of_value_iteration():
    q, v = learnt_values(lambda q_bar: q_bar.argmax(1, keepdim=True).expand(3, 4))
    best_q, best_v = best_values()
    assert torch.allclose(q, best_q.expand(2, 3, 2), atol=1e-3)
    assert torch.allclose(v, best_v.expand(2, 3), atol=1e-3)
    assert torch.allclose(utterance_advantage(q[:, :, ASK], v), best_q[:, ASK] - best_v, atol=1e-3)


def test_on_a_chain_the_critic_of_a_policy_that_asks_half_of_the_time_ends_at_its_values():
    _, v = learnt_values(lambda _: torch.tensor([[ASK, ASK, ANSWER, ANSWER]]).expand(3, 4))
    last = 0.9 / 2
    middle = (0.5 + GAMMA * last) / 2
    expected = torch.tensor([(0.2 + GAMMA * middle) / 2, middle, last])
    assert torch.allclose(v, expected.expand(2, 3), atol=1e-3)


def test_a_step_of_the_critic_is_that_of_a_transcription_in_numpy():
    chance = np.random.default_rng(0)
    features, turns = chance.normal(size=(3, 5)).astype("f4"), chance.normal(size=(3, 5)).astype("f4")
    w_v, w_q, w_v_bar, w_q_bar = chance.normal(size=(4, 2, 5)).astype("f4")
    sampled = chance.normal(size=(3, 4, 5)).astype("f4")
    gamma, rate, tau = 0.9, 0.1, 0.3
    rewards, is_last = np.array([0, 0, 0.7], "f4"), np.array([False, False, True])

    v_bar = w_v_bar @ features.T
    y_q = rewards + gamma * np.concatenate([v_bar[:, 1:], np.zeros((2, 1), "f4")], 1)
    y_v = (w_q_bar @ sampled.transpose(0, 2, 1)).transpose(1, 0, 2).mean(-1)  # (2, 3)
    error_q, error_v = w_q @ turns.T - y_q, w_v @ features.T - y_v
    after_q = w_q - rate * 2 / 3 * error_q @ turns
    after_v = w_v - rate * 2 / 3 * error_v @ features

    q, v = (torch.tensor(each, requires_grad=True) for each in (w_q, w_v))
    of_q = q_targets(torch.tensor(rewards), torch.tensor(v_bar).roll(-1, 1), torch.tensor(is_last), gamma)
    of_v = v_targets(torch.einsum("hd,nkd->hnk", torch.tensor(w_q_bar), torch.tensor(sampled)))
    loss = actor_critic_error(q @ torch.tensor(turns).T, v @ torch.tensor(features).T, of_q, of_v)
    assert loss.item() == pytest.approx(float((error_q**2 + error_v**2).sum(0).mean()), rel=1e-5)
    loss.backward()
    assert np.allclose((q - rate * q.grad).detach(), after_q, atol=1e-5)
    assert np.allclose((v - rate * v.grad).detach(), after_v, atol=1e-5)
    assert np.allclose(polyak(torch.tensor(w_q_bar), torch.tensor(after_q), tau), 0.7 * w_q_bar + 0.3 * after_q)


def test_a_step_of_the_actor_is_that_of_a_transcription_in_numpy():
    """Two tokens of a vocabulary of three: d/dz Σ_l log softmax(z)[a^l] is one-hot less the probabilities, by token."""
    q, v = torch.tensor([[0.6], [0.9]]), torch.tensor([[0.2], [0.1]])
    advantage = utterance_advantage(q, v).item()
    assert advantage == pytest.approx(0.6 - 0.1)
    logits = torch.tensor([[0.3, -0.2, 0.5], [1.0, 0.0, -1.0]], requires_grad=True)
    log_probs = logits.log_softmax(-1)[[0, 1], [2, 0]]
    policy_gradient_loss(log_probs, log_probs.detach(), advantage, 0.2).backward()
    z = logits.detach().numpy()
    probabilities = np.exp(z) / np.exp(z).sum(1, keepdims=True)
    chosen = np.array([[0, 0, 1], [1, 0, 0]])
    assert np.allclose(logits.grad, -0.5 * (chosen - probabilities), atol=1e-6)


@pytest.mark.parametrize(("advantage", "gradients"), [(2.0, [-2 * 0.5, -2, 0]), (-2.0, [0, 2, 2 * 1.5])])
def test_a_token_that_has_moved_far_enough_the_right_way_is_left_alone(advantage, gradients):
    log_probs = torch.tensor([0.5, 1.0, 1.5]).log().requires_grad_()
    policy_gradient_loss(log_probs, torch.zeros(3), advantage, 0.2).backward()
    assert torch.allclose(log_probs.grad, torch.tensor(gradients))


# ---- on a tiny model


def example_of(turns: tuple[Turn, ...], reward: float, other: tuple[Turn, ...]) -> Example:
    """Its own turn and the other one stand for the turns that the policy samples."""
    samples = [
        Turn(own.prompt, each.response) for own, their in zip(turns, other, strict=True) for each in (own, their)
    ]
    return Example("0", turns, target=reward, samples=tuple(samples))


def rewarded(count: int, seed: int) -> list[Example]:
    """Two turns each; an answer that fits the secret in the prompt earns 1, the other 0."""
    return [
        example_of(turns, reward, other)
        for pair in secret_pairs(count, seed)
        for turns, reward, other in ((pair.chosen, 1.0, pair.rejected), (pair.rejected, 0.0, pair.chosen))
    ]


def test_the_critic_learns_which_answer_is_better_than_the_mean_of_the_policy(tmp_path):
    base = tiny_base(tmp_path)
    critic = Critic(ArcherConfig(tau=0.5), cache(base, tmp_path), seed=0)
    with base.adapter("critic"):
        before, after = learn(base, critic, rewarded(8, seed=0), held_out := rewarded(8, seed=1), steps=60)
        advantages = critic.advantages(base, held_out, budget(tmp_path), lambda *_: None).reshape(-1, 2, 2)
    assert after["loss"] < before["loss"] / 2
    own, other = advantages[:, 1].T  # of the answers; even examples have the right one first
    right, wrong = np.where(np.arange(16) % 2 == 0, [own, other], [other, own])
    assert np.mean(right > wrong) > 0.9
    assert right.mean() == pytest.approx(0.5, abs=0.2) and wrong.mean() == pytest.approx(-0.5, abs=0.2)


def test_the_target_network_follows_by_tau_and_leaves_the_live_weights_as_they_were(tmp_path):
    base = tiny_base(tmp_path)
    critic = Critic(ArcherConfig(tau=0.25), cache(base, tmp_path), seed=0)
    start = {name: weight.clone() for name, weight in critic.target.items()}
    with base.adapter("critic"), torch.no_grad():
        for _, weight in critic.trained:
            weight += 1
        live = {name: weight.clone() for name, weight in critic.trained}
        critic.loss(base.model, rewarded(2, seed=0))
        assert all(torch.equal(weight, live[name]) for name, weight in critic.trained)
        critic.after_step()
    assert all(torch.allclose(critic.target[name], start[name] + 0.25) for name in start)


def test_the_turns_that_are_left_are_an_input_of_a_value():
    heads = Heads(4, torch.Generator().manual_seed(0))
    early, late = heads(torch.ones(2, 4), torch.tensor([1.0, 0.1])).T
    assert not torch.allclose(early, late)
    assert early[0] != early[1]  # the two heads start differently


def test_the_hidden_information_is_in_what_the_critic_reads_and_in_nothing_that_the_policy_reads():
    template = Template(tiny_tokenizer())
    written = dialogue_of("A request.", "What?", "This.", "The answer.", hidden_information="zebra")
    buffer = settle(template, [written]).dialogues
    sampled = [
        Candidates(place, tuple(Turn(place.prompt, np.array([token, 2], np.int32)) for token in (7, 8)), ("7", "8"))
        for place in histories(buffer, template)
    ]

    def texts(examples):
        return [template.tokenizer.decode(turn.prompt) for example in examples for turn in example.turns]

    assert all("zebra" in text for text in texts(trajectories(buffer, sampled, hidden=True)))
    assert not any("zebra" in text for text in texts(trajectories(buffer, sampled, hidden=False)))
    read = advised(sampled, np.array([1.0, 2.0, 3.0, 4.0]))
    assert not any("zebra" in text for text in texts(read))
    assert [example.target for example in read] == [1, 2, 3, 4]
    assert [example.group for example in read] == ["dialogue/0"] * 2 + ["dialogue/1"] * 2


def test_it_plays_tasks_beside_its_dialogues_in_one_process(tmp_path):
    path = tiny_run(tmp_path, method="archer")
    write_lines(tmp_path / "pack.jsonl", [{"id": "new", "problem_description": "Write.", "ground_truth": "return 1"}])
    config = json.loads(path.read_text())
    config["data"]["tasks"] = ["pack.jsonl"]
    path.write_text(json.dumps(config))
    prepared = prepare(read_config(path), Template(tiny_tokenizer()))
    assert prepared.to_play == {"new": "return 1"}
    assert prepared.counts["trajectories"] == 24
    before = prepared.fingerprint()
    write_lines(tmp_path / "pack.jsonl", [{"id": "other", "problem_description": "Write."}])
    assert prepare(read_config(path), Template(tiny_tokenizer())).fingerprint() != before
    path.write_text(json.dumps({**config, "resources": {"processes": 2}}))
    with pytest.raises(Fault, match="archer trains in one process"):
        read_config(path)


@pytest.mark.slow
def test_a_run_offline_ends_with_a_model_and_one_that_was_killed_ends_bit_equal(tmp_path):
    settings = {"learning_rate": 1e-2, "critic_learning_rate": 1e-2, "batch": 4, "evaluate_every": 2}
    settings |= {"iterations": 2, "critic_epochs": 0.5, "critic_warmup": 0.5, "max_tokens": 1024, "max_new_tokens": 8}
    path = tiny_run(tmp_path / "straight", method="archer", archer=settings)
    ran = train(path)
    assert (ran.code, ran.stderr) == (0, "")
    stages = [f"{stage}{number}" for number in ("", "-2") for stage in ("candidates", "critic", "policy")]
    assert [stage for state, stage in states(path) if state == "running"] == [*stages, "export"]
    assert all(stage in events(path, "result")[0]["stages"] for stage in stages)

    again = tiny_run(tmp_path / "again", method="archer", archer=settings, resources={"checkpoint_minutes": 0})
    for objective, step in (("Critic", 2), ("Actor", 3), ("Critic", 2), ("Actor", 3)):
        assert train(again, IN_STEP.format(objective=objective, step=step)).code == -signal.SIGKILL, (objective, step)
    ran = train(again)
    assert (ran.code, ran.stderr) == (0, "")
    assert model_of(again) == model_of(path)
