"""GRPO: the policy plays new dialogues in every step and learns from their rewards (arXiv 2402.03300, section 4.1).

TRL's GRPOTrainer computes advantages and loss, with its own defaults where `config.py` has no field: the rewards of a
group are centred and divided by their standard deviation, and the loss is a mean over the agent's tokens of the step
(`loss_type` "dapo"). With `credit` "vine", `vine.py` replaces the advantages. `tandem_env.grpo.Dialogues`, or for the
collaborator's seat `tandem_env.replies.Replies`, plays against `tandem serve`, which this run starts
(`run/environment.py`). Here TRL's course gets the events, checkpoints, requests and result of any run.

A resumed run has the same end: the order of the tasks and the seeds of episodes and sampling depend only on the step
(`data/batch_order.py`), and TRL's checkpoint holds weights and optimiser.
"""

from __future__ import annotations

import logging
import math
import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase, PrinterCallback, TrainerCallback

from tandem_env import Refused, dataset
from tandem_env.grpo import Dialogues, reward, success
from tandem_env.replies import Replies, Rewards, priced, task_rows

from ..config import RunConfig
from ..data.batch_order import lot
from ..data.pairs import held_out_tasks
from ..fault import Fault
from ..model.base import Base, load_base
from ..model.load import choose_device, choose_dtype, load_model
from ..run.budget import free_memory
from ..run.environment import Environment, lost_server
from ..run.run import Run
from ..run.stages import Figures
from ..run.stop import Stopped
from ..run.workload import longest_dialogue
from ..turn import Example, Turn
from .config import GrpoConfig

if TYPE_CHECKING:
    from .vine import Vine  # whose import takes TRL's seconds

STAGE = "policy"
KEPT = 8  # dialogues of the last step, by which the export is checked

Row = dict[str, Any]


def train(run: Run, tokenizer: PreTrainedTokenizerBase, path: Path) -> tuple[Base, list[Example], Figures]:
    """Trains the policy, or loads an earlier result. Returns the base with its weights, some dialogues, the figures.

    path: the folder of the base model. Errors: Stopped after a checkpoint; Fault.
    """
    if run.result(STAGE) is None:
        run.events.state("running", STAGE)
        with Environment(run.config, run.folder) as environment:
            _train(run, tokenizer, path, environment)
        free_memory()
    result = run.result(STAGE)
    base = load_base(run.config.model, run_folder=run.folder, seed=run.config.seed)
    result.load("trained", base.state())
    return base, _examples(result.tensors("played")), result.state["figures"]


def _train(run: Run, tokenizer: PreTrainedTokenizerBase, path: Path, environment: Environment) -> None:
    config, settings = run.config, run.config.grpo
    read = task_rows if config.role == "collaborator" else dataset
    try:
        rows = read(environment.url, token=environment.token)
    except (OSError, Refused) as error:
        raise Fault(f"`tandem serve` gave no tasks: {error}") from error
    apart = held_out_tasks([{row["task_id"] for row in rows}], config.data.held_out, config.seed)
    rows.sort(key=lambda row: lot(config.seed, row["task_id"]))
    train = [row for row in rows if row["task_id"] not in apart]
    held_out = [row for row in rows if row["task_id"] in apart][: settings.batch]
    dialogues = dialogues_of(config, environment, rows)
    vine = None
    if settings.credit == "vine":
        from .vine import Vine

        vine = Vine(dialogues, settings)
    course = Course(run, dialogues, vine, len(train), held_out)
    trainer = _trainer(run, tokenizer, path, in_order(train, config), course)
    course.trainer = trainer
    begun = run.checkpoint(STAGE)
    if begun is None and (sentence := unplayed(settings, len(train))) is not None:
        run.events.notice(sentence)
    course.begin(begun.state if begun else None)
    try:
        with lost_server(environment):
            trainer.train(resume_from_checkpoint=str(begun.path) if begun else None)
    finally:
        dialogues.close()
        shutil.rmtree(_rests(run), ignore_errors=True)
    if course.is_stopped:
        raise Stopped
    if not course.has_differed:
        raise Fault(
            "In no step had the dialogues of one task different rewards, so there was nothing to learn: begin with a "
            "model that succeeds now and then (method rft makes one), take easier tasks, or raise grpo.max_turns or "
            "grpo.group." + (f" Dialogues dropped because a reply leaked: {course.dropped}." if course.dropped else "")
        )
    figures = {STAGE: course.figures(trainer, len(held_out))}
    run.finish(STAGE, figures, {"trained": _trained(trainer.model), "objective": {}, "played": course.played})


def _trainer(
    run: Run, tokenizer: PreTrainedTokenizerBase, path: Path, rows: Sequence[Row], course: Course
) -> Any:  # TRL is imported here because it takes seconds, and only this method needs it
    os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"
    from datasets import Dataset, disable_progress_bars
    from trl import GRPOConfig, GRPOTrainer

    from ..model.adapters import lora_of
    from .vine import VineTrainer

    disable_progress_bars()
    # TRL asks for a reward of each dialogue, and writes out the first without one: of a dropped one, the leak.
    logging.getLogger("trl.trainer.grpo_trainer").addFilter(
        lambda each: "'tandem_leaked': True" not in each.getMessage()
    )
    config, settings = run.config, run.config.grpo
    is_full = config.model.training == "full"
    device = choose_device(config.model.device)
    if device.type == "cuda" and torch.cuda.device_count() > 1:
        raise Fault("grpo trains on one GPU, and several are visible: set CUDA_VISIBLE_DEVICES to one.", usage=True)
    dtype = choose_dtype(config.model.dtype, device)
    # Whole weights stay in float32, because steps of this size vanish in 16 bits; matrices are multiplied in `dtype`.
    model = load_model(config.model, path, device, torch.float32 if is_full else dtype)
    rows_per_dialogue = course.dialogues.rows_per_dialogue
    batch = settings.batch * rows_per_dialogue
    at_once = largest_divisor(batch, max(1, run.budget.tokens // longest_dialogue(config)))
    trainer = (VineTrainer if settings.credit == "vine" else GRPOTrainer)(
        model,
        reward_funcs=rewards_of(config),
        rollout_func=course.play,
        train_dataset=Dataset.from_list(list(rows)),
        processing_class=tokenizer,
        peft_config=None if is_full else lora_of(config.model),
        callbacks=[course],
        args=GRPOConfig(
            output_dir=str(_rests(run)),
            max_steps=settings.steps,
            per_device_train_batch_size=at_once,
            gradient_accumulation_steps=batch // at_once,
            num_generations=settings.group * rows_per_dialogue,
            max_completion_length=settings.max_new_tokens,
            temperature=settings.temperature,
            beta=settings.beta,
            learning_rate=peak_learning_rate(config),
            lr_scheduler_type="constant",
            shuffle_dataset=False,
            chat_template_kwargs=dict(config.model.template_options),
            gradient_checkpointing=course.checkpoints_activations,
            seed=config.seed % (1 << 32),
            use_cpu=device.type == "cpu",
            bf16=is_full and dtype == torch.bfloat16,
            fp16=is_full and dtype == torch.float16,
            logging_steps=1,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            dataloader_pin_memory=False,
        ),
    )
    trainer.remove_callback(PrinterCallback)  # it prints each step to stdout, which has the events
    return trainer


def dialogues_of(config: RunConfig, environment: Environment, rows: Sequence[Row]) -> Dialogues | Replies:
    """Returns what plays the trained seat. An agent's leaked dialogues stay where they have a price."""
    url, token, seed = environment.url, environment.token, config.seed
    if config.role == "collaborator":
        return Replies(url, token, seed, rows_per_dialogue=config.grpo.max_turns - 1)
    with_leaked = config.data.with_leaked or config.grpo.leak_price is not None
    return Dialogues(url, rows, token, seed, with_leaked=with_leaked)


def price_of(config: RunConfig) -> float:
    """Returns λ, what a leak costs a dialogue."""
    if config.grpo.leak_price is not None:
        return config.grpo.leak_price
    return 1.0 if config.role == "collaborator" else 0.0


def rewards_of(config: RunConfig) -> Rewards:
    """Returns TRL's reward function: R − λ · [a reply leaked]."""
    of = reward if config.grpo.reward == "tests" else success
    return priced(of, price_of(config))


def peak_learning_rate(config: RunConfig) -> float:
    """Returns the configured rate, or TRL's 1e-6 for all weights and ten times that for adapters."""
    return config.grpo.learning_rate or (1e-6 if config.model.training == "full" else 1e-5)


class Course(TrainerCallback):
    """Carries TRL's training into the run: plays and measures dialogues, emits events, saves, and hears requests.

    played: tensors of some dialogues of the last step. trainer: set before the training begins.
    """

    def __init__(
        self, run: Run, dialogues: Dialogues | Replies, vine: Vine | None, tasks: int, held_out: Sequence[Row]
    ):
        """vine: None for credit by groups. tasks: number of tasks that are trained on. held_out: rows of those that are
        only measured."""
        self.run, self.dialogues, self.vine, self.tasks, self.held_out = run, dialogues, vine, tasks, held_out
        self.trainer: Any = None
        self.checkpoints_activations = run.config.resources.checkpoint_activations is True
        self.played: dict[str, Tensor] = {}
        self.is_stopped = self.is_ended = False
        self.began = self.spent = 0.0
        self.tokens = self.all_tokens = 0
        self.successes: float = math.nan
        self.leaked = self.dropped = 0  # dialogues of all steps in which a reply leaked, and those that were dropped
        self.measured: dict[str, float | None] = {}
        self.measured_at = -1
        self.has_differed = False  # whether any group of dialogues had different rewards

    def begin(self, state: dict[str, Any] | None) -> None:
        if state is not None:
            self.spent, self.all_tokens = state["seconds"], state["tokens"]
            self.measured, self.measured_at = state["measured"], state["measured_at"]
            self.has_differed = state["has_differed"]
            # A run that began before leaks were counted has neither.
            self.leaked, self.dropped = state.get("leaked", 0), state.get("dropped", 0)
            if self.vine is not None:
                self.vine.begin(state)

    def play(self, prompts: list[Any], trainer: Any) -> dict[str, list[Any]]:
        """Plays the dialogues of a step: TRL's `rollout_func`."""
        torch.manual_seed(int.from_bytes(lot(self.run.config.seed, STAGE, trainer.state.global_step)[:7], "big"))
        made = self.dialogues(prompts, trainer)
        settings = self.run.config.grpo
        self.tokens = sum(len(ids) for name in ("prompt_ids", "completion_ids") for ids in made[name])
        self.successes = _mean(made["tandem_success"])
        self.leaked += self.dialogues.leaked
        self.dropped += self.dialogues.dropped
        if self.vine is None:
            rewards = rewards_of(self.run.config)(**made)
            has_differed = differ(rewards, settings.group * self.dialogues.rows_per_dialogue)
        else:
            made = self.vine.credit(made, trainer)
            has_differed = self.vine.has_differed
            self.dropped += self.vine.dropped
        self.has_differed = self.has_differed or has_differed
        kept = zip(made["prompt_ids"][:KEPT], made["completion_ids"][:KEPT], strict=True)
        self.played = {
            f"{number}.{part}": torch.tensor(ids, dtype=torch.int32)
            for number, both in enumerate(kept)
            for part, ids in zip(("prompt", "response"), both, strict=True)
        }
        return made

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step % self.run.config.grpo.evaluate_every == 0:  # a run that stops does not measure before
            self._measure(state.global_step)

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.began = time.monotonic()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        run = self.run
        if state.global_step >= state.max_steps:
            return  # the result is written next, which is as good as a checkpoint
        if run.stop:
            self.is_stopped = control.should_save = control.should_training_stop = True
        elif run.is_to_finish():
            self.is_ended = control.should_save = control.should_training_stop = True
            run.ended_in = STAGE
        elif run.checkpoint_is_due():
            control.should_save = True

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
        if logs is None or "loss" not in logs:
            return  # TRL's summary at the end
        settings, step = self.run.config.grpo, state.global_step
        seconds = time.monotonic() - self.began
        self.spent += seconds
        self.all_tokens += self.tokens
        if not math.isfinite(logs["loss"]):
            raise Fault(f"The loss is no longer a number at step {step} of {STAGE}: lower grpo.learning_rate.")
        left = self.spent / step * (state.max_steps - step)
        self.run.events.emit(
            "step",
            stage=STAGE,
            step=step,
            steps=state.max_steps,
            epoch=round(step * settings.tasks_per_step / self.tasks, 4),
            loss=logs["loss"],
            reward=logs.get("reward"),
            success=self.successes,
            leaked=self.dialogues.leaked / self.dialogues.played,
            turns=_mean(self.dialogues.turns),
            **({"kl": logs["kl"]} if "kl" in logs else {}),
            entropy=logs.get("entropy"),
            dialogues=step * settings.batch,
            **(self.vine.figures if self.vine else {}),
            waiting=round(self.dialogues.waited / seconds, 4),
            gradient_norm=logs.get("grad_norm"),
            learning_rate=logs["learning_rate"],
            tokens=self.tokens,
            tokens_per_second=round(self.tokens / seconds, 1),
            mfu=None,
            gpu_use=self.run.meter.gpu_use(),
            memory_mb=self.run.meter.memory_mb(),
            seconds_left=self.run.seconds_left(STAGE, self.spent, left),
        )
        if self.is_stopped:
            self.run.events.state("stopping")
        elif step % settings.evaluate_every == 0 or step == state.max_steps or self.is_ended:
            self._measure(step)

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        made = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        about = {"seconds": self.spent, "tokens": self.all_tokens, "measured": self.measured}
        about |= {"measured_at": self.measured_at, "has_differed": self.has_differed}
        about |= {"leaked": self.leaked, "dropped": self.dropped, **(self.vine.figures if self.vine else {})}
        self.run.adopt(STAGE, state.global_step, about, made)

    def figures(self, trainer: Any, held_out: int) -> dict[str, Any]:
        settings, steps = self.run.config.grpo, trainer.state.global_step
        if self.is_ended:
            self.run.events.notice(
                f"{STAGE} ends at step {steps} of {settings.steps} (requested by user): its last step is used."
            )
        return {
            "steps": steps,
            **({"planned_steps": settings.steps} if self.is_ended else {}),
            "used_step": steps,
            "dialogues": steps * settings.batch,
            **(self.vine.figures if self.vine else {}),
            "leaked_dialogues": self.leaked,
            "dropped_dialogues": self.dropped,
            "seconds": self.spent,
            "tokens": self.all_tokens,
            "learning_rate": peak_learning_rate(self.run.config),
            "train_examples": self.tasks,
            "held_out_examples": held_out,
            **{f"held_out_{name}": value for name, value in self.measured.items()},
        }

    def _measure(self, step: int) -> None:
        """Plays one dialogue of each held-out task, without any effect on the training's random numbers."""
        if not self.held_out or self.measured_at == step:
            return
        self.measured_at = step
        with torch.random.fork_rng():
            torch.manual_seed(int.from_bytes(lot(self.run.config.seed, "look", step)[:7], "big"))
            count = self.dialogues.rows_per_dialogue
            made = self.dialogues([row["prompt"] for row in self.held_out for _ in range(count)], self.trainer)
        self.measured = {
            "reward": _mean(priced(reward, price_of(self.run.config))(**made)),
            "success": _mean(made["tandem_success"]),
            "leaked": self.dialogues.leaked / self.dialogues.played,
            "turns": _mean(self.dialogues.turns),
        }
        self.run.events.emit("evaluation", stage=STAGE, step=step, **self.measured, best=False)


def in_order(rows: Sequence[Row], config: RunConfig) -> list[Row]:
    """Each epoch has an order of its own."""
    count = config.grpo.steps * config.grpo.tasks_per_step
    order: list[Row] = []
    for epoch in range(-(-count // len(rows))):
        order += sorted(rows, key=lambda row: lot(config.seed, epoch, row["task_id"]))
    return order[:count]


def unplayed(settings: GrpoConfig, tasks: int) -> str | None:
    """A sentence for the user; None if the run plays all tasks."""
    played = settings.steps * settings.tasks_per_step
    if played >= tasks:
        return None
    enough, group = tasks * settings.group, settings.dialogues // tasks
    smaller = f", or grpo.group to {group}" if group > 1 else ""
    return f"Only {played} of {tasks} tasks are played. For all, set grpo.dialogues to {enough}{smaller}."


def differ(rewards: Sequence[float | bool | None], group: int) -> bool:
    """Returns whether the known rewards of any group differ. TRL's `frac_reward_zero_std` takes a group with none for
    one with different rewards."""
    groups = (rewards[begin : begin + group] for begin in range(0, len(rewards), group))
    return any(len({reward for reward in each if reward is not None}) > 1 for each in groups)


def largest_divisor(count: int, most: int) -> int:
    return next(each for each in range(min(count, most), 0, -1) if count % each == 0)


def _mean(values: Sequence[float | bool | None]) -> float:
    """Over the known ones; NaN when none is."""
    known = [float(value) for value in values if value is not None]
    return sum(known) / len(known) if known else math.nan


def _trained(model: Any) -> dict[str, Tensor]:
    """Returns the weights under their names in `Base`, where the adapter is the policy's."""
    return {
        name.replace(".default.", ".policy."): weight.detach().cpu()
        for name, weight in model.named_parameters()
        if weight.requires_grad
    }


def _examples(played: dict[str, Tensor]) -> list[Example]:
    """Returns played dialogues, each as one turn, by which the exported model is compared."""
    ids = {name: tensor.numpy().astype(np.int32) for name, tensor in played.items()}
    return [
        Example(str(number), (Turn(ids[f"{number}.prompt"], ids[f"{number}.response"], sampled=True),))
        for number in range(len(ids) // 2)
    ]


def _rests(run: Run) -> Path:
    """TRL writes here, and a checkpoint is made of it; a killed process may have left it."""
    return run.folder / "checkpoints" / ".trl"
