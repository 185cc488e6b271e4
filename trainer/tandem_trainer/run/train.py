"""`python -m tandem_trainer run.json` executes a run from configuration to result, or resumes it."""

from __future__ import annotations

import json
import os
import shutil
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from .. import importing
from ..config import RunConfig
from ..fault import Fault
from ..run_json import read_config
from .claim import alive, claim
from .disk_space import fault_of, reserved
from .event_file import Events
from .interpreter import require_online
from .restart import Again, Attempt
from .resume import as_begun, as_planned_before, check_same_configuration
from .stop import Stopped, StopRequest

SHOWN = 20  # bad lines that are reported one by one

if TYPE_CHECKING:
    from .distributed import Ranks
    from .prepare import Prepared


def main(arguments: list[str]) -> int:
    """arguments: the path of run.json. Errors: Fault, after its event."""
    path = Path(arguments[0])
    config = read_config(path)
    folder = path.resolve().parent
    first = os.environ.get("RANK", "0") == "0"
    attempt = Attempt(folder, int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")))
    if attempt.fault_before:
        attempt.report(Events(folder if first else None))
        return 1
    lock = claim(folder) if first else None
    events = Events(folder if first else None)
    request = StopRequest(folder)
    request.listen()
    try:
        perform(folder, config, events, request, attempt, first=first)
    except BaseException as error:
        fault = error if isinstance(error, Fault) else fault_of(error)
        told = attempt.met_by_another(error)
        if told == "":
            raise Fault("Another process of this run has ended.") from error
        if told is not None:
            fault = Fault(told)
        elif fault:
            attempt.tell(fault)
        sentence = str(fault) if fault else f"{type(error).__name__}: {error}"
        try:
            if not isinstance(fault, Again):
                events.state("failed", message=sentence)
        except Fault as second:  # the disk is full even for the event; the first fault comes last on stderr
            print(second, file=sys.stderr)
        if fault in (None, error):
            raise
        raise fault from error
    finally:
        if lock is not None:
            lock.close()
    return 0


def perform(
    folder: Path,
    config: RunConfig,
    events: Events,
    request: StopRequest,
    attempt: Attempt,
    *,
    first: bool,
    hands_over: bool = False,
) -> None:
    """first: whether this process writes. hands_over: whether others make the candidates. Errors: Fault; HandedOver."""
    try:
        with ExitStack() as within:
            if first:
                within.enter_context(alive(folder))
                within.enter_context(reserved(folder))
            train(folder, config, events, request, attempt, hands_over=hands_over)
        if first:
            request.fulfilled()
    except Stopped:
        events.state("stopped")
        if first:
            request.honoured()


def train(
    folder: Path, config: RunConfig, events: Events, request: StopRequest, attempt: Attempt, *, hands_over: bool
) -> None:
    # Checkpoints are deleted after all events; if they still exist, the run was killed just before its end.
    if (folder / "model").exists() and not any((folder / "checkpoints").glob("*-done")):
        check_same_configuration(folder, config, None)
        events.state("done", "export", f"The run is done; its result is in {folder / 'model'}.")
        return
    events.state("preparing", "prepare")
    if attempt.notice:
        events.notice(attempt.notice, token_budget=attempt.token_budget)
    require_online(config.method, plays=bool(config.data.tasks))
    with importing():
        import torch

        from ..export.onnx.shape import require_exportable
        from ..methods.settings import method_of
        from ..model.base import load_base
        from ..model.flops import peak_flops, read_shape
        from ..model.folder import context_length, find_model, load_template, pinned, quiet
        from ..model.load import choose_device
        from .budget import TokenBudget
        from .disk_space import write_whole
        from .distributed import join, leave
        from .machine_usage import Meter, this_machine
        from .objective import algorithm_of
        from .plan import make_plan, timed
        from .prepare import prepare
        from .reference_cache import ReferenceCache
        from .run import Run
        from .stages import export
        from .workload import loads_of

    quiet()
    ranks = join()
    if config.resources.threads:
        torch.set_num_threads(config.resources.threads)

    # ---- data
    # The first process chooses the hub commit and downloads it; the others then find the files in the cache.
    asked = config.model
    model = ranks.of_first(pinned(as_begun(asked, folder), folder) if ranks.first else None)
    path = find_model(model, folder, weights=False)
    require_exportable(config.export, path)
    template = load_template(model, path, folder)
    prepared = prepare(replace(config, model=model), template, context_length(path))
    config = prepared.config
    if attempt.number == 0:
        tell_data(events, prepared)
    if ranks.first:
        check_same_configuration(folder, replace(config, model=asked), prepared.fingerprint(), model.revision)
        for rest in folder.glob("weights-*"):  # which a killed process of this run swapped out (`base.py`)
            shutil.rmtree(rest)
    ranks.wait()

    # ---- plan
    shape = read_shape(path)
    plan = None
    if ranks.first:
        planned = replace(config, resources=as_planned_before(config.resources, folder))
        # The number of processes on all machines; run.json has those of this machine.
        machine = replace(this_machine(config.model, folder, config.resources), processes=ranks.world)
        plan = make_plan(planned, shape, machine, loads_of(prepared, shape, template))
    plan = ranks.of_first(plan)
    if not plan.fits:
        events.notice(f"This run may not fit into memory: {'; '.join(plan.advice)}.")
    stop_here(ranks, request)

    def planned_run(peak: float | None, device: torch.device) -> Run:
        """Records the plan, by which the run goes."""
        if ranks.first:
            write_whole(folder / "plan.json", (json.dumps(plan.as_dict(), indent=1) + "\n").encode())
        events.emit("plan", **plan.as_dict())
        tokens = min(plan.token_budget, attempt.token_budget or sys.maxsize)
        budget = TokenBudget(tokens, ranks, request, events, config.resources.logits_mb << 20)
        meter = Meter(shape, config.model.training, peak, device, ranks.world)
        return Run(folder, config, budget, meter, plan.seconds, hands_over)

    # ---- a method of TRL, which loads the model and trains it
    algorithm = algorithm_of(config.method)
    if method_of(config).trl:
        resources = replace(config.resources, checkpoint_activations=plan.checkpoint_activations)
        config = replace(config, resources=resources)
        path = find_model(config.model, folder)
        run = planned_run(None, choose_device(config.model.device))
        base, played, figures = algorithm.train(run, template.tokenizer, path)
        export(run, base, template, replace(prepared, policy=played), figures)
        return

    # ---- model
    if ranks.first:
        find_model(config.model, folder)
    ranks.wait()
    mesh = ranks.mesh(choose_device(config.model.device))
    base = load_base(config.model, run_folder=folder, seed=config.seed, mesh=mesh)
    if base.notice:
        events.notice(base.notice)
    base.checkpoint_activations(plan.checkpoint_activations)
    if plan.fits:
        plan = ranks.of_first(timed(plan, config, shape, prepared, template, base))
    run = planned_run(peak_flops(base.device, base.dtype), base.device)
    shared = config.resources.shared and Path(config.resources.shared)
    reference = ReferenceCache(base, folder, run.budget, shared)
    stop_here(ranks, request)

    # ---- stages
    figures = algorithm.train(run, base, template, prepared, reference)
    export(run, base, template, prepared, figures)
    leave()


def stop_here(ranks: Ranks, request: StopRequest) -> None:
    if ranks.highest(bool(request)):
        raise Stopped


def tell_data(events: Events, prepared: Prepared) -> None:
    events.emit("data", **prepared.counts)
    for notice in (*prepared.notices, *(short.sentence for short in prepared.shortages)):
        events.notice(notice)
    for problem in prepared.problems[:SHOWN]:
        events.notice(f"Left out: {problem}")
