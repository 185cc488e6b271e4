"""Which trajectories teach what: pairs for the critic and multi-turn DPO, single ones for the others; and which
tasks are held out.

Everywhere `read` makes the turns of dialogues as the model in question reads them (`Template.all_turns`), which takes
time, so that only those are read of which an example is made. The order of the dialogues is kept.
"""

import math
from collections.abc import Callable, Collection, Iterable, Sequence

from ..config import DataConfig, Pairing
from ..fault import Fault
from ..turn import Example, Turn
from .dialogue import Dialogue, counted
from .order import lot
from .rows import Preference
from .settle import Settled, settle
from .template import Template

Read = Callable[[Sequence[Dialogue]], Sequence[tuple[Turn, ...]]]


def trajectory_pairs(dialogues: Sequence[Dialogue], read: Read, pairing: Pairing) -> list[Example]:
    """Pairs of trajectories of one task, the better one chosen; `group` is the task.

    paper: of each task that has a trajectory of reward 1, the first such one against every strictly lower one
        (arXiv 2503.15478, as the reference code pairs them).
    successes: each trajectory of reward 1 against every strictly lower one of its task.
    all: every two trajectories of a task of which one has the strictly higher reward.
    Raises Fault when there is no pair, with what to collect.
    """
    pairs: list[tuple[int, int]] = []
    for members in by_task(dialogues).values():
        better = [index for index in members if pairing == "all" or dialogues[index].reward == 1]
        for chosen in better[:1] if pairing == "paper" else better:
            lower = [index for index in members if dialogues[index].reward < dialogues[chosen].reward]
            pairs += [(chosen, rejected) for rejected in lower]
    if not pairs:
        raise Fault(why_no_pairs(dialogues, pairing), usage=True)
    turns = _turns(dialogues, read, {index for pair in pairs for index in pair})
    return [
        Example(
            dialogues[chosen].task,
            turns[chosen],
            turns[rejected],
            dialogues=(dialogues[chosen].id, dialogues[rejected].id),
        )
        for chosen, rejected in pairs
    ]


def _turns(dialogues: Sequence[Dialogue], read: Read, indices: Iterable[int]) -> dict[int, tuple[Turn, ...]]:
    """The turns of the dialogues at `indices`, by these."""
    some = sorted(indices)
    return dict(zip(some, read([dialogues[index] for index in some]), strict=True))


def why_no_pairs(dialogues: Sequence[Dialogue], pairing: str) -> str:
    tasks = by_task(dialogues)
    several = sum(len(members) > 1 for members in tasks.values())
    successes = sum(dialogue.reward == 1 for dialogue in dialogues)
    have = (
        f"{counted(len(dialogues), 'trajectory', 'trajectories')} of {counted(len(tasks), 'task')}, {several} of them "
        f"played more than once, with {counted(successes, 'success', 'successes')}"
    )
    if several == 0:
        advice = "collect several rollouts of each task"
    elif successes == 0 and pairing != "all":
        advice = 'collect from a stronger agent, or set data.pairing to "all"'
    else:
        advice = "collect more rollouts of each task, until some go better than others"
    return f"No pair of a better and a worse trajectory of one task can be made of {have}; {advice}."


def imitation(dialogues: Sequence[Dialogue], read: Read, minimum_reward: float) -> list[Example]:
    """Trajectories to be imitated: those with at least the reward. Raises Fault when there is none."""
    good = [index for index, dialogue in enumerate(dialogues) if dialogue.reward >= minimum_reward]
    if not good:
        best = max((dialogue.reward for dialogue in dialogues), default=0.0)
        raise Fault(
            f"None of {counted(len(dialogues), 'trajectory', 'trajectories')} has a reward of {minimum_reward:g} or "
            f"more, the best has {best:g}; collect more rollouts of each task or lower policy.minimum_reward.",
            usage=True,
        )
    turns = _turns(dialogues, read, good)
    return [Example(dialogues[index].task, turns[index]) for index in good]


def returns(dialogues: Sequence[Dialogue], read: Read) -> list[Example]:
    """Every trajectory with the reward that it got, for a value head."""
    return [
        Example(dialogue.task, of_dialogue, target=dialogue.reward)
        for dialogue, of_dialogue in zip(dialogues, read(dialogues), strict=True)
    ]


def preference_examples(
    preferences: Sequence[Preference], template: Template, weight: float = DataConfig.preference_weight
) -> tuple[list[Example], Settled]:
    """Preferences between ways to go on, each as the turns of both sides; `group` is the same for one history.

    A preference of which one side is left out is left out; what was left out is told as well.
    """
    settled = settle(template, [side for each in preferences for side in (each.chosen, each.rejected)])
    ids = [dialogue.id for dialogue in settled.dialogues]
    turns = dict(zip(ids, template.all_turns(settled.dialogues), strict=True))
    examples = [
        Example(each.group, turns[each.chosen.id], turns[each.rejected.id], weight=weight)
        for each in preferences
        if each.chosen.id in turns and each.rejected.id in turns
    ]
    return examples, settled


def by_task(dialogues: Sequence[Dialogue]) -> dict[str, list[int]]:
    """The indices of each task's trajectories; tasks in the order of their first."""
    tasks: dict[str, list[int]] = {}
    for index, dialogue in enumerate(dialogues):
        tasks.setdefault(dialogue.task, []).append(index)
    return tasks


def first_of(dialogues: Sequence[Dialogue], fraction: float) -> list[Dialogue]:
    """The first `fraction` of them, at least one: the paper samples candidates for the first tenth only.

    First are the first ones of every task, then the second ones, and so on: a policy that learns to ask has to see many
    tasks, and of a log that lists the dialogues of a task together a tenth would have but a tenth of these.
    """
    count = math.ceil(fraction * len(dialogues))
    places = [(number, index) for members in by_task(dialogues).values() for number, index in enumerate(members)]
    return [dialogues[index] for index in sorted(index for _, index in sorted(places)[:count])]


def held_out_tasks(pools: Sequence[Collection[str]], held_out: float, seed: int) -> frozenset[str]:
    """The tasks that no stage trains on: a policy must not be measured on tasks that its critic was taught.

    pools: for each stage the tasks that it has examples of; they may overlap.
    Of each pool the fraction `held_out` is drawn, of two tasks or more at least one, unless `held_out` is 0; what was
    drawn for one pool counts for the others, and no pool loses its last task. Which tasks these are depends on their
    ids and the seed, whatever order they come in.
    """
    pools = [frozenset(pool) for pool in pools if pool]
    apart: frozenset[str] = frozenset()
    for pool in pools:
        count = 0 if held_out == 0 else max(1, round(held_out * len(pool)))
        for task in sorted(pool - apart, key=lambda each: lot(seed, "held out", each)):
            if len(pool & apart) < count and not any(other <= apart | {task} for other in pools):
                apart |= {task}
    return apart


def drop_long(examples: Sequence[Example], max_tokens: int) -> tuple[list[Example], int]:
    """Leaves out examples with a turn of more than `max_tokens`, history included; also says how many.

    An example is left out whole: a trajectory that lacks a turn, above all its answer, is not the one that was graded.
    """
    kept = [example for example in examples if longest(example) <= max_tokens]
    return kept, len(examples) - len(kept)


def longest(example: Example) -> int:
    """Tokens of the longest turn with its history."""
    return max(len(turn.prompt) + len(turn.response) for turn in example.turns)
