"""Compares a graph with PyTorch on a few conversations."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from transformers import PreTrainedModel

from ...data.template import Template
from .shape import Shape

REQUESTS = (
    "Write a Python function total(prices, rate) that adds up the prices and takes the discount off. Ask me first.",
    "The function should return the number of days. What else do you need to know?",
    "Hello!",
    "Can you write a function for the price of a rental? You get the number of days and the rate per day. There is a "
    "lowest price. The signature of the function is: def bike_price(days, rate)",
    "Why does `sorted(items, key=lambda item: item.price)[:10]` raise an AttributeError when one item is None?",
    "Round 1234.5678 to two places, then tell me what 17 % of 250 is.",
    "Schreibe eine Funktion, die prüft, ob ein Datum in einem Schaltjahr liegt.",
)
ALL = np.array(0)  # value of num_logits_to_keep for the logits of all tokens
LENGTH = 24  # tokens generated for each request


@dataclass(frozen=True, eq=False)
class Sample:
    """A greedy continuation by PyTorch. ids: (L,) int64; prompt: number of its ids; logits: (L, V) float32."""

    ids: np.ndarray
    prompt: int
    logits: np.ndarray


@dataclass(frozen=True)
class Distance:
    """Differences between a graph and PyTorch.

    tokens: number compared. largest: greatest absolute difference of a logit. divergence: mean KL(PyTorch ‖ graph) in
    nats. agreement: fraction of tokens after which both have the same most likely token. A scoring graph has only the
    first two.
    """

    tokens: int
    largest: float
    divergence: float | None = None
    agreement: float | None = None

    def about(self) -> dict[str, float]:
        return {name: round(value, 8) for name, value in asdict(self).items() if value is not None}


@torch.no_grad()
def samples(model: PreTrainedModel, template: Template, length: int) -> list[Sample]:
    """All requests go in one batch, which reads the weights once for each step. model: in float32."""
    texts = [template.render([{"role": "user", "content": request}]) for request in REQUESTS]
    prompts = [ids.tolist() for ids in template.encoder.encode(texts)]
    width = max(map(len, prompts))
    ids = torch.tensor([[0] * (width - len(prompt)) + prompt for prompt in prompts])  # (B, T), padded on the left
    mask = torch.tensor([[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in prompts])
    read, places, cache = ids, (mask.cumsum(-1) - 1).clamp(min=0), None
    for _ in range(length):
        said = model(input_ids=read, attention_mask=mask, position_ids=places, past_key_values=cache, use_cache=True)
        cache, read = said.past_key_values, said.logits[:, -1:].argmax(-1)
        ids = torch.cat([ids, read], dim=1)
        mask = torch.cat([mask, torch.ones_like(read)], dim=1)
        places = places[:, -1:] + 1
    made = []
    for row, prompt in zip(ids, prompts, strict=True):
        own = row[width - len(prompt) :]
        made.append(Sample(own.numpy(), len(prompt), model(input_ids=own[None]).logits[0].float().numpy()))
    return made


class Player:
    """A cache is (B, 2 · layers · key heads, P, head_dim), as the graph returns the part of new tokens."""

    def __init__(self, file: Path, shape: Shape):
        self.session = session(file)
        self.shape = shape

    def run(self, ids: np.ndarray, lengths: np.ndarray, cache: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Runs ids (B, T) after `lengths` (B,) tokens in the cache; returns logits (B, T, V) and the new part of it."""
        rows, _, room, size = cache.shape
        past = cache.reshape(rows, 2 * self.shape.layers, self.shape.key_heads, room, size)
        names = [value.name for value in self.session.get_inputs()]
        given = (ids, lengths, ALL, *past.swapaxes(0, 1))
        logits, new = self.session.run(["logits", "new_key_values"], dict(zip(names, given, strict=True)))
        return logits, new

    def room(self, rows: int, length: int) -> np.ndarray:
        return np.zeros((rows, 2 * self.shape.layers * self.shape.key_heads, length, self.shape.head_dim), np.float32)

    def logits(self, ids: np.ndarray) -> np.ndarray:
        """Computes the logits of one row in one pass, (L,) → (L, V)."""
        return self.run(ids[None], np.zeros(1, np.int64), self.room(1, 0))[0][0]

    def go_on(self, prompts: Sequence[np.ndarray], length: int) -> list[list[int]]:
        """Generates greedily for all prompts in one batch with the cache, as in use."""
        lengths = np.array([len(prompt) for prompt in prompts])
        cache = self.room(len(prompts), lengths.max() + length)
        first = []
        for row, prompt in enumerate(prompts):
            logits, new = self.run(prompt[None], np.zeros(1, np.int64), self.room(1, 0))
            cache[row, :, : len(prompt)] = new[0]
            first.append(logits[0, -1].argmax(-1))
        written = [np.array(first)]
        for _ in range(1, length):
            logits, new = self.run(written[-1][:, None], lengths, cache)
            cache[np.arange(len(prompts)), :, lengths] = new[:, :, 0]
            lengths = lengths + 1
            written.append(logits[:, 0].argmax(-1))
        return np.stack(written, axis=1).tolist()


def session(file: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])


def scorer_distance(of: Sequence[Sample], file: Path) -> Distance:
    """`largest` is the difference of log-probabilities of the chosen tokens."""
    run = session(file).run
    apart = []
    for sample in of:
        positions = np.arange(len(sample.ids) - 1)
        targets = sample.ids[1:]
        given = {"input_ids": sample.ids[None], "positions": positions, "targets": targets}
        expected = torch.log_softmax(torch.from_numpy(sample.logits), -1).numpy()[positions, targets]
        apart.append(np.abs(run(None, given)[0] - expected))
    return Distance(sum(map(len, apart)), float(np.concatenate(apart).max()))


def distance(of: Sequence[Sample], player: Player) -> Distance:
    largest, divergences, agreeing = 0.0, [], []
    for sample in of:
        logits = player.logits(sample.ids)
        largest = max(largest, float(np.abs(logits - sample.logits).max()))
        ours, theirs = (torch.log_softmax(torch.from_numpy(each), -1) for each in (logits, sample.logits))
        divergences.append((theirs.exp() * (theirs - ours)).sum(-1))
        agreeing.append(logits.argmax(-1) == sample.logits.argmax(-1))
    agreement = np.concatenate(agreeing)
    return Distance(len(agreement), largest, float(torch.cat(divergences).mean()), float(agreement.mean()))
