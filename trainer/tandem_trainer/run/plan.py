"""`plan` estimates before a run starts what it needs, whether it fits and how long it takes, and makes its choices.

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
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from ..config import RunConfig
from ..data.template import Template
from ..methods.settings import method_of
from ..model import memory
from ..model.base import Base, load_base
from ..model.flops import Shape, read_shape
from ..model.folder import context_length, find_model, load_template, quiet
from ..model.load import choose_device, require_nvidia
from ..run_json import read_config
from .machine_usage import (
    GIB,
    Machine,
    WorkerMemory,
    cluster_machine,
    measured,
    set_threads,
    share_of,
    size_words,
    this_machine,
)
from .prepare import Prepared, prepare
from .rehearsal import Rates, Rehearsal
from .resume import as_begun
from .workload import Load, loads_of

MAX_MICRO_BATCH_TOKENS = {"cuda": 32768, "mps": 8192, "cpu": 4096}  # larger ones are not faster
MIN_MICRO_BATCH_TOKENS = 1024  # tokens of a micro-batch when nothing fits and the run starts anyway
# Overhead of the C library's heap, as a fraction of the activations. It was measured on Linux with
# bench/peak_memory.py; MALLOC_MMAP_THRESHOLD_=1000000 would remove it, but makes steps slower.
HEAP = {False: 0.5, True: 2.2}
DISK_SPEED = 300e6  # assumed disk speed of an export, in bytes per second
GRAPH = 1.5  # minimum seconds to build and compare a graph for ONNX Runtime


@dataclass(frozen=True)
class Plan:
    """Sizes are in bytes, times in seconds.

    parts: the memory at the peak of training, by use. largest: tokens of the largest example, after sharing.
    room: tokens of the largest example that would fit. seconds: of each stage, None when unknown.
    data: counts and shortages from `prepare.py`; empty in a run, which reports them itself.
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
    advice: list[str] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)

    @property
    def needed(self) -> int:
        return sum(self.parts.values())

    def as_dict(self) -> dict:
        """The content of the event `plan`, of plan.json and of `--json`."""
        known = [seconds for seconds in self.seconds.values() if seconds is not None]
        total = round(sum(known)) if len(known) == len(self.seconds) else None
        return {"version": 1, **asdict(self), "needed": self.needed, "total_seconds": total}


# ---- the choice


def make_plan(config: RunConfig, shape: Shape, machine: Machine, loads: Sequence[Load]) -> Plan:
    """loads: the work of each stage, from `workload.py`."""
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
        tokens = min(room or MIN_MICRO_BATCH_TOKENS, MAX_MICRO_BATCH_TOKENS[machine.kind])
    at_most = max(largest, min(tokens, room))  # an example that is larger than the budget is a micro-batch of its own
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
        seconds={load.stage: seconds_of(load, shape, machine, checkpointed, {}) for load in loads},
    )
    return replace(plan, advice=_advice(plan, config, shape, scored))


@dataclass(frozen=True)
class Needs:
    config: RunConfig
    shape: Shape
    machine: Machine
    scored: int

    def parts(self, tokens: int, checkpointed: bool) -> dict[str, int]:
        shape, model, dtype = self.shape, self.config.model, self.machine.dtype
        logits = self.config.resources.logits_mb << 20
        activations = memory.activations(shape, model, dtype, tokens, checkpointed)
        return {
            **memory.fixed(shape, model, dtype, processes=self.machine.processes),
            "activations": activations,
            "heap": int(HEAP[checkpointed] * activations) if self.machine.kind == "cpu" else 0,
            "output_layer": memory.head(shape, model, dtype, min(self.scored, tokens), logits),
            "dequantised": memory.dequantised(shape, model, dtype),
        }

    def total(self, tokens: int, checkpointed: bool) -> int:
        return sum(self.parts(tokens, checkpointed).values())

    def room(self, usable: int, checkpointed: bool) -> int:
        """The most tokens of one micro-batch that fit; 0 when the weights alone do not fit."""
        fitting = bisect_right(range((1 << 22) + 1), usable, key=lambda tokens: self.total(tokens, checkpointed))
        return max(0, fitting - 1)


def disk_needed(config: RunConfig, shape: Shape, dtype: str) -> int:
    """Bytes in the run folder: results, checkpoints, and weights swapped out by full fine-tuning.

    Three checkpoints exist at the same time, with the trained weights and Adam's state: the newest, the one before or
    the best, and the one being written.
    """
    size = memory.SIZES[dtype]
    weights = shape.parameters * size
    results = shape.parameters * (size if config.model.training == "full" else 4)  # see folders.py
    trained = shape.parameters if config.model.training == "full" else shape.adapted * config.model.lora_rank
    results_kept = models = 2 if method_of(config).critic else 1
    adapters = models
    if config.method == "archer":  # keeps policy, critic and target network of each iteration
        results_kept, adapters = 3 * config.archer.iterations, 2
    checkpoint = trained * (size + 8 + (4 if size != 4 else 0))
    aside = adapters * weights if config.model.training == "full" else 0
    return models * results + 3 * checkpoint + results_kept * trained * size + aside


def timed(plan: Plan, config: RunConfig, shape: Shape, prepared: Prepared, template: Template, base: Base) -> Plan:
    """Measures the times by rehearsing each stage on `base`, which stays unchanged.

    The time of a method that plays stays unknown: it depends on the lengths of the dialogues and on the simulator.
    Of several processes that hold `base` together all must call this with the same plan; they only measure a step.
    """
    if method_of(config).plays:
        return plan
    machine = measured(base, plan.machine, shape, plan.token_budget)
    loads, rates = loads_of(prepared, shape, template), {}
    if base.mesh is None:
        rehearsal = Rehearsal(base, config, shape, machine, plan.token_budget)
        sampled = next((load for load in loads if load.stage == "candidates"), Load("candidates"))
        rates, written = rehearsal.write(sampled)
        loads = loads_of(prepared, shape, template, written)
        rates |= rehearsal.rates(loads)
    recomputed = plan.checkpoint_activations
    seconds = {load.stage: seconds_of(load, shape, machine, recomputed, rates) for load in loads}
    return replace(plan, machine=machine, seconds=seconds)


def seconds_of(load: Load, shape: Shape, machine: Machine, checkpointed: bool, rates: Rates) -> float | None:
    """Without early stopping; None when unknown. rates: measured by a rehearsal."""
    if load.stage == "export":
        moved = (4 * load.copies + 2 * load.graphs) * shape.parameters * memory.SIZES[machine.dtype]
        return round(moved / DISK_SPEED + GRAPH * load.graphs, 1)
    if load.pieces is None or (machine.rate is None and load.flops):
        return None
    # A measured rate already includes recomputed activations.
    again = 1.4 if checkpointed and not machine.measured else 1.0
    share = share_of(machine.kind, machine.processes, torch.get_num_threads())
    kinds = {piece.kind: rates.get((load.stage.partition("-")[0], piece.kind)) for piece in load.pieces}
    rate = {kind: found * share if found else (machine.rate or 1.0) / again for kind, found in kinds.items()}
    alone = sum(piece.flops / rate[piece.kind] for piece in load.pieces)
    return round(alone / min(machine.processes, load.parts), 1)


def _advice(plan: Plan, config: RunConfig, shape: Shape, scored: int) -> list[str]:
    """Most helpful first; empty when everything fits."""
    machine, advice = plan.machine, []
    if not plan.fits:
        for training in ("lora", "qlora"):
            if training == config.model.training or (training == "qlora" and machine.kind != "cuda"):
                continue
            smaller = Needs(replace(config, model=replace(config.model, training=training)), shape, machine, scored)
            if config.model.training != "qlora" and smaller.total(plan.largest, True) <= machine.usable:
                advice.append(f"set model.training to {training}, with which it fits")
                break
        if not plan.checkpoint_activations:
            advice.append("set resources.checkpoint_activations to auto")
        room = Needs(config, shape, machine, scored).room(machine.usable, True)
        if room >= 512:
            advice.append(
                f"lower max_tokens, so that the largest example has at most {room:,} tokens instead of {plan.largest:,}"
            )
        for count in (2, 4, 8, 16, 32, 64) if machine.kind == "cuda" else ():
            more = Needs(config, shape, replace(machine, processes=count), scored)
            if count > machine.processes and more.total(plan.largest, True) <= machine.usable:
                setting = "resources.cluster.workers" if config.resources.cluster else "resources.processes"
                advice.append(f"train with {count} GPUs ({setting}), with which it fits")
                break
        advice.append("take a smaller base or a device with more memory")
    merging = 6.5 * shape.parameters  # bytes: the base in 16 bits, and the result in 32
    if machine.host is not None and machine.host < merging and machine.kind != "cpu":
        advice.append(
            f"free {size_words(merging)} of the system's memory for the export, which puts the result together"
        )
    if machine.disk is not None and machine.disk < plan.disk:
        advice.append(
            f"free {size_words(plan.disk)} on the disk of the run folder, which has {size_words(machine.disk)}"
        )
    return advice


# ---- the command


def main(arguments: list[str]) -> int:
    """Returns 0 when the run fits, else 1. Errors: Fault for an unusable configuration or data."""
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
    worker: WorkerMemory | None = None,
    tell: Callable[[str], None] = say,
    template_of: type[Template] = Template,
) -> Plan:
    """Reads the data; the base's weights are read only from a folder, never downloaded.

    size: bytes of another machine's card. worker: the place of a worker on the cluster to plan for. tell: called before
    each slow part.
    """
    quiet()
    is_here = size is None and worker is None
    if is_here and config.model.training == "qlora":
        require_nvidia(choose_device(config.model.device))
    set_threads(config.resources)
    path = find_model(as_begun(config.model, folder), folder, weights=False)
    shape = read_shape(path)
    if worker is not None and config.resources.cluster is not None:
        machine = cluster_machine(config.model, config.resources.cluster.workers, worker)
    elif size is not None:
        machine = cluster_machine(config.model, 1, WorkerMemory(f"a card with {size_words(size)}", size))
    else:
        machine = this_machine(config.model, folder, config.resources)
    template = load_template(config.model, path, folder, kind=template_of)
    tell("Reading the data …")
    prepared = prepare(config, template, context_length(path))
    config = prepared.config
    loads = loads_of(prepared, shape, template)
    plan = make_plan(config, shape, machine, loads)
    alone = replace(machine, processes=1)  # which measures a step, even if several processes will train
    is_measured = is_here and not method_of(config).plays and make_plan(config, shape, alone, loads).fits
    if is_measured and Path(config.model.base).is_dir():  # weights on the hub are not downloaded for a plan
        tell("Measuring a step …")
        with tempfile.TemporaryDirectory() as temporary:  # full fine-tuning would swap weights out to it
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
    """`12GB`: card makers mean 12 × 2^30 bytes."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(GB|GiB|G|MB|MiB|M)", text.strip(), re.IGNORECASE)
    if not match:
        raise argparse.ArgumentTypeError(f"{text} is no size; write it like 12GB")
    return int(float(match.group(1)) * (GIB if match.group(2)[0] in "gG" else 1 << 20))
