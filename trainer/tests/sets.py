"""Small training sets of token ids that are learnt in seconds, and a training loop for them."""

import numpy as np
import torch
from models import tiny_model

from tandem_trainer.config import ModelConfig
from tandem_trainer.model.base import Base, load_base
from tandem_trainer.run.budget import TokenBudget
from tandem_trainer.run.distributed import Ranks
from tandem_trainer.run.event_file import Events
from tandem_trainer.run.objective import Objective, means
from tandem_trainer.run.reference_cache import ReferenceCache
from tandem_trainer.run.stop import StopRequest
from tandem_trainer.turn import Example, Turn

ASK, GUESS, BYE = 30, 31, 2  # token ids: the agent's question, its guess, the end of a turn
SECRETS = {10: 20, 11: 21}  # hidden information → right answer


def tiny_base(tmp_path, family: str = "llama", training: str = "lora") -> Base:
    folder = tiny_model(tmp_path / f"{family}-model", family)
    return load_base(ModelConfig(str(folder), training=training, device="cpu", lora_rank=8), run_folder=tmp_path)


def overwrite(into: dict[str, torch.Tensor], state: dict[str, torch.Tensor]) -> None:
    """Overwrites tensors in memory with those of `state`, as a checkpoint does."""
    with torch.no_grad():
        for name, tensor in state.items():
            into[name].copy_(tensor)


def budget(tmp_path, tokens: int = 4096) -> TokenBudget:
    return TokenBudget(tokens, Ranks(), StopRequest(tmp_path), Events(None))


def cache(base: Base, tmp_path) -> ReferenceCache:
    return ReferenceCache(base, tmp_path, budget(tmp_path))


def ids(*tokens) -> np.ndarray:
    return np.array(tokens, np.int32)


def trajectory(generator, secret: int, answer: int, *, first: int = ASK, hidden: bool = True) -> tuple[Turn, ...]:
    """Makes two turns: a question or guess, then, after a random reply, an answer."""
    request = generator.integers(40, 60, 3)
    opening = ids(*([secret] if hidden else []), *request)
    said = ids(first, BYE)
    history = np.concatenate([opening, said, ids(*generator.integers(60, 80, 2))])
    return (Turn(opening, said, sampled=True), Turn(history, ids(answer, answer, BYE), sampled=True))


def secret_pairs(count: int, seed: int, *, hidden: bool = True) -> list[Example]:
    """Makes pairs of a right and a wrong answer. Each request occurs with both secrets, so that without the secret
    nothing can be learnt.
    """
    examples = []
    for number in range(count):
        secret = (10, 11)[number % 2]
        sides = [
            trajectory(np.random.default_rng([seed, number // 2]), secret, SECRETS[answer], hidden=hidden)
            for answer in (secret, 21 - secret)
        ]
        examples.append(Example(str(number), *sides))
    return examples


def step_pairs(count: int, seed: int) -> list[Example]:
    """Makes pairs in which asking is better than guessing, whatever the request."""
    examples = []
    for number in range(count):
        prompt = ids(*np.random.default_rng([seed, number]).integers(40, 60, 4))
        ask, guess = Turn(prompt, ids(ASK, BYE), sampled=True), Turn(prompt, ids(GUESS, GUESS, BYE), sampled=True)
        examples.append(Example(f"{number}/0", (ask,), (guess,)))
    return examples


def learn(base: Base, objective: Objective, train, held_out, *, steps: int = 30, rate: float = 1e-2):
    """Trains with AdamW on the whole set; returns the means of the held-out figures before and after."""
    objective.precompute([*train, *held_out])
    before = look(base, objective, held_out)
    parameters = [weight for _, weight in [*base.trainable(), *objective.parameters()]]
    optimiser = torch.optim.AdamW(parameters, lr=rate, weight_decay=0.0)
    for _ in range(steps):
        optimiser.zero_grad()
        loss, figures = objective.loss(base.model, train)
        (loss / figures["examples"]).backward()
        optimiser.step()
        objective.after_step()
    return before, look(base, objective, held_out)


def look(base: Base, objective: Objective, examples) -> dict[str, float]:
    with torch.no_grad():
        return means(objective.loss(base.model, examples)[1])
