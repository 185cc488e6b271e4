"""Tandem's objectives on the given pairs. `against_trl.py` runs this, each time in a new process.

A step is that of `optimise.py` without its events and checkpoints. Reference log-probabilities are computed before the
first step; their time is divided by the number of epochs that use them, four of the critic and one of the policy.
"""

import argparse
import json
import tempfile
from pathlib import Path

import torch
from measure import clock, peak_mb
from rows import PAIRS, row_tokens

from tandem_trainer.config import CriticConfig, ModelConfig, PolicyConfig
from tandem_trainer.methods.sweet_rl import Critic, Policy
from tandem_trainer.model.base import load_base
from tandem_trainer.model.flops import peak_flops, shape_of, step_flops
from tandem_trainer.model.log_probs import decoder_of
from tandem_trainer.model.prefix_tree import forest_tokens
from tandem_trainer.run.adam import Adam
from tandem_trainer.run.budget import TokenBudget
from tandem_trainer.run.distributed import Ranks
from tandem_trainer.run.event_file import Events
from tandem_trainer.run.objective import turns_of
from tandem_trainer.run.reference_cache import ReferenceCache
from tandem_trainer.run.stop import StopRequest


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--stage", choices=list(PAIRS), required=True)
    parser.add_argument("--training", choices=["lora", "qlora", "full"], required=True)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--budget", type=int, default=4096, help="tokens of a micro-batch, after sharing")
    parser.add_argument("--recompute", action="store_true", help="activations are computed again instead of kept")
    parser.add_argument("--separate", action="store_true", help="common prefixes are computed for each turn again")
    parser.add_argument("--profile", action="store_true", help="prints where the time of the last step went")
    arguments = parser.parse_args()
    before = peak_mb()
    with tempfile.TemporaryDirectory() as folder:
        measured = measure(arguments, Path(folder))
    print(json.dumps({**measured, "memory_mb": peak_mb() - before}))


def measure(arguments: argparse.Namespace, folder: Path) -> dict[str, float]:
    config = ModelConfig(base=arguments.model, training=arguments.training, dtype=arguments.dtype)
    base = load_base(config, run_folder=folder)
    base.adapter("critic" if arguments.stage == "critic" else "policy")
    base.checkpoint_activations(arguments.recompute)
    if arguments.separate:
        decoder_of(base.model).shares_prefixes = base.shares_prefixes = False
    stop, events = StopRequest(folder), Events(None)
    budget = TokenBudget(arguments.budget, Ranks(), stop, events)
    reference = ReferenceCache(base, folder, budget)
    if arguments.stage == "critic":
        objective, epochs = Critic(CriticConfig(), reference), 4
    else:
        objective, epochs = Policy(PolicyConfig(), reference), 1
    vocabulary = base.model.config.vocab_size
    batches = [PAIRS[arguments.stage](vocabulary, arguments.batch, seed=step) for step in range(arguments.steps + 1)]
    adam = Adam([*base.trainable(), *objective.parameters()], weight_decay=0.0)

    shape, peak = shape_of(base.model.config), peak_flops(base.device, base.dtype)
    seconds = computed = tokens = flops = 0
    for number, pairs in enumerate(batches):
        begun = clock()
        objective.precompute(pairs)
        between = clock()
        if arguments.profile and number == arguments.steps:
            with torch.profiler.profile() as profile:
                step(base, objective, adam, pairs, budget)
            print(profile.key_averages().table(sort_by="self_cpu_time_total", row_limit=25))
        else:
            step(base, objective, adam, pairs, budget)
        if number > 0:  # the first step warms up
            seconds += (between - begun) / epochs + clock() - between
            tokens += row_tokens(pairs)
            computed += forest_tokens(turns_of(pairs))
            flops += step_flops(shape, turns_of(pairs), arguments.training, shared=not arguments.separate)
    return {
        "tokens_per_second": tokens / seconds,
        "seconds": seconds,
        "computed_of_rows": computed / tokens,
        "mfu": None if peak is None else flops / seconds / peak,
    }


def step(base, objective, adam: Adam, pairs, budget: TokenBudget) -> None:
    """Makes one optimiser step over the pairs, in micro-batches of the token budget."""

    def work(indices) -> dict[str, float]:
        loss, figures = objective.loss(base.model, [pairs[index] for index in indices])
        (loss / len(pairs)).backward()
        return figures

    tokens = lambda indices: forest_tokens(turns_of([pairs[i] for i in indices]))  # noqa: E731
    budget.spend(range(len(pairs)), tokens, work, idle=lambda: None)
    torch.nn.utils.get_total_norm(adam.gradients()).item()
    adam.step(1e-5)


if __name__ == "__main__":
    main()
