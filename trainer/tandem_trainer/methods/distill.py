"""Distillation of a teacher that sees the hidden information into a student that does not (docs/methods.md).

    o      the history before a message         c    the hidden information of its task
    π_ref  the base model, which is frozen      π_θ  the student, which starts as π_ref and never reads c

The teacher π_T is the base model itself, which chooses what to ask by c and writes everything else without c
(`guided_target` of losses.py; the agent `guided:MODEL` plays it). The student learns its distribution, KL(π_T ‖ π_θ),
at the choosing token of each message, and stays with π_ref at every other token. So at a history it learns the mean
E_c π_T(· | o, c) over the tasks in which the history occurs: what is worth asking, as far as o tells. There is no
reward, no critic and no candidate, one dialogue of a task is enough, and whose dialogue it is does not matter.

With target `written` the teacher is whoever wrote the messages, such as a larger model: the student learns their
questions. It learns nothing of messages that answer, because good answers follow from what was asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from ..config import RunConfig
from ..data.lessons import answer_tokens
from ..losses import guided_target
from ..model.log_probs import Head, chosen_log_probs, divergences, vocabulary_log_probs, with_hidden
from ..run.objective import Objective, Sums, turns_of
from ..run.reference_cache import ReferenceCache
from ..run.stages import train_policy
from ..turn import Example, Turn
from .config import DistillConfig
from .feedback import with_feedback


def objectives(config: RunConfig, reference: ReferenceCache) -> dict[str, Objective]:
    return {"policy": with_feedback(config, Distillation(config.distill, reference), reference)}


train = train_policy


class Distillation(Objective):
    """The loss of a dialogue is the mean over its messages of Σ_l KL(target ‖ π_θ) over the tokens l of a message.

    Figures: `kl` in nats per token where nothing is taught, which shows how far the student strays; with target
    `written` also `nll` per token of a question. With `guided` the rest of the loss is the distance from the teacher.
    """

    better = "loss"

    def __init__(self, settings: DistillConfig, reference: ReferenceCache):
        super().__init__(reference)
        self.settings = settings
        base = reference.base
        rows = base.model.get_output_embeddings().weight.shape[0]
        self.answers = torch.from_numpy(answer_tokens(base.tokenizer, rows)).to(base.device)  # (V,)

    def precompute(self, examples: Sequence[Example], progress: Callable[[int, int], None] | None = None) -> None:
        read_by_teacher = [turn for example in examples for turn in example.taught]
        self.reference.compute_states([*turns_of(examples), *read_by_teacher], progress)

    def loss(self, model, examples: Sequence[Example]) -> tuple[Tensor, dict[str, float]]:
        turns, sums = turns_of(examples), Sums()
        lessons = [turn for example in examples for turn in example.taught]
        lengths = [len(turn.response) for turn in turns]
        counts = [len(turn.response) for turn in lessons]
        parts = zip(lengths, counts, strict=True)
        taught = torch.cat([torch.arange(length) < count for length, count in parts]).to(self.answers.device)  # (N,)
        plain = self.reference.states_of(turns)  # (N, d), of π_ref given o

        def at_each_token(hidden: Tensor, head: Head) -> Tensor:
            """hidden: (N, d), of π_θ given o. Returns (N,) float32."""
            losses = hidden.new_zeros(len(hidden), dtype=torch.float32)
            losses[taught] = self._teaching(hidden[taught], plain[taught], head, lessons)
            losses[~taught] = self._keeping(hidden[~taught], plain[~taught], head)
            return losses

        losses = iter(with_hidden(model, turns, at_each_token).split(lengths))
        marks = iter(taught.split(lengths))
        for example in examples:
            of_tokens = torch.cat([next(losses) for _ in example.chosen])
            marked = torch.cat([next(marks) for _ in example.chosen])
            sums.add(
                example,
                of_tokens.sum() / len(example.chosen),
                kl=mean(of_tokens[~marked]),
                nll=mean(of_tokens[marked]) if self.settings.target == "written" else None,
            )
        return sums.total()

    def _teaching(self, hidden: Tensor, plain: Tensor, head: Head, lessons: Sequence[Turn]) -> Tensor:
        """Computes KL(π_T ‖ π_θ), or −log π_θ of the written tokens, at K taught tokens: (K, d), (K, d) → (K,)."""
        limit = self.reference.logits_bytes
        if self.settings.target == "written":
            tokens = np.concatenate([turn.response for turn in lessons])  # (K,)
            return -chosen_log_probs(
                hidden, torch.from_numpy(tokens).long().to(hidden.device), head, logits_bytes=limit
            )
        told = self.reference.states_of(lessons)  # (K, d), of π_ref given o and c
        reference = self.reference.head_beside(head)

        def target(rows: slice) -> Tensor:
            views = (vocabulary_log_probs(states[rows], reference) for states in (plain, told))
            return guided_target(*views, self.answers, self.settings.eta)

        return divergences(hidden, head, target, logits_bytes=limit)

    def _keeping(self, hidden: Tensor, plain: Tensor, head: Head) -> Tensor:
        """Computes KL(π_ref ‖ π_θ) at the other tokens: (M, d), (M, d) → (M,)."""
        reference = self.reference.head_beside(head)
        return divergences(
            hidden,
            head,
            lambda rows: vocabulary_log_probs(plain[rows], reference),
            logits_bytes=self.reference.logits_bytes,
        )


def mean(values: Tensor) -> Tensor | None:
    return values.mean() if len(values) else None
