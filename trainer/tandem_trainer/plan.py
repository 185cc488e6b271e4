"""`plan`: what a run needs before it starts, what was chosen for it, whether that fits, and how long it takes.

    python -m tandem_trainer plan run.json [--json] [--memory 12GB]

Two things are chosen where run.json says `auto`: whether activations are computed twice (slower by a third to a half,
and a fraction of the memory), and how many tokens a micro-batch has. The largest example decides, because it cannot be
divided. `--memory` asks for another machine, with a card of that size.
"""

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from .config import RunConfig
from .data.template import Template
from .machine import GIB, Machine, measured, other_machine, set_threads, share_of, size_words, this_machine
from .model import memory
from .model.base import Base, load_base
from .model.flops import Shape, read_shape
from .model.folder import context_length, find_model, load_tokenizer, quiet
from .model.load import choose_device, require_nvidia
from .ranking.sampler import AT_ONCE
from .read_config import read_config
from .running.begun import as_begun
from .running.prepare import Prepared, prepare
from .running.rehearsal import Rates, Rehearsal
from .running.workload import Load, loads_of

MOST = {"cuda": 32768, "mps": 8192, "cpu": 4096}  # tokens of a micro-batch beyond which nothing gets faster
LEAST = 1024  # where nothing fits and a run is started all the same
# What the heap of the C library holds beside the tensors in it, as a part of the activations: measured on Linux with
# bench/peak_memory.py, where it falls to nothing under MALLOC_MMAP_THRESHOLD_=1000000, at the price of slower steps.
HEAP = {False: 0.5, True: 2.2}
DISK_SPEED = 300e6  # bytes a second that an export is assumed to read or write
GRAPH = 1.5  # seconds that a graph for ONNX Runtime takes to be built and compared, however small the model is


@dataclass(frozen=True)
class Plan:
    """What was found and chosen. Sizes in bytes, times in seconds.

    parts: of the memory at the worst moment of training. largest: tokens of the largest example, after sharing.
    room: tokens of the largest example that would fit. seconds: of each stage, None when nobody knows.
    data: counts of what is trained on and shortages, by `running/prepare.py`; empty for a run, which tells them itself.
    """

    machine: Machine
    training: str
    token_budget: int
    checkpoint_activations: bool
    fits: bool
    parts: dict[str, int]
    largest: int
    room: int
    disk: int
    seconds: dict[str, float | None]
    candidates_at_once: int | None
    advice: list[str] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)

    @property
    def needed(self) -> int:
        return sum(self.parts.values())

    def as_dict(self) -> dict:
        """For the event `plan`, plan.json and `--json`."""
        known = [seconds for seconds in self.seconds.values() if seconds is not None]
        total = round(sum(known)) if len(known) == len(self.seconds) else None
        return {"version": 1, **asdict(self), "needed": self.needed, "total_seconds": total}


# ----------------------------------------------------------------------------------------------------------------------
# the choice


def make_plan(config: RunConfig, shape: Shape, machine: Machine, loads: Sequence[Load]) -> Plan:
    """loads: what each stage computes, by `workload.py`."""
    resources = config.resources
    largest = max((load.largest for load in loads), default=0) or 1
    scored = max((load.scored for load in loads), default=0)
    needs = Needs(config, shape, machine, scored)
    usable = machine.usable if machine.usable is not None else sys.maxsize

    checkpointed = resources.checkpoint_activations
    if checkpointed == "auto":
        checkpointed = needs.room(usable, False) < largest
    room = needs.room(usable, checkpointed)
    tokens = resources.token_budget
    if tokens == "auto":
        tokens = min(room or LEAST, MOST[machine.kind])
    at_most = max(largest, min(tokens, room))  # one example that is larger than the budget stands alone
    plan = Plan(
        machine=machine,
        training=config.model.training,
        token_budget=tokens,
        checkpoint_activations=checkpointed,
        fits=needs.total(at_most, checkpointed) <= usable,
        parts=needs.parts(at_most, checkpointed),
        largest=largest,
        room=room,
        disk=disk_needed(config, shape, machine.dtype),
        seconds=seconds_of(loads, shape, machine, checkpointed, {}),
        candidates_at_once=_at_once(config, shape, machine, loads),
    )
    return replace(plan, advice=_advice(plan, config, shape, scored))


@dataclass(frozen=True)
class Needs:
    """The memory of a micro-batch, as a function of its tokens."""

    config: RunConfig
    shape: Shape
    machine: Machine
    scored: int

    def parts(self, tokens: int, checkpointed: bool) -> dict[str, int]:
        shape, model, dtype = self.shape, self.config.model, self.machine.dtype
        fixed = memory.fixed(shape, model, dtype)
        logits = self.config.resources.logits_mb << 20
        activations = memory.activations(shape, model, dtype, tokens, checkpointed)
        return {
            **asdict(fixed),
            "activations": activations,
            "heap": int(HEAP[checkpointed] * activations) if self.machine.kind == "cpu" else 0,
            "output_layer": memory.head(shape, model, dtype, min(self.scored, tokens), logits),
            "dequantised": memory.dequantised(shape, model, dtype),
        }

    def total(self, tokens: int, checkpointed: bool) -> int:
        return sum(self.parts(tokens, checkpointed).values())

    def room(self, usable: int, checkpointed: bool) -> int:
        """The most tokens of one micro-batch that fit, by bisection; 0 when not even the weights do."""
        low, high = 0, 1 << 22
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.total(middle, checkpointed) <= usable else (low, middle - 1)
        return low


def disk_needed(config: RunConfig, shape: Shape, dtype: str) -> int:
    """Bytes in the run folder: results, checkpoints, and what full fine-tuning puts aside.

    The newest checkpoint, the one before or the best, and the one being written exist side by side; a checkpoint has
    the weights that are trained and what Adam holds of them.
    """
    size = memory.SIZES[dtype]
    weights = shape.parameters * size
    results = shape.parameters * (size if config.model.training == "full" else 4)  # see merge.py
    trained = shape.parameters if config.model.training == "full" else shape.adapted * config.model.lora_rank
    stages = 2 if config.method == "sweet-rl" else 1
    checkpoint = trained * (size + 8 + (4 if size != 4 else 0))
    aside = stages * weights if config.model.training == "full" else 0
    return stages * results + 3 * checkpoint + stages * trained * size + aside


def timed(plan: Plan, config: RunConfig, shape: Shape, prepared: Prepared, template: Template, base: Base) -> Plan:
    """The plan with times from a little of each stage's work, done on `base`, which is left as it is."""
    machine = measured(base, plan.machine, shape, plan.token_budget)
    rehearsal = Rehearsal(base, config, shape, machine, plan.token_budget)
    loads = loads_of(prepared, shape, template)
    rates, written = rehearsal.write(next((load for load in loads if load.prompt), Load("candidates")))
    loads = loads_of(prepared, shape, template, written)
    rates |= rehearsal.rates(loads)
    seconds = seconds_of(loads, shape, machine, plan.checkpoint_activations, rates)
    return replace(plan, machine=machine, seconds=seconds)


def seconds_of(
    loads: Sequence[Load], shape: Shape, machine: Machine, checkpointed: bool, rates: Rates
) -> dict[str, float | None]:
    """What each stage takes if it does not end early; None when nobody knows. rates: those that were rehearsed."""
    return {load.stage: _seconds(load, shape, machine, checkpointed, rates) for load in loads}


def _seconds(load: Load, shape: Shape, machine: Machine, checkpointed: bool, rates: Rates) -> float | None:
    if load.stage == "export":
        moved = (4 * load.copies + 2 * load.graphs) * shape.parameters * memory.SIZES[machine.dtype]
        return round(moved / DISK_SPEED + GRAPH * load.graphs, 1)
    if load.pieces is None or (machine.rate is None and load.flops):
        return None
    # A measured rate already contains what is computed twice.
    again = 1.4 if checkpointed and not machine.measured else 1.0
    share = share_of(machine.kind, machine.processes, torch.get_num_threads())
    kinds = {piece.kind: rates.get((load.stage.partition("-")[0], piece.kind)) for piece in load.pieces}
    rate = {kind: found * share if found else (machine.rate or 1.0) / again for kind, found in kinds.items()}
    alone = sum(piece.flops / rate[piece.kind] for piece in load.pieces)
    return round(alone / min(machine.processes, load.parts), 1)


def _at_once(config: RunConfig, shape: Shape, machine: Machine, loads: Sequence[Load]) -> int | None:
    """How many candidates can be written at once, when each has a cache of its own and those of a history share its
    prompt's; None when none are sampled.
    """
    prompt = max((load.prompt for load in loads), default=0)
    if not prompt or machine.usable is None:
        return None
    fixed = memory.fixed(shape, config.model, machine.dtype).total
    tokens = config.candidates.max_new_tokens + prompt / config.candidates.per_turn
    one = tokens * memory.cache_per_token(shape, machine.dtype)
    return min(AT_ONCE[machine.kind], max(0, int((machine.usable - fixed) / one)))


def _advice(plan: Plan, config: RunConfig, shape: Shape, scored: int) -> list[str]:
    """What to change, most helpful first; empty when all fits."""
    machine, advice = plan.machine, []
    if not plan.fits:
        for training in ("lora", "qlora"):
            if training == config.model.training or (training == "qlora" and machine.kind != "cuda"):
                continue
            smaller = replace(config, model=replace(config.model, training=training))
            if config.model.training != "qlora" and Needs(smaller, shape, machine, scored).total(
                plan.largest, True
            ) <= (machine.usable):
                advice.append(f"set model.training to {training}, with which it fits")
                break
        if not plan.checkpoint_activations:
            advice.append("set resources.checkpoint_activations to auto")
        room = Needs(config, shape, machine, scored).room(machine.usable, True)
        if room >= 512:
            advice.append(
                f"lower max_tokens, so that the largest example has at most {room:,} tokens instead of {plan.largest:,}"
            )
        advice.append("take a smaller base or a device with more memory")
    merging = 6.5 * shape.parameters  # the base in 16 bits, and the result in 32
    if machine.host is not None and machine.host < merging and machine.kind != "cpu":
        advice.append(
            f"free {size_words(merging)} of the system's memory for the export, which puts the result together"
        )
    if machine.disk is not None and machine.disk < plan.disk:
        advice.append(
            f"free {size_words(plan.disk)} on the disk of the run folder, which has {size_words(machine.disk)}"
        )
    return advice


# ----------------------------------------------------------------------------------------------------------------------
# the command


def main(arguments: list[str]) -> int:
    """Returns 0 when the run fits, else 1. Errors: Fault for a configuration or data that cannot be used."""
    parser = argparse.ArgumentParser(prog="tandem_trainer plan", description="What fits, and how long it takes.")
    parser.add_argument("run_json", type=Path, metavar="run.json")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--memory", type=_bytes, help="plan for a card with so much memory, such as 12GB")
    given = parser.parse_args(arguments)
    config = read_config(given.run_json)
    plan = plan_of(config, given.run_json.resolve().parent, given.memory)
    print(json.dumps(plan.as_dict()) if given.json else as_text(plan))
    return 0 if plan.fits else 1


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr)


def plan_of(
    config: RunConfig,
    folder: Path,
    size: int | None = None,
    *,
    tell: Callable[[str], None] = say,
    template_of: type[Template] = Template,
) -> Plan:
    """Reads the data, and of the base no weights but those of a folder. size: bytes of another machine's card.

    tell: called before what takes long.
    """
    quiet()
    if size is None and config.model.training == "qlora":
        require_nvidia(choose_device(config.model.device))
    set_threads(config.resources)
    path = find_model(as_begun(config.model, folder), folder, weights=False)
    shape = read_shape(path)
    machine = (
        this_machine(config.model, folder, config.resources) if size is None else other_machine(config.model, size)
    )
    template = template_of(load_tokenizer(config.model, path, folder), config.model.template_options)
    tell("Reading the data …")
    prepared = prepare(config, template, context_length(path))
    config = prepared.config
    plan = make_plan(config, shape, machine, loads_of(prepared, shape, template))
    if (
        size is None and plan.fits and Path(config.model.base).is_dir()
    ):  # weights on the hub are not downloaded for a plan
        tell("Measuring a step …")
        with tempfile.TemporaryDirectory() as temporary:  # where full fine-tuning would put weights aside
            base = load_base(config.model, run_folder=temporary)
            base.checkpoint_activations(plan.checkpoint_activations)
            plan = timed(plan, config, shape, prepared, template, base)
    return replace(plan, data={**prepared.counts, "shortages": [asdict(each) for each in prepared.shortages]})


def as_text(plan: Plan) -> str:
    machine = plan.machine
    usable = "an unknown amount" if machine.usable is None else size_words(machine.usable)
    lines = [
        f"{'device':14} {machine.name}, {machine.dtype}; {usable} of memory to plan with"
        + (f" for each of {machine.processes} processes" if machine.processes > 1 else ""),
        f"{'training':14} {plan.training}, micro-batches of {plan.token_budget:,} tokens, activations "
        + ("computed twice" if plan.checkpoint_activations else "kept"),
        f"{'largest':14} example of {plan.largest:,} tokens; up to {plan.room:,} would fit",
        f"{'memory':14} {size_words(plan.needed)}: "
        + ", ".join(
            f"{name.replace('_', ' ')} {size_words(size)}"
            for name, size in plan.parts.items()
            if size > plan.needed / 100
        ),
        f"{'disk':14} {size_words(plan.disk)}",
    ]
    basis = "measured" if machine.measured else "estimated"
    for stage, seconds in plan.seconds.items():
        lines.append(f"{stage:14} {'time not known' if seconds is None else f'{_duration(seconds)} ({basis})'}")
    lines.append(f"{'fits':14} {'yes' if plan.fits else 'no'}")
    lines += [f"{'to do':14} {sentence}" for sentence in plan.advice]
    return "\n".join([*lines, *(f"{'few data':14} {short['sentence']}" for short in plan.data.get("shortages", []))])


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _bytes(text: str) -> int:
    """`12GB` as makers of cards mean it: 12 × 2^30."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(GB|GiB|G|MB|MiB|M)", text.strip(), re.IGNORECASE)
    if not match:
        raise argparse.ArgumentTypeError(f"{text} is no size; write it like 12GB")
    return int(float(match.group(1)) * (GIB if match.group(2)[0] in "gG" else 1 << 20))
