"""Trains the starter model from scratch: a small Llama, Muon on the matrices of its layers, AdamW on the rest."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from .documents import Document, batches
from .muon import Muon
from .tokenizer import CONTEXT

HEAD_SIZE = 32
SHARPER = 1.3  # after one pass a small model is less certain than the demonstrator, which is noise and no habit


@dataclass(frozen=True)
class Settings:
    """Settings of the training. With AdamW alone the model needs many times the tokens to learn to copy values."""

    width: int
    layers: int = 3
    epochs: int = 1
    rows: int = 16
    muon_rate: float = 0.02
    adam_rate: float = 4e-3
    warm_up: float = 0.05  # fraction of all steps
    seed: int = 1


def new_model(tokenizer: PreTrainedTokenizerFast, settings: Settings) -> LlamaForCausalLM:
    torch.manual_seed(settings.seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=settings.width,
        intermediate_size=2 * settings.width,
        num_hidden_layers=settings.layers,
        num_attention_heads=settings.width // HEAD_SIZE,
        num_key_value_heads=settings.width // HEAD_SIZE,
        max_position_embeddings=CONTEXT,
        initializer_range=0.06,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        dtype="float32",
    )
    model = LlamaForCausalLM(config)
    model.config.architectures = ["LlamaForCausalLM"]
    return model


def pretrain(
    model: LlamaForCausalLM, documents: Sequence[Document], settings: Settings, say: Callable[[str], None]
) -> None:
    rng = np.random.default_rng(settings.seed)
    order = [batch for _ in range(settings.epochs) for batch in batches(documents, settings.rows, rng)]
    matrices = [weight for weight in model.model.layers.parameters() if weight.dim() == 2]
    known = set(map(id, matrices))
    others = [weight for weight in model.parameters() if id(weight) not in known]
    optimisers = [
        Muon(matrices, lr=settings.muon_rate, weight_decay=0.01),
        torch.optim.AdamW(others, lr=settings.adam_rate, betas=(0.9, 0.95), weight_decay=0.0),
    ]
    rates = [
        torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: rate_at(step, len(order), settings.warm_up))
        for optimiser in optimisers
    ]
    model.train()
    begun, tokens, losses = time.monotonic(), 0, []
    for step, batch in enumerate(order):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=has_bfloat16()):
            loss = loss_of(model, [documents[index] for index in batch])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimiser, rate in zip(optimisers, rates, strict=True):
            optimiser.step()
            optimiser.zero_grad()
            rate.step()
        tokens += sum(len(documents[index]) for index in batch)
        losses.append(loss.item())
        if (step + 1) % 100 == 0 or step + 1 == len(order):
            speed = tokens / (time.monotonic() - begun)
            say(f"step {step + 1} of {len(order)}, loss {np.mean(losses[-100:]):.3f}, {speed:,.0f} tokens/s")
    with torch.no_grad():
        model.model.norm.weight *= SHARPER  # this scales all logits
    model.eval()


def has_bfloat16() -> bool:
    """Returns whether this processor has bfloat16 products; where they are emulated they take 3 to 20 times as long."""
    return torch.cpu._is_avx512_bf16_supported()


def rate_at(step: int, steps: int, warm_up: float) -> float:
    """Returns the fraction of the peak learning rate: a linear rise, then a cosine decay to 0."""
    first = max(1, round(steps * warm_up))
    if step < first:
        return (step + 1) / first
    return 0.5 + 0.5 * math.cos(math.pi * (step - first) / max(1, steps - first))


def loss_of(model: LlamaForCausalLM, documents: Sequence[Document]) -> torch.Tensor:
    """Computes the weighted mean of −log p. Padding follows the documents, where a causal model does not look."""
    longest = max(map(len, documents))
    ids = torch.zeros(len(documents), longest, dtype=torch.long)  # (B, T)
    weights = torch.zeros(len(documents), longest)
    for row, document in enumerate(documents):
        ids[row, : len(document)] = torch.from_numpy(document.ids)
        weights[row, : len(document)] = torch.from_numpy(document.weights)
    row, place = (weights[:, 1:] > 0).nonzero(as_tuple=True)
    hidden = model.model(ids[:, :-1], use_cache=False).last_hidden_state[row, place]  # (N, D)
    losses = F.cross_entropy(model.lm_head(hidden), ids[row, place + 1], reduction="none")
    weights = weights[row, place + 1]
    return (losses * weights).sum() / weights.sum()
