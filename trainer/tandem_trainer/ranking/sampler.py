"""Turns sampled from the live policy, with the log-probabilities that the sampler saw."""

import gc
from collections.abc import Collection, Sequence

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor
from transformers import ContinuousBatchingConfig, GenerationConfig, LogitsProcessor, LogitsProcessorList
from transformers.generation.continuous_batching.requests import GenerationOutput
from transformers.utils import is_flash_attn_2_available, is_flash_attn_3_available

from ..config import CandidatesConfig
from ..fault import Fault
from ..model.base import Base
from ..running.budget import free_memory, is_out_of_memory
from ..running.events import Events
from ..running.stop import Stopped, StopRequest
from ..turn import Turn

PAGE = 256  # tokens of one block of the cache; flash-attention wants this size
PAGED_LAYERS = {"full_attention", "sliding_attention"}


class Sampler:
    """Samples `settings.per_turn` turns for each prompt, by continuous batching where the model allows it.

    The same prompts, seed and weights give the same turns on the same machine. How many turns are written at once is
    part of that: it follows from the device, and is halved when the memory turns out to be too small.
    """

    def __init__(
        self, base: Base, settings: CandidatesConfig, stop_ids: Collection[int], stop: StopRequest, events: Events
    ):
        self.base, self.settings, self.stop_ids, self.stop, self.events = base, settings, stop_ids, stop, events
        self.model = base.model.get_base_model() if hasattr(base.model, "get_base_model") else base.model
        self.at_once = turns_at_once(base.device)
        self.obstacle = obstacle(self.model)
        if self.obstacle:
            self.at_once = min(self.at_once, settings.per_turn)
            events.notice(f"Candidates are sampled one history at a time, which is slow: {self.obstacle}.")

    def sample(self, prompts: Sequence[np.ndarray], seed: int) -> list[list[Turn]]:
        """For each prompt its turns, with log-probabilities after temperature, and, when batched, after top-p.

        Errors: Stopped when the run is to stop; Fault when not even one turn fits into memory.
        """
        was_training = self.model.training
        self.model.eval()
        gc.freeze()  # continuous batching collects garbage twice, and need not look for it among all of torch
        try:
            devices = [self.base.device] if self.base.device.type == "cuda" else []
            with torch.random.fork_rng(devices=devices), torch.no_grad():
                return self._until_it_fits(prompts, seed)
        finally:
            gc.unfreeze()
            self.model.train(was_training)

    def _until_it_fits(self, prompts: Sequence[np.ndarray], seed: int) -> list[list[Turn]]:
        while True:
            try:
                if self.obstacle:
                    return [self._one_history(prompt, seed + number) for number, prompt in enumerate(prompts)]
                return self._continuously(prompts, seed)
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise
                if self.at_once == 1:
                    raise Fault("Not even one candidate fits into memory: lower candidates.max_new_tokens.") from error
            free_memory()
            self.at_once //= 2
            self.events.notice(f"Out of memory: {self.at_once} candidates are sampled at once from now on.")

    def _continuously(self, prompts: Sequence[np.ndarray], seed: int) -> list[list[Turn]]:
        """All turns of all prompts in one batch that is refilled as turns end; a prompt is read once for its turns."""
        manager = self.model.init_continuous_batching(
            self._generation(self.settings.per_turn), self._batching(prompts, seed)
        )
        # `generate_batch` adds requests while its loop already runs, so that timing decides who gets which random
        # numbers. Here all requests wait before the loop starts.
        names = manager.add_requests([prompt.tolist() for prompt in prompts], self.settings.max_new_tokens)
        outputs: dict[str, GenerationOutput] = {}
        failure = None
        manager.start()
        try:
            while failure is None and len(outputs) < len(prompts) * self.settings.per_turn:
                output = manager.get_result(timeout=1)
                if self.stop:
                    raise Stopped
                if output is not None:
                    outputs[output.request_id] = output
                    failure = output.error
                elif not manager.is_running():
                    failure = "its thread ended"
        finally:
            manager.stop(hard_stop=True)
            manager.destroy()
        if failure is not None:
            raise manager.background_thread_status.fatal_error or RuntimeError(f"Sampling failed: {failure}")
        copies = [f"__child#{number}" for number in range(self.settings.per_turn - 1)]
        return [
            [
                self._turn(prompt, outputs[name + copy].generated_tokens, outputs[name + copy].logprobs)
                for copy in ("", *copies)
            ]
            for name, prompt in zip(names, prompts, strict=True)
        ]

    def _one_history(self, prompt: np.ndarray, seed: int) -> list[Turn]:
        """The turns of one prompt by plain generation, which reads the prompt once for each of them."""
        torch.manual_seed(seed)
        turns: list[Turn] = []
        while len(turns) < self.settings.per_turn:
            if self.stop:
                raise Stopped
            turns += self._plainly(prompt, min(self.at_once, self.settings.per_turn - len(turns)))
        return turns

    def _plainly(self, prompt: np.ndarray, count: int) -> list[Turn]:
        noted = NoteLogProbs(self.settings.temperature)
        ids = torch.from_numpy(prompt.astype(np.int64))[None].to(self.base.device)
        own = self.model.generation_config
        self.model.generation_config = self._generation(count)  # what a model folder suggests is not what was asked for
        try:
            rows = self.model.generate(
                ids, attention_mask=torch.ones_like(ids), logits_processor=LogitsProcessorList([noted])
            )
        finally:
            self.model.generation_config = own
        log_probs = noted.until(rows)
        responses = rows[:, len(prompt) :].cpu().numpy()
        return [
            self._turn(prompt, row[: self._length(row)], said[: self._length(row)])
            for row, said in zip(responses, log_probs, strict=True)
        ]

    def _length(self, row: np.ndarray) -> int:
        """Up to the first token that ends a turn; what follows it is padding."""
        ends = np.flatnonzero(np.isin(row, list(self.stop_ids)))
        return int(ends[0]) + 1 if len(ends) else len(row)

    def _turn(self, prompt: np.ndarray, ids: Sequence[int], log_probs: Sequence[float]) -> Turn:
        return Turn(prompt, np.asarray(ids, np.int32), sampled=True, log_probs=np.asarray(log_probs, np.float32))

    def _generation(self, count: int) -> GenerationConfig:
        return GenerationConfig(
            do_sample=True,
            temperature=self.settings.temperature,
            top_p=self.settings.top_p,
            top_k=0,
            max_new_tokens=self.settings.max_new_tokens,
            num_return_sequences=count,
            eos_token_id=sorted(self.stop_ids),
            pad_token_id=min(self.stop_ids),
        )

    def _batching(self, prompts: Sequence[np.ndarray], seed: int) -> ContinuousBatchingConfig:
        longest = max(len(prompt) for prompt in prompts) + self.settings.max_new_tokens
        rank = dist.get_rank() if dist.is_initialized() else 0
        return ContinuousBatchingConfig(
            page_size=PAGE,
            # A history is admitted when one place is free, and then has `per_turn` turns with a cache of their own.
            num_blocks=(self.at_once + self.settings.per_turn) * (-(-longest // PAGE) + 1),
            max_requests_per_batch=self.at_once,
            max_batch_tokens=max(512, self.at_once),
            return_logprobs=True,
            seed=seed - rank,  # the manager adds the rank, but which rank samples a shard must not matter
        )


class NoteLogProbs(LogitsProcessor):
    """Notes what the sampler says of each token it takes; `generate` itself could only keep all logits of all steps.

    It is called before temperature is applied, so it applies it itself. With top-p its figures are those before top-p.
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


def obstacle(model) -> str | None:
    """Why this model cannot be batched continuously, or None."""
    config = model.config.get_text_config()
    if not hasattr(model, "init_continuous_batching"):
        return "its class in transformers has no continuous batching"
    if not PAGED_LAYERS.issuperset(getattr(config, "layer_types", None) or ()):
        return "it has layers that are not plain attention"
    if getattr(config, "attn_logit_softcapping", None) is not None:
        return "paged attention does not cap scores, as this model does"
    return None


def turns_at_once(device: torch.device) -> int:
    """Without flash-attention every turn is compared with the cache of all, so more at once is slower: on a CPU with a
    15M model 16 wrote 409 tokens/s, 32 wrote 219 and 64 wrote 151.
    """
    if device.type != "cuda":
        return 16
    return 256 if is_flash_attn_3_available() or is_flash_attn_2_available() else 64
