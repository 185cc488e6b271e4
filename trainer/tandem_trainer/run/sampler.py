"""Samples turns from the live policy, with their log-probabilities.

`side_by_side` samples all turns of several prompts together and reads each prompt once. `whole_rows` reads the prompt
for each turn; it is for models with other layers than plain attention, which only transformers' own cache supports.

Several processes that hold one model together sample on their own if each has memory for the whole model. Otherwise
they go in step, token by token, and a finished rank makes passes without use.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor
from transformers import GenerationConfig, LogitsProcessor, LogitsProcessorList, TopPLogitsWarper

from ..config import CandidatesConfig
from ..fault import Fault, UsageFault
from ..model.base import Base
from ..model.fsdp import within_forward
from ..model.log_probs import Head, causal_of, decoder_of, vocabulary_log_probs
from ..model.prefix_tree import grow
from ..model.shared_prefix import SharedPrefixes
from ..turn import Turn
from .budget import NO_TURN, free_memory, is_out_of_memory
from .distributed import Ranks
from .event_file import Events
from .stop import Stopped, StopRequest

SMALLER = 0.75  # fraction of places still in use below which the places of finished turns are removed
AT_ONCE = {"cuda": 256, "mps": 128, "cpu": 128}  # turns sampled at once, if memory allows it


class Sampler:
    """Samples `settings.sampled` turns for each prompt; if the model allows it, a prompt is read once for all of them.

    The same prompts, seed and weights give the same turns on the same machine, unless memory runs out: then the number
    of turns sampled at once is halved, which changes the result.
    """

    def __init__(
        self,
        base: Base,
        settings: CandidatesConfig,
        stop_ids: Collection[int],
        stop: StopRequest,
        events: Events,
        ranks: Ranks = Ranks(),  # noqa: B008  it is frozen
    ):
        self.base, self.settings, self.stop_ids, self.stop, self.events = base, settings, stop_ids, stop, events
        self.ranks = ranks
        self.at_once = AT_ONCE[base.device.type]
        self.in_step = False

    @contextmanager
    def ready(self) -> Iterator[None]:
        """Several processes must do all their sampling inside the context. Errors: UsageFault for lack of memory."""
        with self.base.whole_if_it_fits() as is_whole:
            self.in_step = not is_whole
            if self.in_step and not self.base.shares_prefixes:
                raise UsageFault(
                    "Candidates of this model can only be sampled by a process that holds all of it, and there is no "
                    "memory for that: take a smaller model, or one of another family."
                )
            yield

    def sample(self, prompts: Sequence[np.ndarray], seed: int) -> list[list[Turn]]:
        """Log-probabilities are after temperature (and top-p, for shared prompts). Errors: Stopped; Fault."""
        model = self.base.model
        was_training = model.training
        model.eval()
        try:
            with torch.no_grad():
                return self._until_it_fits(prompts, seed)
        finally:
            model.train(was_training)

    def _until_it_fits(self, prompts: Sequence[np.ndarray], seed: int) -> list[list[Turn]]:
        while True:
            try:
                generator = torch.Generator(self.base.device).manual_seed(seed)
                return self._all(prompts, generator)
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise
                tried = min(self.at_once, len(prompts) * self.settings.sampled)
                if tried == 1 or self.in_step:
                    raise Fault("Not even one candidate fits into memory: lower candidates.max_new_tokens.") from error
            free_memory()
            self.at_once = tried // 2
            self.events.notice(f"Out of memory: {self.at_once} candidates are sampled at once from now on.")

    def goes_on(self, unfinished: bool) -> bool:
        """Gets whether turns are unfinished and returns whether another token is read. Errors: Stopped."""
        if not self.in_step:
            if unfinished and self.stop:
                raise Stopped
            return unfinished
        stopped, unfinished = self.ranks.highest((bool(self.stop), unfinished))
        if stopped:
            raise Stopped
        return unfinished

    def _all(self, prompts: Sequence[np.ndarray], generator: torch.Generator) -> list[list[Turn]]:
        each = self.settings.sampled
        write = side_by_side if self.base.shares_prefixes else whole_rows
        together = max(1, self.at_once // each)
        parts = [range(start, min(start + together, len(prompts))) for start in range(0, len(prompts), together)]
        counts = [min(self.at_once, each - start) for start in range(0, each, self.at_once)]
        works = [(part, count) for part in parts for count in counts]
        found: list[list[Turn]] = [[] for _ in prompts]
        for number in range(self.ranks.highest(len(works)) if self.in_step else len(works)):
            part, count = works[number] if number < len(works) else ((), 0)
            for place, turns in zip(part, write(self, [prompts[p] for p in part], count, generator), strict=True):
                found[place] += turns
        return found


def side_by_side(
    sampler: Sampler, prompts: Sequence[np.ndarray], count: int, generator: torch.Generator
) -> list[list[Turn]]:
    """Each turn goes to its first stop token or `max_new_tokens`. Errors: Stopped, between two tokens.

    Without prompts it makes the passes of a rank that has none left.
    """
    return within_forward(causal_of(sampler.base.model), lambda: _side_by_side(sampler, prompts, count, generator))


def _side_by_side(
    sampler: Sampler, prompts: Sequence[np.ndarray], count: int, generator: torch.Generator
) -> list[list[Turn]]:
    settings, base = sampler.settings, sampler.base
    device, head = base.device, Head.of(base.model)
    is_idle = not prompts
    if is_idle:
        prompts, count = [NO_TURN.prompt], 1
    forest = grow([Turn(prompt, prompt[-1:]) for prompt in prompts]).to(device)
    cache = SharedPrefixes(decoder_of(base.model), forest, count)
    ends = torch.tensor(sorted(sampler.stop_ids), device=device)
    size = (len(prompts) * count, settings.max_new_tokens)
    tokens, said = torch.zeros(size, dtype=torch.int64, device=device), torch.zeros(size, device=device)
    lengths = torch.full(size[:1], settings.max_new_tokens, device=device)
    turns = torch.arange(size[0], device=device).view(len(prompts), count)  # turn at each place of the grid
    writing = torch.full_like(turns, not is_idle, dtype=torch.bool)
    hidden = cache.read()
    for step in range(settings.max_new_tokens):
        every = vocabulary_log_probs(hidden, head, temperature=settings.temperature)
        new, log_probs = draw(every, settings, generator)
        rows = turns.flatten()
        tokens[rows, step], said[rows, step] = new, log_probs
        ended = writing & torch.isin(new, ends).view(writing.shape)
        lengths[turns[ended]] = step + 1
        writing &= ~ended
        unfinished = step + 1 < settings.max_new_tokens and bool(writing.any())
        if not sampler.goes_on(unfinished):
            break
        # A finished rank keeps one place, because it must go in step with the others.
        first = torch.zeros(1, 1, dtype=torch.int64, device=device)
        kept, places = _still_needed(writing) if unfinished else (first[0], first)
        if places.numel() <= SMALLER * writing.numel():
            new = new.view(writing.shape)[kept[:, None], places].flatten()
            turns, writing = turns[kept[:, None], places], writing[kept[:, None], places]
            cache.keep(kept, places)
        hidden = cache.write(new)
    if is_idle:
        return []
    numbers = zip(tokens.cpu().numpy(), said.cpu().numpy(), lengths.tolist(), strict=True)
    written = [(row[:length].astype(np.int32), about[:length]) for row, about, length in numbers]
    return [
        [Turn(prompt, row, sampled=True, log_probs=about) for row, about in written[start : start + count]]
        for start, prompt in zip(range(0, size[0], count), prompts, strict=True)
    ]


def _still_needed(writing: Tensor) -> tuple[Tensor, Tensor]:
    """Chooses the places to keep: writing (P, W) bool → prompts (P',) with an unfinished turn, and W' turns of each.

    Unfinished turns come first; W' is the greatest number of unfinished turns of a prompt.
    """
    kept = writing.any(dim=1).nonzero()[:, 0]
    width = int(writing.sum(dim=1).max())
    places = writing[kept].to(torch.int8).argsort(dim=1, descending=True, stable=True)[:, :width]
    return kept, places


def whole_rows(
    sampler: Sampler, prompts: Sequence[np.ndarray], count: int, generator: torch.Generator
) -> list[list[Turn]]:
    """Samples as `side_by_side`, but log-probabilities are those before top-p. Errors: Stopped, between prompts."""
    device, model = sampler.base.device, causal_of(sampler.base.model)
    own, model.generation_config = model.generation_config, _generation(sampler, count)
    devices = [device] if device.type == "cuda" else []
    try:
        # `generate` takes no generator of its own.
        with torch.random.fork_rng(devices=devices):
            torch.manual_seed(int(torch.randint(2**62, (), generator=generator, device=generator.device)))
            return [_turns(model, prompt, sampler) for prompt in prompts]
    finally:
        model.generation_config = own


def _turns(model, prompt: np.ndarray, sampler: Sampler) -> list[Turn]:
    sampler.goes_on(True)
    ids = torch.from_numpy(prompt.astype(np.int64))[None].to(model.device)
    noted = NoteLogProbs(sampler.settings.temperature)
    rows = model.generate(ids, attention_mask=torch.ones_like(ids), logits_processor=LogitsProcessorList([noted]))
    log_probs = noted.until(rows)
    turns = []
    for row, said in zip(rows[:, len(prompt) :].cpu().numpy(), log_probs, strict=True):
        ends = np.flatnonzero(np.isin(row, list(sampler.stop_ids)))  # ids behind the first end are padding
        length = int(ends[0]) + 1 if len(ends) else len(row)
        turns.append(Turn(prompt, row[:length].astype(np.int32), sampled=True, log_probs=said[:length]))
    return turns


def _generation(sampler: Sampler, count: int) -> GenerationConfig:
    """The settings of the model folder are not the requested ones."""
    settings = sampler.settings
    return GenerationConfig(
        do_sample=True,
        temperature=settings.temperature,
        top_p=settings.top_p,
        top_k=0,
        max_new_tokens=settings.max_new_tokens,
        num_return_sequences=count,
        eos_token_id=sorted(sampler.stop_ids),
        pad_token_id=min(sampler.stop_ids),
    )


class NoteLogProbs(LogitsProcessor):
    """`generate` could only keep the logits of all steps. It calls this before it applies temperature."""

    def __init__(self, temperature: float):
        self.temperature = temperature
        self.latest: Tensor | None = None
        self.noted: list[Tensor] = []

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        self._note(input_ids)
        self.latest = (scores.float() / self.temperature).log_softmax(-1)
        return scores

    def until(self, rows: Tensor) -> np.ndarray:
        """(rows, steps) float32, of all sampled tokens."""
        self._note(rows)
        return torch.cat(self.noted, dim=1).cpu().numpy()

    def _note(self, ids: Tensor) -> None:
        if self.latest is not None:
            self.noted.append(self.latest.gather(1, ids[:, -1:]))


def draw(log_probs: Tensor, settings: CandidatesConfig, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draws tokens (N,) int64 from log_probs (N, V) float32; also returns their log p (N,) after top-p."""
    if settings.top_p < 1:
        log_probs = TopPLogitsWarper(settings.top_p)(None, log_probs).log_softmax(-1)
    # Inverse-transform sampling needs one random number per turn. `multinomial` needs one per token of the vocabulary,
    # which took a fifth of the time. Tokens with probability 0 are never drawn.
    sums = log_probs.double().exp_().cumsum_(-1)
    places = torch.rand(len(sums), 1, dtype=torch.float64, device=sums.device, generator=generator) * sums[:, -1:]
    tokens = torch.searchsorted(sums, places, right=True).clamp_(max=sums.shape[1] - 1)
    return tokens[:, 0], log_probs.gather(1, tokens)[:, 0]
