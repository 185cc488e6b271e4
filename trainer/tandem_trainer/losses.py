"""The losses, as pure functions of log-probabilities.

Equations are those of SWEET-RL (arXiv 2503.15478) unless another source is named. Every function takes the results of
`token_log_probs` for the turns of one trajectory:

    log_probs:  T tensors of shape (L_t,), natural logarithms of the probabilities of the turn's tokens a_t^l,
                float32, with gradients
    reference:  T tensors of the same shapes, the same under the frozen reference model, without gradients

A turn contains only the agent's tokens, so the collaborator's text is outside of every loss.

Convention `reference-code` follows the published code where it departs from the paper, so that results can be compared
with both: the critic averages over all tokens of a trajectory (`trajectory_advantage`), the ranking's reference does
not see the hidden information (`candidate_advantages`), and the policy's likelihood is of the prompt as well
(`Policy.imitated`). Its bugs are not reproduced: header tokens averaged on one side only, masks found by searching
strings, turns tokenised again at every stage, and answers cut off in dialogues that are too long.
"""

import math
from collections.abc import Sequence
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

PLAUSIBLE = 0.01  # of the probability of the likeliest question; src/core/model/local/guidance.ts has the same
Convention = Literal["paper", "reference-code"]


def log_ratios(log_probs: Sequence[Tensor], reference: Sequence[Tensor]) -> Tensor:
    """Computes log π_θ(a_t | o_t) − log π_ref(a_t | o_t) of each turn, the sum over its tokens. Shape (T,)."""
    return torch.stack([(p.float() - r.float()).sum() for p, r in zip(log_probs, reference, strict=True)])


def turn_advantages(log_probs: Sequence[Tensor], reference: Sequence[Tensor], length_normalisation: bool) -> Tensor:
    """Computes A_θ(o_t, a_t, c) of each turn, eq. 3: the mean log-ratio over the turn's L_t tokens. Shape (T,).

    Without `length_normalisation` it is the sum (the paper's ablation, in which replies collapse).
    """
    ratios = log_ratios(log_probs, reference)
    if not length_normalisation:
        return ratios
    return ratios / torch.tensor([len(p) for p in log_probs], device=ratios.device)


def trajectory_advantage(
    log_probs: Sequence[Tensor], reference: Sequence[Tensor], length_normalisation: bool, convention: Convention
) -> Tensor:
    """Computes Σ_t A_θ(o_t, a_t, c), which eq. 2 compares. A scalar.

    Convention `reference-code` takes the mean over all tokens of the trajectory at once. A turn then counts by its
    length, and the final answer, which has most of the tokens, dominates.
    """
    if convention == "reference-code" and length_normalisation:
        return log_ratios(log_probs, reference).sum() / sum(len(p) for p in log_probs)
    return turn_advantages(log_probs, reference, length_normalisation).sum()


def preference_loss(chosen: Tensor, rejected: Tensor, beta: float) -> Tensor:
    """Computes −log σ(β · chosen − β · rejected), elementwise.

    With trajectory advantages it is the critic's Bradley–Terry loss, eq. 2; with the log-ratios of two turns of one
    history it is step-wise DPO, eq. 4; with those of two trajectories it is multi-turn DPO (arXiv 2305.18290, eq. 7).
    """
    return -F.logsigmoid(beta * (chosen.float() - rejected.float()))


def reference_point(mismatched: Sequence[Tensor]) -> Tensor | None:
    """Estimates z₀ = KL(π_θ ‖ π_ref) at one history, as KTO does (arXiv 2402.01306, section 4.1). A scalar, or None.

    mismatched: log-ratios of turns that were said at other histories, scalars. Their mean estimates the divergence
    without a sample of π_θ; it is not below 0, and no gradient flows through it. None without such a turn.
    KTO takes one mismatched turn for each example and the mean over a micro-batch. Here each example has its own, so
    that a loss does not depend on which examples share a micro-batch.
    """
    return torch.stack([ratio.detach() for ratio in mismatched]).mean().clamp(min=0) if mismatched else None


def unpaired_loss(ratio: Tensor, z0: Tensor | None, desirability: float, beta: float) -> Tensor:
    """Computes λ_y − v(o, a) of a turn without a pair, KTO (arXiv 2402.01306, eq. 8) with λ_D = λ_U = 1. A scalar.

    v is σ(β (r − z₀)) of a desirable turn and σ(β (z₀ − r)) of an undesirable one.
    ratio: r = log π_θ(a | o) − log π_ref(a | o). z0: of `reference_point`; None counts as 0.
    desirability: 1 for desirable, 0 for undesirable; a return d between them weighs the two losses by d and 1 − d, so
    the gradient of r has the sign of 1 − 2d. Below 0, as a price may make it, the turn is only pushed down more.
    """
    value = torch.sigmoid(beta * (ratio if z0 is None else ratio - z0))
    return desirability * (1 - value) + (1 - desirability) * value


def nll(log_probs: Sequence[Tensor]) -> Tensor:
    """Computes the negative log-likelihood in nats per token, the mean over all tokens of the turns. A scalar."""
    return -torch.cat(list(log_probs)).float().mean()


def projection_weights(scores: Tensor, lam: float) -> Tensor:
    """Computes w_i = exp(A_i/λ) / Σ_j exp(A_j/λ) of n turns that π_ref sampled at one history. Shape (n,).

    scores: (n,), A_i; a turn that was sampled twice is in it twice.
    With them −Σ_i w_i log π(a_i | o) estimates the cross-entropy of π to π*(a | o) ∝ π_ref(a | o) exp(A(o, a)/λ), the
    policy with the highest E[A] − λ KL(π ‖ π_ref) (LINVIT, arXiv 2402.16181). Nothing is pushed down.
    """
    return torch.softmax(scores.double() / lam, dim=0)


def turn_nll(log_probs: Tensor) -> Tensor:
    """Computes −log π(a | o) of one turn in nats, the sum over its tokens (L,). A scalar.

    A mean over tokens would have another optimum than π*: a long turn would count less in it than its probability.
    """
    return -log_probs.float().sum()


def value_loss(values: Tensor, target: float) -> Tensor:
    """Computes the cross-entropy between σ(values), the predicted success after each turn, and the reward. A scalar.

    values: (T,) logits. target: the return in [0, 1], undiscounted because the reward comes only at the end.
    The loss is the mean over the turns, so that each trajectory counts once. Cross-entropy replaces squared error
    because rewards are fractions of passed tests, mostly 0 or 1, and values learn better with it (arXiv 2403.03950).
    """
    return F.binary_cross_entropy_with_logits(values.float(), torch.full_like(values, target, dtype=torch.float32))


def guided_target(plain: Tensor, told: Tensor, answers: Tensor, eta: float) -> Tensor:
    """Computes log π_T of a teacher that chooses its question by the hidden information c (docs/methods.md).

    Among the tokens of questions π_T(v | o, c) ∝ exp(log π_ref(v | o) + η [log π_ref(v | o, c) − log π_ref(v | o)]).
    Tokens of answers keep π_ref(v | o), so that the teacher asks as often as the reference does. A token that is
    implausible with c, too, is never raised: the ratio of two tiny probabilities says nothing, and η amplifies it
    (the plausibility constraint of contrastive decoding, arXiv 2210.15097).

    plain, told: (N, V) log π_ref(· | o) and log π_ref(· | o, c). answers: (V,) bool. Returns (N, V) float32.
    """
    told_questions = told.masked_fill(answers, -torch.inf)
    is_plausible = told_questions >= told_questions.amax(-1, keepdim=True) + math.log(PLAUSIBLE)
    tilt = eta * (told - plain)
    tilted = (plain + torch.where(is_plausible, tilt, tilt.clamp(max=0))).masked_fill(answers, -torch.inf)
    asking = plain.masked_fill(answers, -torch.inf).logsumexp(-1, keepdim=True)  # log π_ref(asks | o)
    return torch.where(answers, plain, tilted.log_softmax(-1) + asking)


def forward_kl(target: Tensor, log_probs: Tensor) -> Tensor:
    """Computes KL(target ‖ π_θ) = Σ_v q(v) [log q(v) − log π_θ(v)] over the vocabulary. (N, V), (N, V) → (N,)."""
    return (target.exp() * (target - log_probs)).nan_to_num(0.0).sum(-1)


def kl_estimate(log_probs: Sequence[Tensor], reference: Sequence[Tensor]) -> Tensor:
    """Computes Schulman's k3 = (r − 1) − log r with r = π_θ/π_ref, the mean in nats per token; it is never negative.

    For tokens drawn from π_ref it is an unbiased estimate of KL(π_ref ‖ π_θ).
    Source: http://joschu.net/blog/kl-approx.html
    """
    log_r = torch.cat(list(log_probs)).float() - torch.cat(list(reference)).float()
    return (log_r.exp() - 1 - log_r).mean()


# ---- turns of an earlier policy or of another agent


def turn_weight(log_probs: Tensor, sampled: Tensor) -> Tensor:
    """Computes min(1, ρ_t) with ρ_t = (Π_l π(a^l | o, a^{<l}) / μ(a^l | o, a^{<l}))^{1/L} of a turn. A scalar.

    The bound is V-trace's ρ̄ = 1 (arXiv 1802.01561, eq. 1): an old turn never counts more than a new one. The mean over
    tokens is that of GSPO (arXiv 2507.18071, eq. 7): the product over a hundred tokens, of which each differs by
    rounding between sampler and trainer, is noise. It is biased for that.

    log_probs, sampled: (L,) of π and μ. sampled may be NaN at some tokens, which do not count, but not at all.
    """
    known = sampled.isfinite()
    return (log_probs - sampled)[known].mean().exp().clamp(max=1)


def effective_sample_size(total: float, squares: float) -> float:
    """Computes Kish's (Σ w)² / Σ w² from Σ w and Σ w² of n weights: n for equal ones, near 1 if one outweighs all."""
    return total**2 / squares if squares > 0 else 0.0


# ---- ArCHer (arXiv 2402.19446): an utterance-level critic of two Q and two V, and a token-level policy gradient


def q_targets(rewards: Tensor, next_values: Tensor, is_last: Tensor, gamma: float) -> Tensor:
    """Computes r + γ V̄_i(o′), toward which Q_i(o, a) is trained, eq. 1; after the last turn only r. Shape (2, N).

    rewards: (N,). next_values: (2, N) of the target network, whatever it is after a last turn. is_last: (N,) bool.
    """
    return rewards + gamma * next_values.masked_fill(is_last, 0.0)


def v_targets(sampled: Tensor) -> Tensor:
    """Computes the mean of Q̄_i(o, ã) over turns ã of the present policy, toward which V_i(o) is trained, eq. 2. (2, N).

    sampled: (2, N, K) of the target network. The paper has K = 1, which is noisy.
    """
    return sampled.mean(-1)


def actor_critic_error(q: Tensor, v: Tensor, of_q: Tensor, of_v: Tensor) -> Tensor:
    """Computes the squared errors of both Q and both V, summed over heads, the mean over N transitions. A scalar.

    q, v: (2, N) with gradients. of_q, of_v: (2, N), their targets.
    """
    return ((q - of_q).square() + (v - of_v).square()).sum(0).mean()


def polyak(target: Tensor, live: Tensor, tau: float) -> Tensor:
    """Computes (1 − τ) θ̄ + τ θ, the next weights of a target network."""
    return torch.lerp(target, live, tau)


def utterance_advantage(q: Tensor, v: Tensor) -> Tensor:
    """Computes A(o, a) = min_i Q_i(o, a) − min_i V_i(o): (2, N), (2, N) → (N,)."""
    return q.amin(0) - v.amin(0)


def policy_gradient_loss(log_probs: Tensor, sampled: Tensor, advantage: float, clip: float) -> Tensor:
    """Computes −Σ_l min(ρ_l A, clip(ρ_l, 1 ± ε) A) with ρ_l = π(a^l | o, a^{<l}) / μ(a^l | o, a^{<l}). A scalar.

    Where the policy π is the sampler μ, the gradient is −A(o, a) Σ_l ∇ log π(a^l | o, a^{<l}), eq. 3 for one turn. The
    paper samples anew for each gradient; several steps on one sample need PPO's ratio (arXiv 1707.06347, eq. 7).

    log_probs, sampled: (L,) of π and μ. advantage: of the turn, which every token of it has. clip: ε.
    """
    ratio = (log_probs.float() - sampled).exp()
    return -torch.minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage).sum()
