"""Makes the training examples of each stage from the files that run.json names, and counts the others."""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from ..config import RunConfig
from ..config_fields import ScheduleConfig
from ..data.batch_order import lot
from ..data.data_shortage import Shortage, shortages
from ..data.dialogue import TESTS, Dialogue, Measure, Problem, counted, listed, own_turns
from ..data.json_rows import BadRow, content_id, is_page, json_lines, object_of, task_of
from ..data.lessons import taught
from ..data.measures import require_one_measure
from ..data.pairs import drop_long, first_of, held_out_tasks, imitation, preference_examples, returns, trajectory_pairs
from ..data.replay import replayed
from ..data.rows import read_preferences, read_rows, task_id
from ..data.template import Template
from ..data.tokenize_turns import settle
from ..fault import Fault, UsageFault
from ..methods.settings import (
    method_of,
    needs_hidden_information,
    plays_values,
    policy_settings,
    projects,
    runs_in_parallel,
    trains_critic,
)
from ..turn import Example

READ = 16  # examples whose prompts are part of the fingerprint; all prompts would repeat the dialogues


@dataclass
class Prepared:
    """config: the run's, with `max_tokens` limited to the model's context.
    dialogues: settled, in order.
    critic: empty when no critic is trained.
    policy: all examples of a baseline; for SWEET-RL the human preferences, to which ranked pairs are added later.
    tasks:  the task of each dialogue and preference, by its id.
    apart:  the held-out tasks, on which no stage trains.
    counts: the content of the event `data`.
    packs:  a hash of the packs that the run plays; empty if it plays none.
    to_play: the hidden information of their tasks, None where it is unknown, by id.
    valued_tasks: rows of the tasks, by id, for which `tandem serve` values candidates; empty for other scores.
    """

    config: RunConfig
    dialogues: list[Dialogue]
    critic: list[Example]
    policy: list[Example]
    tasks: dict[str, str]
    apart: frozenset[str]
    problems: list[Problem]
    notices: list[str]
    counts: dict[str, Any]
    packs: bytes = b""
    to_play: dict[str, str | None] = field(default_factory=dict)
    valued_tasks: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def measure(self) -> Measure:
        """Of all rewards; a run never mixes measures."""
        return self.dialogues[0].measure if self.dialogues else TESTS

    @property
    def shortages(self) -> list[Shortage]:
        return shortages(self.config, self.counts)

    def split(self, examples: Sequence[Example]) -> tuple[list[Example], list[Example]]:
        train, held_out = [], []
        for example in examples:
            (held_out if task_of_example(example, self.tasks) in self.apart else train).append(example)
        return train, held_out

    def measured(self, held_out: Sequence[Example], settings: ScheduleConfig) -> list[Example]:
        """Draws the held-out examples of an evaluation: at most half as many as are trained on between two evaluations.

        A forward pass costs a third of a step, so evaluations cost at most a sixth of the training.
        """
        most = max(1, settings.evaluate_every * settings.batch // 2)
        chosen = sorted(range(len(held_out)), key=lambda index: lot(self.config.seed, "look", index))[:most]
        return [held_out[index] for index in sorted(chosen)]

    def fingerprint(self) -> str:
        """A hash of the data and of their tokens under the tokenizer and its template."""
        digest = hashlib.sha256(self.packs)
        for dialogue in self.dialogues:
            about = (dialogue.id, dialogue.task, dialogue.reward, dialogue.messages, dialogue.hidden_information)
            if dialogue.is_page:
                about += (dialogue.measure, dialogue.drafts)
            if dialogue.replayed:
                about += (tuple(turn.log_probs.tobytes() for turn in dialogue.turns if turn.log_probs is not None),)
            digest.update(repr(about).encode())
            digest.update(b"".join(turn.ids.tobytes() for turn in dialogue.turns))
        for examples in (self.critic, self.policy):
            for number, example in enumerate(examples):
                if example.signal is not None:
                    digest.update(repr((example.signal, example.target)).encode())
                for turn in example.turns:
                    digest.update(turn.response.tobytes())
                    if number < READ:
                        digest.update(turn.prompt.tobytes())
        return digest.hexdigest()


def prepare(config: RunConfig, template: Template, context: int | None = None) -> Prepared:
    """Reads, settles, pairs and splits the data. Errors: UsageFault when the method can use nothing of it.

    context: context length of the base model; longer rows are left out, whatever `max_tokens` is.
    """
    config = within_context(config, context)
    data, method = config.data, method_of(config)
    if method.plays:
        return _to_play(config)
    of_rows = partial(
        read_rows,
        opening=data.opening if config.role == "agent" else None,  # rows of the collaborator have their messages
        with_leaked=data.with_leaked,
        measure=data.measure,
        renderer=data.renderer,
        without_grades=method.learns_from == "dialogues",
        role=config.role,
    )
    read = of_rows(data.trajectories)
    require_one_measure(read.dialogues)
    owned = [own_turns(dialogue) for dialogue in read.dialogues]
    read.dialogues = [dialogue for dialogue in owned if dialogue.turns]
    if len(read.dialogues) < len(owned):
        read.left_out["a fork without a message of its own"] += len(owned) - len(read.dialogues)
    if data.earlier and data.replay:
        try:
            read = replayed(read, of_rows(data.earlier), data.replay, config.seed)
        except UsageFault as fault:  # a loop names the rows of the round before, whatever they are
            read.notices.append(f"No earlier dialogue is replayed: {fault}")
    settled = settle(template, read.dialogues)
    dialogues = settled.dialogues
    left_out: Counter[str] = read.left_out + settled.left_out
    problems, notices = read.problems + settled.problems, read.notices
    if context is not None and context in (config.critic.max_tokens, policy_settings(config).max_tokens):
        notices = [*notices, f"The model reads at most {context:,} tokens, so longer rows are left out."]

    if needs_hidden_information(config):
        known = [dialogue for dialogue in dialogues if dialogue.hidden_information is not None]
        left_out["without hidden information"] += len(dialogues) - len(known)
        dialogues = known
    if read.dialogues and not dialogues:
        raise UsageFault(f"None of the {len(read.dialogues)} trajectories can be used: {listed(left_out)}.")

    tasks = {dialogue.id: dialogue.task for dialogue in dialogues}
    human: list[Example] = []
    if data.preferences:
        only_feedback = method.preferences == "feedback" or projects(config)
        preferences, bad = read_preferences(data.preferences, config.role, only_feedback)
        human, settled = preference_examples(preferences, template, data.preference_weight, data.feedback)
        tasks |= {each.group: each.chosen.task for each in preferences}
        problems += bad + settled.problems
        notices = [*notices, *settled.notices]
        left_out.update(settled.left_out)
        if runs_in_parallel(config):
            kept_human = [example for example in human if example.signal is None]
            left_out["feedback, which trains in one process"] += len(human) - len(kept_human)
            human = kept_human
    feedback = Counter(example.signal for example in human if example.signal is not None)
    try:
        critic, policy = examples_of(config, dialogues, template)
    except UsageFault as none:
        if not feedback or method.preferences != "alone":
            raise
        critic, policy = [], []
        notices = [*notices, f"{none} The run learns from feedback alone."]

    turns = [turn for dialogue in dialogues for turn in dialogue.turns]
    counts: dict[str, Any] = {
        "tasks": len({dialogue.task for dialogue in dialogues}),
        "trajectories": len(dialogues),
        "successes": sum(dialogue.reward == 1 for dialogue in dialogues),
        "turns": len(turns),
        "turns_as_sampled": sum(turn.sampled for turn in turns),
        "turns_of_another_tokenizer": sum(turn.foreign for turn in turns),
        "tokens": sum(len(turn.ids) for turn in turns),
        "preferences": len(human) - feedback.total(),
        "feedback": dict(feedback),
    }
    kept = []
    for stage, group, examples, longest in [
        ("critic", "critic", critic, config.critic.max_tokens),
        ("policy", method.policy, policy + human, policy_settings(config).max_tokens),
    ]:
        short, dropped = drop_long(examples, longest)
        if examples and not short:
            raise UsageFault(f"All {len(examples)} examples are longer than {group}.max_tokens ({longest:,}).")
        if dropped:
            left_out[f"too long for the {stage}"] += dropped
        kept.append(short)
    pools = [{task_of_example(example, tasks) for example in examples} for examples in (*kept, human)]
    if method.candidates:
        pools.append({dialogue.task for dialogue in first_of(dialogues, config.candidates.trajectories)})
    apart = held_out_tasks(pools, data.held_out, config.seed)
    packs, to_play = _read_packs(config, problems) if data.tasks else (b"", {})
    prepared = Prepared(config, dialogues, *kept, tasks, apart, problems, notices, counts, packs, to_play)
    if plays_values(config):
        wanted = {dialogue.task for dialogue in first_of(dialogues, config.candidates.trajectories)}
        prepared.valued_tasks = played_tasks(data.trajectories, wanted, config.critic.simulator)
    for name, examples in zip(("critic", "policy"), kept, strict=True):
        train, held_out = prepared.split(examples)
        counts[name] = {"train": len(train), "held_out": len(held_out)}
    counts["left_out"] = dict(+left_out)
    counts["bad_lines"] = len(problems)
    return prepared


def _to_play(config: RunConfig) -> Prepared:
    """`tandem serve` reads the packs itself. Errors: UsageFault when there is no task."""
    problems: list[Problem] = []
    packs, ids = _read_packs(config, problems)
    apart = held_out_tasks([set(ids)], config.data.held_out, config.seed)
    none = (
        "trajectories",
        "successes",
        "turns",
        "turns_as_sampled",
        "turns_of_another_tokenizer",
        "tokens",
        "preferences",
    )
    counts = {
        **dict.fromkeys(none, 0),
        "feedback": {},
        "tasks": len(ids),
        "critic": {"train": 0, "held_out": 0},
        "policy": {"train": len(ids) - len(apart), "held_out": len(apart)},
        "left_out": {},
        "bad_lines": len(problems),
    }
    return Prepared(config, [], [], [], {}, apart, problems, [], counts, packs, ids)


def _read_packs(config: RunConfig, problems: list[Problem]) -> tuple[bytes, dict[str, str | None]]:
    """Returns a hash of the packs, and the hidden information of each task by its id. Errors: UsageFault for none."""
    found: dict[str, str | None] = {}
    digest = hashlib.sha256()
    for file in map(Path, config.data.tasks):
        for number, row in json_lines(file, problems):
            try:
                task = task_of(row)
                if is_page(task):
                    raise UsageFault(
                        f"{file}:{number} is a web page, which {config.method} cannot play yet: its reward is the "
                        "tests passed; leave pages out, or train on collected dialogues by another method."
                    )
                hidden = task.get("hidden_information") or task.get("ground_truth")
                found[task.get("id") or content_id(task)] = hidden
            except BadRow as bad:
                problems.append(Problem(str(file), number, str(bad)))
        digest.update(file.read_bytes())
    if not found:
        raise UsageFault(f"There is no task to play in {', '.join(config.data.tasks)}.")
    return digest.digest(), found


def within_context(config: RunConfig, context: int | None) -> RunConfig:
    """The model was not trained on positions beyond its context."""
    if context is None:
        return config
    groups = {"critic", "policy", method_of(config).policy}
    stages = {name: getattr(config, name) for name in sorted(groups)}
    return replace(
        config, **{name: replace(stage, max_tokens=min(stage.max_tokens, context)) for name, stage in stages.items()}
    )


def task_of_example(example: Example, tasks: dict[str, str]) -> str:
    """The group of an example is a task, a preference, or `<dialogue>/<turn>`."""
    return tasks.get(example.group) or tasks.get(example.group.rpartition("/")[0]) or example.group


# ---- examples, by what the method learns from


def examples_of(
    config: RunConfig, dialogues: Sequence[Dialogue], template: Template
) -> tuple[list[Example], list[Example]]:
    """Returns the examples of critic and policy, without those of candidates to come. dialogues: settled.

    Errors: UsageFault when there is nothing to learn from.
    """
    method, data = method_of(config), config.data
    if method.critic:
        if not trains_critic(config):
            return [], []
        read = partial(template.all_turns, hidden=config.critic.hidden_information)
        if config.critic.score == "value-head":
            return returns(dialogues, read), []
        return trajectory_pairs(dialogues, read, data.pairing, data.pair_margin), []
    if not dialogues:  # then there are human preferences
        return [], []
    if method.learns_from == "successes":
        return [], imitation(dialogues, template.all_turns, config.policy.minimum_reward)
    if method.learns_from == "pairs":
        return [], trajectory_pairs(dialogues, template.all_turns, data.pairing, data.pair_margin)
    if config.method == "distill":
        return [], taught(dialogues, template, config.distill.target)
    return [], returns(dialogues, template.all_turns)


# ---- tasks of logged dialogues, with their hidden tests, for a run that plays on from those dialogues


def played_tasks(files: Iterable[str | Path], wanted: Collection[str], simulator: str) -> dict[str, dict]:
    """Returns the rows of a pack by the ids of their tasks.

    wanted: ids of tasks. simulator: as for `tandem serve`. Errors: UsageFault when a task cannot be played.
    """
    found: dict[str, dict] = {}
    for file in files:
        for _, row in json_lines(Path(file), []):
            try:
                task = task_of(row)
                id = task_id(task, object_of(row, "tandem"))
            except BadRow:
                continue  # its dialogue was left out and reported
            if id in wanted and id not in found:
                found[id] = {**task, "id": id}
    pages = [id for id, task in found.items() if is_page(task)]
    untested = [id for id in wanted if not found.get(id, {}).get("test_cases")]
    unanswered = [id for id, task in found.items() if not task.get("facts")]
    if pages:
        raise _refused("score", "are web pages, which are scored by a critic: choose another score", pages, wanted)
    if untested:
        raise _refused(
            "score", "have no tests in their rows, by which answers are graded: choose another score", untested, wanted
        )
    if simulator == "rules" and unanswered:
        raise _refused("simulator", "have no facts, from which rules reply: name a model", unanswered, wanted)
    return found


def _refused(field: str, why: str, ids: Collection[str], wanted: Collection[str]) -> Fault:
    whose = f"{len(ids)} of {counted(len(wanted), 'task')} whose candidates are ranked (such as {min(ids)})"
    return UsageFault(f"critic.{field}: {whose} {why}, or leave their dialogues out.")
