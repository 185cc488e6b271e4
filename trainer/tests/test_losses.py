"""The losses agree with figures worked out by hand, for two trajectories of two turns.

            chosen, turn 1    chosen, turn 2            rejected, turn 1    rejected, turn 2
log π_θ     −1.0  −2.0        −0.5  −0.5  −1.0  −1.0    −2.0                −1.0  −3.0  −2.0
log π_ref   −1.5  −2.1        −0.7  −0.5  −1.4  −1.0    −1.8                −1.0  −2.4  −2.0
log-ratio    0.5   0.1         0.2   0.0   0.4   0.0    −0.2                 0.0  −0.6   0.0
sum          0.6               0.6                      −0.2                −0.6
mean         0.3               0.15                     −0.2                −0.2
"""

import math

import pytest
import torch

from tandem_trainer.losses import (
    kl_estimate,
    log_ratios,
    nll,
    preference_loss,
    projection_weights,
    trajectory_advantage,
    turn_advantages,
    turn_nll,
    value_loss,
)


def tensors(*turns):
    return [torch.tensor(turn) for turn in turns]


CHOSEN = (tensors([-1.0, -2.0], [-0.5, -0.5, -1.0, -1.0]), tensors([-1.5, -2.1], [-0.7, -0.5, -1.4, -1.0]))
REJECTED = (tensors([-2.0], [-1.0, -3.0, -2.0]), tensors([-1.8], [-1.0, -2.4, -2.0]))


def close(tensor, *numbers):
    return tensor.flatten().tolist() == pytest.approx(numbers, abs=1e-6)


def test_a_turns_advantage_is_the_mean_of_its_log_ratios():
    assert close(turn_advantages(*CHOSEN, length_normalisation=True), 0.3, 0.15)
    assert close(turn_advantages(*REJECTED, length_normalisation=True), -0.2, -0.2)


def test_without_length_normalisation_it_is_their_sum():
    assert close(turn_advantages(*CHOSEN, length_normalisation=False), 0.6, 0.6)
    assert close(log_ratios(*REJECTED), -0.2, -0.6)


def test_the_paper_adds_the_advantages_of_the_turns():
    # 0.3 + 0.15 = 0.45 and −0.2 − 0.2 = −0.4; β·(0.45 + 0.4) = 0.085; log(1 + e^−0.085) = log 1.918512 = 0.651550
    better = trajectory_advantage(*CHOSEN, True, "paper")
    worse = trajectory_advantage(*REJECTED, True, "paper")
    assert close(better, 0.45) and close(worse, -0.4)
    assert close(preference_loss(better, worse, beta=0.1), 0.651550)


def test_the_reference_code_averages_over_all_tokens_of_a_trajectory():
    # 1.2 / 6 = 0.2 and −0.8 / 4 = −0.2; β·0.4 = 0.04; log(1 + e^−0.04) = log 1.960789 = 0.673347
    better = trajectory_advantage(*CHOSEN, True, "reference-code")
    worse = trajectory_advantage(*REJECTED, True, "reference-code")
    assert close(better, 0.2) and close(worse, -0.2)
    assert close(preference_loss(better, worse, beta=0.1), 0.673347)


@pytest.mark.parametrize("convention", ["paper", "reference-code"])
def test_sums_over_tokens_are_the_same_in_either_convention(convention):
    # 1.2 and −0.8; β·2 = 0.2; log(1 + e^−0.2) = log 1.818731 = 0.598139: this is multi-turn DPO as well
    better = trajectory_advantage(*CHOSEN, False, convention)
    worse = trajectory_advantage(*REJECTED, False, convention)
    assert close(preference_loss(better, worse, beta=0.1), 0.598139)
    assert close(preference_loss(log_ratios(*CHOSEN).sum(), log_ratios(*REJECTED).sum(), beta=0.1), 0.598139)


def test_step_dpo_compares_the_sums_of_two_turns():
    # the first turns: 0.6 against −0.2; β·0.8 = 0.4 with β = 0.5; log(1 + e^−0.4) = log 1.670320 = 0.513015
    better, worse = log_ratios(*CHOSEN)[0], log_ratios(*REJECTED)[0]
    assert close(preference_loss(better, worse, beta=0.5), 0.513015)


def test_the_gradient_of_the_critic_weighs_a_token_by_the_length_of_its_turn():
    # d loss / d log π = −β·σ(−0.085)/L for the chosen, + for the rejected; σ(−0.085) = 0.478763
    live = [turn.clone().requires_grad_() for turn in CHOSEN[0] + REJECTED[0]]
    better = trajectory_advantage(live[:2], CHOSEN[1], True, "paper")
    worse = trajectory_advantage(live[2:], REJECTED[1], True, "paper")
    preference_loss(better, worse, beta=0.1).backward()
    slope = 0.1 * 0.478763
    assert close(live[0].grad, -slope / 2, -slope / 2)
    assert close(live[1].grad, *[-slope / 4] * 4)
    assert close(live[2].grad, slope)
    assert close(live[3].grad, *[slope / 3] * 3)


def test_nll_is_the_mean_over_all_tokens():
    assert close(nll(CHOSEN[0]), (1 + 2 + 0.5 + 0.5 + 1 + 1) / 6)


def test_the_value_loss_is_the_cross_entropy_with_the_reward():
    # σ(0) = 0.5: −log 0.5 = 0.693147 whatever the target; σ(log 3) = 0.75: −0.6·log 0.75 − 0.4·log 0.25 = 0.727127
    assert close(value_loss(torch.tensor([0.0]), 0.6), 0.693147)
    assert close(value_loss(torch.tensor([math.log(3)]), 0.6), 0.727127)
    assert close(value_loss(torch.tensor([0.0, math.log(3)]), 0.6), (0.693147 + 0.727127) / 2)


def test_the_kl_estimate_is_right_on_average_over_samples_of_the_reference():
    # π_ref = (0.5, 0.5), π = (0.8, 0.2): KL(π_ref ‖ π) = 0.5·log(0.5/0.8) + 0.5·log(0.5/0.2) = 0.223144.
    # Drawn from π_ref both tokens come equally often, so the estimate over one of each is the expectation.
    log_probs, reference = tensors([0.8, 0.2]), tensors([0.5, 0.5])
    estimate = kl_estimate([p.log() for p in log_probs], [p.log() for p in reference])
    assert close(estimate, 0.223144)


def test_half_precision_is_not_used_for_losses():
    ratios = turn_advantages([torch.tensor([-8.0], dtype=torch.bfloat16)], [torch.tensor([-8.01])], True)
    assert ratios.dtype == torch.float32 and close(ratios, 0.01)


def test_projection_weights_are_a_softmax_of_scores_over_lambda():
    # e^(ln 3) : e^(ln 1) : e^(ln 1) at λ = 1, and 9 : 1 : 1 at λ = ½
    scores = torch.tensor([math.log(3), 0.0, 0.0])
    assert close(projection_weights(scores, 1.0), 0.6, 0.2, 0.2)
    assert close(projection_weights(scores, 0.5), 9 / 11, 1 / 11, 1 / 11)


def test_projection_imitates_samples_for_a_large_lambda_and_the_best_for_a_small_one():
    scores = torch.tensor([0.2, 0.7, 0.1])
    assert close(projection_weights(scores, 1e9), 1 / 3, 1 / 3, 1 / 3)
    assert close(projection_weights(scores, 1e-9), 0.0, 1.0, 0.0)


def test_the_likelihood_of_a_projected_turn_is_a_sum_over_its_tokens():
    assert close(turn_nll(torch.tensor([-1.0, -2.0, -0.5])), 3.5)
