"""The one training loop, for every objective, with its number of steps and their learning rates."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

import torch

from ..config import ModelConfig, PolicyConfig
from ..config_fields import OptimiserConfig
from ..data.batch_order import lot, step_batch, steps_per_epoch
from ..fault import Fault
from ..model.base import Base
from ..turn import Example
from .adam import Adam
from .checkpoint import Checkpoint
from .objective import Objective, counter, means, turns_of
from .run import Run, is_policy
from .stop import Stopped


@dataclass(frozen=True)
class Progress:
    """All of it is in the checkpoint."""

    step: int = 0  # finished steps
    best_step: int | None = None  # step after which the held-out figure was best
    best: dict[str, float] | None = None  # the held-out figures after `best_step`
    looks: int = 0  # evaluations on held-out examples since `best_step`
    looked: int | None = None  # step of the last evaluation
    look_seconds: float = 0.0  # duration of the last evaluation
    loss_scale: float = 1.0  # for float16, in which small gradients would become 0; halved after an overflow
    seconds: float = 0.0  # time spent in steps
    tokens: int = 0  # tokens of all steps, after sharing


def optimise(
    stage: str,
    base: Base,
    objective: Objective,
    train: Sequence[Example],
    held_out: Sequence[Example],
    settings: OptimiserConfig,
    run: Run,
) -> dict[str, float]:
    """Trains `base` and `objective`, and leaves the weights of the best evaluation on held-out examples.

    After a request to finish, a policy ends with the current step and is then treated as after its last step. The live
    adapter of `base` must be the one of this stage. An interrupted stage resumes from its last checkpoint with the same
    batches, and thus has the same result. Returns figures for the record.
    Errors: Stopped after a checkpoint; Fault when memory or disk do not suffice, or the loss is NaN.
    """
    scheduled, steps = scheduled_steps(len(train), settings), stage_steps(len(train), settings)
    per_epoch = steps_per_epoch(len(train), settings.batch)
    peak = peak_learning_rate(settings, run.config.model)
    adam = Adam([*base.trainable(), *objective.parameters()], settings.weight_decay, run.ranks)
    progress = Progress(loss_scale=2.0**16 if base.dtype == torch.float16 else 1.0)

    if (checkpoint := run.checkpoint(stage)) is not None:
        _restore(checkpoint, base, objective)
        checkpoint.load("optimizer", adam.state())
        progress = _with_best(run, stage, Progress(**checkpoint.state["progress"]))
    saved = progress

    def save() -> None:
        nonlocal saved
        tensors = {"trained": base.state(), "objective": objective.state(), "optimizer": adam.state()}
        run.save(stage, progress.step, {"progress": asdict(progress)}, tensors, progress.best_step)
        saved = progress

    try:
        while True:
            # ---- evaluation on held-out examples, and the best step
            step = progress.step
            is_asked = 0 < step < steps and is_policy(stage) and run.is_to_finish()
            if is_asked and saved != progress:
                save()  # a process killed from here on still ends at this step
            is_last = step >= steps or is_asked
            if held_out and progress.looked != step and (step % settings.evaluate_every == 0 or is_last):
                started = time.monotonic()
                figures = evaluate(base, objective, held_out, run)
                progress = replace(progress, looked=step, look_seconds=time.monotonic() - started)
                best = step > 0 and (progress.best is None or _is_better(objective, figures, progress.best))
                run.events.emit("evaluation", stage=stage, step=step, **figures, best=best)
                if best:
                    progress = replace(progress, best_step=step, best=figures, looks=0)
                    save()
                else:
                    progress = replace(progress, looks=progress.looks + (step > 0))
            if is_last or 0 < settings.patience <= progress.looks:
                break

            # ---- gradients of the mean loss over the batch, summed over micro-batches and ranks
            started = time.monotonic()
            epoch, step_in_epoch = divmod(step, per_epoch)
            batch = step_batch(
                train, seed=run.config.seed, epoch=epoch, step_in_epoch=step_in_epoch, batch=settings.batch
            )
            torch.manual_seed(int.from_bytes(lot(run.config.seed, stage, step)[:7], "big"))
            sums = _add_gradients(base, objective, adam, train, batch, progress.loss_scale, run)
            gradients = adam.gradients()
            if progress.loss_scale > 1:
                torch._foreach_div_(gradients, progress.loss_scale)
            norm = adam.norm()
            if progress.loss_scale > 1 and not math.isfinite(norm) and math.isfinite(sums["loss"]):
                adam.clear()
                progress = replace(progress, loss_scale=progress.loss_scale / 2)
                continue
            if not (math.isfinite(norm) and math.isfinite(sums["loss"])):
                raise Fault(
                    f"The loss or its gradient is no longer a number at step {step + 1} of {stage}: "
                    "lower its learning_rate, or set model.dtype to float32."
                )

            # ---- update
            rate = learning_rate(step, scheduled, peak, settings.warmup)
            torch._foreach_mul_(gradients, min(1.0, settings.clip / (norm + 1e-6)))
            adam.step(rate)
            objective.after_step()

            # ---- report
            seconds = time.monotonic() - started
            tokens, flops = int(sums.pop("computed_tokens")), sums.pop("flops")
            progress = replace(
                progress, step=step + 1, seconds=progress.seconds + seconds, tokens=progress.tokens + tokens
            )
            run.events.emit(
                "step",
                stage=stage,
                step=step + 1,
                steps=steps,
                epoch=round((step + 1) / per_epoch, 4),
                **means(sums),
                gradient_norm=norm,
                learning_rate=rate,
                tokens=tokens,
                tokens_per_second=round(tokens / seconds, 1),
                mfu=run.meter.mfu(flops, seconds),
                gpu_use=run.meter.gpu_use(),
                memory_mb=run.meter.memory_mb(),
                seconds_left=run.seconds_left(stage, progress.seconds, _seconds_left(progress, steps, settings)),
            )
            if run.checkpoint_is_due():
                save()
    except Stopped:
        run.events.state("stopping")
        if saved != progress:
            save()
        raise

    if is_asked:
        run.ended_in = stage
    if stage == run.last_trained and saved != progress:
        save()  # a finished run can be continued from here
    if progress.step < steps:
        asked = " (requested by user)" if is_asked else ""
        best = f"the held-out examples did best at step {progress.best_step}"
        used = best if progress.best else "its last step is used"
        run.events.notice(f"{stage} ends at step {progress.step} of {steps}{asked}: {used}.")
    if progress.best_step not in (None, progress.step):
        _restore(run.checkpoint(stage, progress.best_step), base, objective)
    adam.close()
    return {
        "steps": progress.step,
        **({"planned_steps": steps} if is_asked else {}),
        "used_step": progress.best_step or progress.step,
        "seconds": progress.seconds,
        "tokens": progress.tokens,
        "learning_rate": peak,
        "train_examples": len(train),
        "held_out_examples": len(held_out),
        **{f"held_out_{name}": value for name, value in (progress.best or {}).items()},
    }


def evaluate(base: Base, objective: Objective, examples: Sequence[Example], run: Run) -> dict[str, float]:
    tokens = counter(examples, base.shares_prefixes)

    def work(indices: Sequence[int]) -> dict[str, float]:
        with torch.no_grad():
            return objective.loss(base.model, [examples[index] for index in indices])[1]

    every = range(len(examples))
    mine = run.ranks.share(every, lambda index: tokens([index]))
    return means(run.budget.spend(mine, tokens, work, lambda: work([_shortest(every, tokens)])))


def _add_gradients(
    base: Base,
    objective: Objective,
    adam: Adam,
    examples: Sequence[Example],
    batch: Sequence[int],
    loss_scale: float,
    run: Run,
) -> dict[str, float]:
    """A backward pass for each micro-batch of this rank's part of the batch. Returns sums over all ranks."""
    tokens = counter(examples, base.shares_prefixes)

    def work(indices: Sequence[int]) -> dict[str, float]:
        chosen = [examples[index] for index in indices]
        loss, figures = objective.loss(base.model, chosen)
        (loss * (loss_scale / len(batch))).backward()
        flops = run.meter.flops(turns_of(chosen), shared=base.shares_prefixes)
        return {**figures, "computed_tokens": tokens(indices), "flops": flops}

    def idle() -> None:
        loss, _ = objective.loss(base.model, [examples[_shortest(batch, tokens)]])
        (loss * 0.0).backward()

    mine = run.ranks.share(batch, lambda index: tokens([index]))
    return run.budget.spend(mine, tokens, work, idle, forget=adam.clear)


def _shortest(indices: Sequence[int], tokens: Callable[[Sequence[int]], int]) -> int:
    return min(indices, key=lambda index: tokens([index]))


def _seconds_left(progress: Progress, steps: int, settings: OptimiserConfig) -> float:
    """By the mean time of steps and the time of the last evaluation, without early stopping."""
    left = steps - progress.step
    looks = math.ceil(left / settings.evaluate_every)
    return progress.seconds / progress.step * left + progress.look_seconds * looks


def _is_better(objective: Objective, figures: dict[str, float], best: dict[str, float]) -> bool:
    if objective.better == "margin":
        return figures["margin"] > best["margin"]
    return objective.better == "last" or figures["loss"] < best["loss"]


def _with_best(run: Run, stage: str, progress: Progress) -> Progress:
    """Forgets the best step when its checkpoint is damaged or gone. The present step's evaluation then counts again."""
    if progress.best_step is None or run.checkpoint(stage, progress.best_step) is not None:
        return progress
    run.events.notice(
        f"The checkpoint of step {progress.best_step} of {stage}, which did best on held-out examples, is gone: "
        f"the best step from {progress.step} on is used."
    )
    return replace(progress, best_step=None, best=None, looks=0, looked=None)


def _restore(checkpoint: Checkpoint, base: Base, objective: Objective) -> None:
    checkpoint.load("trained", base.state())
    checkpoint.load("objective", objective.state())


def stage_steps(examples: int, settings: OptimiserConfig) -> int:
    """A part of an epoch, as in 1.5 epochs, is rounded to whole steps."""
    more = settings.more_epochs if isinstance(settings, PolicyConfig) else 0.0
    return scheduled_steps(examples, settings) + round(more * steps_per_epoch(examples, settings.batch))


def scheduled_steps(examples: int, settings: OptimiserConfig) -> int:
    """The steps over which the learning rate changes; later steps keep the last value."""
    steps = max(1, round(settings.epochs * steps_per_epoch(examples, settings.batch)))
    return min(steps, settings.max_steps or steps)


def peak_learning_rate(settings: OptimiserConfig, model: ModelConfig) -> float:
    """The configured rate, or the stage's own: by default the paper's 2e-7, and ten times that for adapters."""
    return settings.learning_rate or settings.rates[model.training != "full"]


def learning_rate(step: int, steps: int, peak: float, warmup: float) -> float:
    """Linear warm-up over the fraction `warmup` of the steps, then cosine decay to a tenth, which later steps keep.

    Source: the paper's settings (arXiv 2503.15478, appendix): 3 % warm-up, cosine to 10 %.
    """
    rising = math.ceil(warmup * steps)
    if step < rising:
        return peak * (step + 1) / rising
    progress = min(1.0, (step - rising) / max(1, steps - 1 - rising))
    return peak * (0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * progress)))
