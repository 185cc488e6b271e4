"""Chooses the training examples (pairs of trajectories for the critic and multi-turn DPO, single ones otherwise) and
the held-out tasks.

`read` makes the turns of dialogues (`Template.all_turns`). That takes time, so only dialogues that become part of an
example are read, in their order.
"""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from ..config import DataConfig, FeedbackConfig, Pairing
from ..fault import UsageFault
from ..turn import Example, Turn
from .batch_order import lot
from .dialogue import Dialogue, Read, counted
from .rows import Preference
from .template import Template
from .tokenize_turns import settle

ReadTurns = Callable[[Sequence[Dialogue]], Sequence[tuple[Turn, ...]]]

PAGE_MARGIN = 0.1  # cosine similarity, of the paper's pairs of pages (arXiv 2503.15478, appendix)
ROUNDING = 1e-9  # 0.7 − 0.6 is a little less than 0.1
MISMATCHED = 2  # turns of other histories behind the history of a turn without a pair


def trajectory_pairs(
    dialogues: Sequence[Dialogue], read: ReadTurns, pairing: Pairing, margin: float | None = None
) -> list[Example]:
    """Makes pairs of trajectories of one task, the better one chosen; `group` is the task.

    A fork is paired with its parent only, from the turn where they part: in another pair, turns that it shares with the
    parent would count twice.

    paper: of functions, the first trajectory of reward 1 of each task against every lower one of the task
        (arXiv 2503.15478, as the reference code pairs them); of pages, whose score is seldom 1, as `all`.
    successes: each trajectory of reward 1 against every lower one of its task.
    all: every two trajectories of a task.
    margin: a lower reward is lower by at least this; None: 0.1 for pages, as in the paper, and anything for functions.
    Raises Fault when there is no pair, with what to collect.
    """
    pairs: list[tuple[int, int]] = []
    for members in by_task(dialogues).values():
        page = dialogues[members[0]].is_page
        every = pairing == "all" or (pairing == "paper" and page)
        members = [index for index in members if dialogues[index].parent is None]
        better = [index for index in members if every or dialogues[index].reward == 1]
        for chosen in better[:1] if pairing == "paper" and not every else better:
            pairs += [(chosen, index) for index in members if is_lower(dialogues[index], dialogues[chosen], margin)]
    starts: dict[tuple[int, int], tuple[int, int]] = {}
    for pair, start in fork_pairs(dialogues):
        chosen, rejected = dialogues[pair[0]], dialogues[pair[1]]
        every = pairing == "all" or chosen.is_page
        if (every or chosen.reward == 1) and is_lower(rejected, chosen, margin):
            pairs.append(pair)
            starts[pair] = start
    if not pairs:
        raise UsageFault(why_no_pairs(dialogues, pairing, margin))
    turns = _turns(dialogues, read, {index for pair in pairs for index in pair})
    return [
        Example(
            dialogues[chosen].task,
            turns[chosen][starts.get((chosen, rejected), (0, 0))[0] :],
            turns[rejected][starts.get((chosen, rejected), (0, 0))[1] :],
            dialogues=(dialogues[chosen].id, dialogues[rejected].id),
        )
        for chosen, rejected in pairs
    ]


def fork_pairs(dialogues: Sequence[Dialogue]) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yields each fork that parts at a message, with its parent, the better one first, and where their turns begin."""
    places = {dialogue.id: index for index, dialogue in enumerate(dialogues)}
    for index, fork in enumerate(dialogues):
        at = None if fork.parent is None or fork.parent.by == "reply" else places.get(fork.parent.id)
        if at is None:
            continue
        parent = dialogues[at]
        start = fork.parent.turn - (0 if parent.parent is None else parent.parent.inherited)
        if parent.reward > fork.reward:
            yield (at, index), (start, 0)
        else:
            yield (index, at), (0, start)


def is_lower(lower: Dialogue, better: Dialogue, margin: float | None) -> bool:
    least = margin_of(better, margin)
    return lower.reward < better.reward and better.reward - lower.reward >= least - ROUNDING


def margin_of(dialogue: Dialogue, margin: float | None) -> float:
    if margin is not None:
        return margin
    return PAGE_MARGIN if dialogue.is_page else 0.0


def _turns(dialogues: Sequence[Dialogue], read: ReadTurns, indices: Iterable[int]) -> dict[int, tuple[Turn, ...]]:
    some = sorted(indices)
    return dict(zip(some, read([dialogues[index] for index in some]), strict=True))


def why_no_pairs(dialogues: Sequence[Dialogue], pairing: str, margin: float | None = None) -> str:
    tasks = by_task(dialogues)
    several = sum(len(members) > 1 for members in tasks.values())
    successes = sum(dialogue.reward == 1 for dialogue in dialogues)
    least = max((margin_of(dialogue, margin) for dialogue in dialogues), default=0.0)
    advice = "collect several rollouts of each task, until some go better than others"
    if least > 0:
        advice += f", or lower data.pair_margin if their rewards differ by less than {least:g}"
    elif successes == 0 and pairing != "all":
        advice = 'collect from a stronger agent, or set data.pairing to "all"'
    return (
        "No pair of a better and a worse trajectory of one task can be made of "
        f"{counted(len(dialogues), 'trajectory', 'trajectories')} of {counted(len(tasks), 'task')}, {several} of them "
        f"played more than once, with {counted(successes, 'success', 'successes')}; {advice}."
    )


def imitation(dialogues: Sequence[Dialogue], read: ReadTurns, minimum_reward: float) -> list[Example]:
    """Uses trajectories with at least the given reward; of each page only the best one, the first of equals.

    A minimum of 1, the default, is a success, which a page seldom is: then the best one is used whatever its score,
    unless that is 0. Raises Fault when there is none.
    """
    good = [index for index, dialogue in enumerate(dialogues) if dialogue.reward >= minimum_reward]
    if dialogues and dialogues[0].is_page:
        least = ROUNDING if minimum_reward >= 1 else max(minimum_reward, ROUNDING)
        best = [max(members, key=lambda index: dialogues[index].reward) for members in by_task(dialogues).values()]
        good = sorted(index for index in best if dialogues[index].reward >= least)
    if not good:
        best = max((dialogue.reward for dialogue in dialogues), default=0.0)
        raise UsageFault(
            f"None of {counted(len(dialogues), 'trajectory', 'trajectories')} has a reward of {minimum_reward:g} or "
            f"more, the best has {best:g}; collect more rollouts of each task or lower policy.minimum_reward."
        )
    turns = _turns(dialogues, read, good)
    return [Example(dialogues[index].task, turns[index], replayed=dialogues[index].replayed) for index in good]


def returns(dialogues: Sequence[Dialogue], read: ReadTurns) -> list[Example]:
    """The reward of each trajectory is the target of a value head."""
    return [
        Example(dialogue.task, of_dialogue, target=dialogue.reward, dialogues=(dialogue.id,))
        for dialogue, of_dialogue in zip(dialogues, read(dialogues), strict=True)
    ]


def preference_examples(
    preferences: Sequence[Preference],
    template: Template,
    weight: float = DataConfig.preference_weight,
    feedback: FeedbackConfig | None = None,
) -> tuple[list[Example], Read]:
    """Those with one history share a `group`. One is left out when a side is; the second result has the reasons.

    weight: of a choice that names no signal; those that do have a weight in `feedback`, and are left out if it is 0.
    """
    feedback = feedback or FeedbackConfig()
    weights = [weight if each.signal is None else getattr(feedback, each.signal) for each in preferences]
    used = [(each, weight) for each, weight in zip(preferences, weights, strict=True) if weight > 0 or not each.signal]
    settled = settle(template, [side for each, _ in used for side in (each.chosen, each.rejected) if side is not None])
    if len(used) < len(preferences):
        settled.left_out["of weight 0 in data.feedback"] = len(preferences) - len(used)
    ids = [dialogue.id for dialogue in settled.dialogues]
    turns = dict(zip(ids, template.all_turns(settled.dialogues), strict=True))
    examples = []
    for each, scale in used:
        sides = [side.id for side in (each.chosen, each.rejected) if side is not None]
        if not all(side in turns for side in sides):
            continue
        target = None
        if each.desirability is not None:
            target = return_of(each.desirability, each.questions, feedback.question_price)
        said = {"target": target, "weight": scale, "signal": each.signal}
        examples.append(Example(each.group, *(turns[side] for side in sides), **said))
    return with_mismatched(examples), settled


def return_of(outcome: float, questions: int, price: float) -> float:
    """Computes the return from a turn on: what became of the answer, less a price for each question still asked.

    outcome: 1 for an accepted answer, the kept share of an edited one, 0 for a rejected one. questions: asked from this
    turn on, itself included.
    """
    return outcome - price * questions


def with_mismatched(examples: Sequence[Example]) -> list[Example]:
    """Gives turns without a pair the next turns of other histories as `samples`, by which KTO has its z₀."""
    single = [number for number, example in enumerate(examples) if example.target is not None]
    made = list(examples)
    for place, number in enumerate(single):
        (turn,) = examples[number].chosen
        others = (examples[other] for other in single[place + 1 :] + single[:place])
        foreign = [other.chosen[0].response for other in others if other.group != examples[number].group]
        samples = tuple(Turn(turn.prompt, response) for response in foreign[:MISMATCHED])
        made[number] = replace(examples[number], samples=samples)
    return made


def by_task(dialogues: Sequence[Dialogue]) -> dict[str, list[int]]:
    """Returns the indices of each task's trajectories, in the order of first appearance."""
    tasks: dict[str, list[int]] = {}
    for index, dialogue in enumerate(dialogues):
        tasks.setdefault(dialogue.task, []).append(index)
    return tasks


def first_of(dialogues: Sequence[Dialogue], fraction: float) -> list[Dialogue]:
    """Returns the first `fraction` of the dialogues, at least one; the paper samples candidates for a tenth only.

    The first dialogues of every task come first, then the second ones, and so on: a policy that learns to ask must see
    many tasks, and a log may list the dialogues of one task together.
    """
    count = math.ceil(fraction * len(dialogues))
    places = [(number, index) for members in by_task(dialogues).values() for number, index in enumerate(members)]
    return [dialogues[index] for index in sorted(index for _, index in sorted(places)[:count])]


def held_out_tasks(pools: Sequence[Collection[str]], held_out: float, seed: int) -> frozenset[str]:
    """Draws the tasks that no stage trains on: a policy must not be measured on tasks that its critic was taught.

    pools: for each stage the tasks that it has examples of; they may overlap.
    The fraction `held_out` of each pool is drawn, at least one of two tasks or more unless `held_out` is 0. A task
    drawn for one pool counts for the others, and no pool loses its last task. The choice depends on the tasks' ids
    and the seed, not on their order.
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
    """Drops examples with a turn of more than `max_tokens`, history included; also returns how many were dropped.

    An example is dropped whole: a trajectory that lacks a turn, above all its answer, is not the one that was graded.
    """
    kept = [example for example in examples if longest(example) <= max_tokens]
    return kept, len(examples) - len(kept)


def longest(example: Example) -> int:
    return max(len(turn.prompt) + len(turn.response) for turn in (*example.turns, *example.taught))
