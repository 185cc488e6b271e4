"""A small model of cost: what a run of SWEET-RL takes on 1 to 256 GPUs, and what its dialogues take on the disk.

    python bench/scale.py            # the tables of docs/scale.md

No GPU is used. Each constant has its source; the times are those of arithmetic, and docs/scale.md says how far it was
checked. A step takes the longer of its arithmetic and of the weights that FSDP moves, because the two overlap.
"""

from __future__ import annotations

from dataclasses import dataclass

# ----------------------------------------------------------------------------------------------------------------------
# the machine: an H100 SXM with seven others, by its data sheet; the fractions that are reached are cited or assumed
PEAK = 989e12  # FLOP/s in bfloat16
REACHED = (
    0.41  # of it in training: 12,473 tokens/s of Llama-3-8B with LoRA on one H100, as published for another trainer
)
MEMORY = 80e9  # bytes
BANDWIDTH = 3.35e12  # bytes/s of that memory
DECODED = 0.6  # of the bandwidth while sampling; assumed
NVLINK = 0.8 * 450e9  # bytes/s to the others of the machine, in one direction; 0.8 is assumed
NETWORK = 0.8 * 50e9  # bytes/s to other machines, for each GPU (400 Gbit/s)
IN_MACHINE = 8

# the dialogues, as in bench/rows.py: tokens
OPENING, HIDDEN, TURNS, QUESTION, REPLY, ANSWER = 420, 130, 6, 100, 60, 210
SAID = (TURNS - 1) * QUESTION + ANSWER  # by the agent
LENGTH = OPENING + SAID + (TURNS - 1) * REPLY
HISTORY = (OPENING + LENGTH - ANSWER) // 2  # before a turn, in the mean
SHARED = 0.58  # tokens of a critic's pairs that are computed, of those that their rows have (docs/benchmarks.md)

# the algorithm (arXiv 2503.15478): see docs/training.md
PAIRS = 0.4  # critic pairs for each dialogue: three of a task, of which 60 % have a success
CRITIC_EPOCHS, CRITIC_BATCH = 4, 8
RANKED, CANDIDATES, POLICY_PAIRS, POLICY_BATCH = 0.1, 16, 4, 8

# measured here: docs/benchmarks.md; READ was seen once, on 400 dialogues
LOG_BYTES = 8.3e3  # a dialogue (826 MB for 100,000)
INDEXED = 20e3  # dialogues/s of a core without an index (4.7 s for 100,000)
READ = 500.0  # dialogues/s from the log to a run's rows, one process
GRADED = 160.0  # answers/s of a core


@dataclass(frozen=True)
class Model:
    name: str
    weights: float
    layers: int
    key_width: int  # key heads × head size

    @property
    def cache(self) -> int:
        """Bytes of keys and values for a token in bfloat16."""
        return 2 * 2 * self.layers * self.key_width


LLAMA_8B = Model("8B", 8.03e9, 32, 1024)
LLAMA_70B = Model("70B", 70.6e9, 80, 1024)


def memory(model: Model, training: str, gpus: int) -> float:
    """Returns the bytes of weights, gradients and optimiser on each GPU under FSDP2; activations come on top.

    full: bfloat16 weights and gradients, float32 originals and two moments. lora: the frozen weights; adapters of rank
    16 are about 0.5 % of them.
    """
    each = 2 + 2 + 12 if training == "full" else 2 + 0.005 * 16
    return each * model.weights / gpus


def step(model: Model, training: str, tokens: float, gpus: int, sharded_over: int) -> float:
    """Returns the seconds of a step over `tokens` on all GPUs, which share the weights among `sharded_over` of them."""
    flops = (6 if training == "full" else 4) * model.weights * tokens / gpus
    moved = 0.0
    if sharded_over > 1:
        # Weights come before forward and before backward; in full fine-tuning gradients go back, in float32.
        moved = 2 * 2 * model.weights + (4 * model.weights if training == "full" else 0)
    link = NVLINK if sharded_over <= IN_MACHINE else NETWORK
    return max(flops / (REACHED * PEAK), moved / link)


def sampled(model: Model, gpus: int) -> float:
    """Returns tokens/s on all GPUs: each engine takes as few GPUs as hold the model, and fills them with sequences."""
    engine = next(n for n in (1, 2, 4, 8) if 2 * model.weights < 0.6 * n * MEMORY)
    room = 0.9 * engine * MEMORY - 2 * model.weights
    sequences = room / (model.cache * (HISTORY + QUESTION))
    seconds = 0.9 * engine * MEMORY / (DECODED * BANDWIDTH * engine)
    by_arithmetic = REACHED * PEAK * engine / (2 * model.weights)
    return min(sequences / seconds, by_arithmetic) * max(1, gpus // engine)


def stages(model: Model, training: str, dialogues: float, gpus: int) -> dict[str, float]:
    """Returns the seconds of each stage on `gpus` GPUs; weights are sharded within a machine, or over as few as hold
    them."""
    least = next(n for n in (1, 2, 4, 8, 16, 32) if memory(model, training, n) < 0.7 * MEMORY)
    if gpus < least:
        return {}
    over = least if least <= IN_MACHINE else min(gpus, least)
    pairs = PAIRS * dialogues
    pair = 2 * (LENGTH + HIDDEN) * SHARED
    turns = RANKED * dialogues * TURNS
    mean = SAID / TURNS
    scored = turns * (HISTORY + HIDDEN + CANDIDATES * mean)
    history = HISTORY + 2 * POLICY_PAIRS * mean
    forward = 2 * model.weights / (REACHED * PEAK * gpus)
    # A step has at least one pair on each GPU; more GPUs than that stand idle.
    critic_gpus = min(gpus, over * CRITIC_BATCH)
    policy_gpus = min(gpus, over * POLICY_BATCH // POLICY_PAIRS)  # pairs of one history stay together
    return {
        "dialogues": dialogues * SAID / sampled(model, gpus),
        "critic": CRITIC_EPOCHS * pairs / CRITIC_BATCH * step(model, training, CRITIC_BATCH * pair, critic_gpus, over)
        + pairs * pair * forward,
        "candidates": turns * CANDIDATES * mean / sampled(model, gpus),
        "scores": 2 * scored * forward,
        "policy": turns
        * POLICY_PAIRS
        / POLICY_BATCH
        * step(model, training, POLICY_BATCH / POLICY_PAIRS * history, policy_gpus, over)
        + turns * history * forward,
    }


def hours(seconds: float) -> str:
    if seconds < 5400:
        return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86_400:.0f} days"


def main() -> None:
    print(
        "| weights, gradients, optimiser | " + " | ".join(f"{n} GPU{'s' * (n > 1)}" for n in (1, 2, 8, 16, 64)) + " |"
    )
    print("|---|" + "---|" * 5)
    for model in (LLAMA_8B, LLAMA_70B):
        for training in ("lora", "full"):
            row = [memory(model, training, n) for n in (1, 2, 8, 16, 64)]
            cells = [f"{each / 1e9:.0f} GB" if each < 0.7 * MEMORY else "–" for each in row]
            print(f"| {model.name}, {training} | {' | '.join(cells)} |")
    print()
    print("| 15,000 dialogues | GPUs | dialogues | critic | candidates | scores | policy | all |")
    print("|---|---|---|---|---|---|---|---|")
    for model, training in ((LLAMA_8B, "lora"), (LLAMA_8B, "full"), (LLAMA_70B, "lora"), (LLAMA_70B, "full")):
        for gpus in (1, 8, 64, 256):
            parts = stages(model, training, 15_000, gpus)
            if parts:
                cells = [hours(each) for each in (*parts.values(), sum(parts.values()))]
                print(f"| {model.name}, {training} | {gpus} | {' | '.join(cells)} |")
    print()
    print(
        "| dialogues | log | read without an index, a core | into rows | answers graded, 64 cores | 8B, LoRA, 64 GPUs |"
    )
    print("|---|---|---|---|---|---|")
    for power in (5, 6, 7, 8):
        count = 10.0**power
        total = sum(stages(LLAMA_8B, "lora", count, 64).values())
        cells = [f"{count * LOG_BYTES / 1e9:,.1f} GB"]
        cells += [hours(each) for each in (count / INDEXED, count / READ, count / (64 * GRADED), total)]
        print(f"| 10^{power} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
