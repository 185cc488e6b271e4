"""The losses, as pure functions of log-probabilities.

Equations are those of SWEET-RL (arXiv 2503.15478) where nothing else is said. Every function takes what
`token_log_probs` returns, for the turns of one trajectory:

    log_probs:  T tensors of shape (L_t,), natural logarithms of the probabilities of the turn's tokens a_t^l,
                float32, with gradients
    reference:  T tensors of the same shapes, the same under the frozen reference model, without gradients

A turn's tokens are the agent's only, so what the collaborator wrote is outside of every loss by construction.

Where the published code departs from the paper, convention `reference-code` follows it, so that results can be
compared with both: the critic averages over all tokens of a trajectory (`trajectory_advantage`), the ranking's
reference does not see the hidden information (`ranking.py`), and the policy's likelihood is of the prompt as well
(`policy.py`). Not followed are its accidents: header tokens that are averaged on one side only, masks found by
searching strings, turns tokenised anew at every stage, and answers cut off where a dialogue is too long.
"""

from collections.abc import Sequence
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

Convention = Literal["paper", "reference-code"]


def log_ratios(log_probs: Sequence[Tensor], reference: Sequence[Tensor]) -> Tensor:
    """log π_θ(a_t | o_t) − log π_ref(a_t | o_t) of each turn, the sum over its tokens. Shape (T,)."""
    return torch.stack([(p.float() - r.float()).sum() for p, r in zip(log_probs, reference, strict=True)])


def turn_advantages(log_probs: Sequence[Tensor], reference: Sequence[Tensor], length_normalisation: bool) -> Tensor:
    """A_θ(o_t, a_t, c) of each turn, eq. 3: the mean of the log-ratios over the turn's L_t tokens. Shape (T,).

    Without `length_normalisation` (the paper's ablation, in which replies collapse) the sum instead of the mean.
    """
    ratios = log_ratios(log_probs, reference)
    if not length_normalisation:
        return ratios
    return ratios / torch.tensor([len(p) for p in log_probs], device=ratios.device)


def trajectory_advantage(
    log_probs: Sequence[Tensor], reference: Sequence[Tensor], length_normalisation: bool, convention: Convention
) -> Tensor:
    """What eq. 2 compares: Σ_t A_θ(o_t, a_t, c). A scalar.

    Convention `reference-code`: the mean over all tokens of the trajectory at once. A turn then counts by its length,
    and the final answer, which is most of the tokens, decides.
    """
    if convention == "reference-code" and length_normalisation:
        return log_ratios(log_probs, reference).sum() / sum(len(p) for p in log_probs)
    return turn_advantages(log_probs, reference, length_normalisation).sum()


def preference_loss(chosen: Tensor, rejected: Tensor, beta: float) -> Tensor:
    """−log σ(β · chosen − β · rejected), elementwise.

    Of trajectory advantages: the critic's Bradley–Terry loss, eq. 2. Of the log-ratios of two turns with one history:
    step-wise DPO, eq. 4. Of the log-ratios of two trajectories: DPO (arXiv 2305.18290, eq. 7), here over many turns.
    """
    return -F.logsigmoid(beta * (chosen.float() - rejected.float()))


def nll(log_probs: Sequence[Tensor]) -> Tensor:
    """Negative log-likelihood in nats a token: the mean over all tokens of the turns. A scalar."""
    return -torch.cat(list(log_probs)).float().mean()


def value_loss(values: Tensor, target: float) -> Tensor:
    """Cross-entropy between σ(values), the predicted success after each turn, and the trajectory's reward. A scalar.

    values: (T,) logits. target: the return in [0, 1]; undiscounted, because the reward comes at the end only. The mean
    over the turns, so that a trajectory counts once. Cross-entropy and not squared error: most rewards are 0 or 1, a
    fraction of passed tests is the mean of such, and values learn better so (arXiv 2403.03950).
    """
    return F.binary_cross_entropy_with_logits(values.float(), torch.full_like(values, target, dtype=torch.float32))


def kl_estimate(log_probs: Sequence[Tensor], reference: Sequence[Tensor]) -> Tensor:
    """Schulman's k3 = (r − 1) − log r with r = π_θ/π_ref, the mean over the tokens: nats a token, never negative.

    The tokens must be drawn from π_ref; then it estimates KL(π_ref ‖ π_θ) without bias.
    Source: http://joschu.net/blog/kl-approx.html
    """
    log_r = torch.cat(list(log_probs)).float() - torch.cat(list(reference)).float()
    return (log_r.exp() - 1 - log_r).mean()
