"""The turns of one prompt after the other by plain generation, which reads the prompt for each turn.

For models whose layers are not plain attention, so that nothing but transformers' own cache knows what they keep.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from transformers import GenerationConfig, LogitsProcessor, LogitsProcessorList

from ..model.base import Base
from ..running.stop import Stopped
from ..turn import Turn
from .sampling import Sampling


def whole_rows(base: Base, prompts: Sequence[np.ndarray], count: int, sampling: Sampling) -> list[list[Turn]]:
    """As `side_by_side`, but with top-p the log-probabilities are those before top-p. Stopped: between two prompts."""
    model = base.model.get_base_model() if hasattr(base.model, "get_base_model") else base.model
    own, model.generation_config = model.generation_config, _generation(sampling, count)
    devices = [base.device] if base.device.type == "cuda" else []
    try:
        # `generate` takes no generator of its own.
        with torch.random.fork_rng(devices=devices):
            generator = sampling.generator
            torch.manual_seed(int(torch.randint(2**62, (), generator=generator, device=generator.device)))
            return [_turns(model, prompt, sampling) for prompt in prompts]
    finally:
        model.generation_config = own


def _turns(model, prompt: np.ndarray, sampling: Sampling) -> list[Turn]:
    if sampling.stop:
        raise Stopped
    ids = torch.from_numpy(prompt.astype(np.int64))[None].to(model.device)
    noted = NoteLogProbs(sampling.settings.temperature)
    rows = model.generate(ids, attention_mask=torch.ones_like(ids), logits_processor=LogitsProcessorList([noted]))
    log_probs = noted.until(rows)
    turns = []
    for row, said in zip(rows[:, len(prompt) :].cpu().numpy(), log_probs, strict=True):
        ends = np.flatnonzero(np.isin(row, list(sampling.stop_ids)))  # what follows the first is padding
        length = int(ends[0]) + 1 if len(ends) else len(row)
        turns.append(Turn(prompt, row[:length].astype(np.int32), sampled=True, log_probs=said[:length]))
    return turns


def _generation(sampling: Sampling, count: int) -> GenerationConfig:
    """Put in place of the model's own, because what a model folder suggests is not what was asked for."""
    settings = sampling.settings
    return GenerationConfig(
        do_sample=True,
        temperature=settings.temperature,
        top_p=settings.top_p,
        top_k=0,
        max_new_tokens=settings.max_new_tokens,
        num_return_sequences=count,
        eos_token_id=sorted(sampling.stop_ids),
        pad_token_id=min(sampling.stop_ids),
    )


class NoteLogProbs(LogitsProcessor):
    """Notes what the sampler says of each token it takes; `generate` itself could only keep all logits of all steps.

    It is called before temperature is applied, so it applies it itself.
    """

    def __init__(self, temperature: float):
        self.temperature = temperature
        self.latest: Tensor | None = None
        self.noted: list[Tensor] = []

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        self._note(input_ids)
        self.latest = (scores.float() / self.temperature).log_softmax(-1)
        return scores

    def until(self, rows: Tensor) -> np.ndarray:
        """(rows, steps) float32, the log-probabilities of all tokens taken."""
        self._note(rows)
        return torch.cat(self.noted, dim=1).cpu().numpy()

    def _note(self, ids: Tensor) -> None:
        if self.latest is not None:
            self.noted.append(self.latest.gather(1, ids[:, -1:]))
