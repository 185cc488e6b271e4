"""ArCHer: its updates by hand, on a chain that value iteration solves, and on a tiny model."""

import numpy as np
import pytest
import torch

from tandem_trainer.losses import (
    actor_critic_error,
    policy_gradient_loss,
    polyak,
    q_targets,
    utterance_advantage,
    v_targets,
)

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
    loss = policy_gradient_loss(logits.log_softmax(-1)[[0, 1], [2, 0]], advantage)
    loss.backward()
    z = logits.detach().numpy()
    probabilities = np.exp(z) / np.exp(z).sum(1, keepdims=True)
    chosen = np.array([[0, 0, 1], [1, 0, 0]])
    assert loss.item() == pytest.approx(-0.5 * np.log(probabilities[[0, 1], [2, 0]]).sum(), rel=1e-6)
    assert np.allclose(logits.grad, -0.5 * (chosen - probabilities), atol=1e-6)
