"""Draws earlier dialogues that are trained on again beside new ones, so that what they taught is not forgotten."""

from dataclasses import replace

from .batch_order import lot
from .dialogue import Read, counted
from .pairs import by_task


def replayed(new: Read, earlier: Read, share: float, seed: int) -> Read:
    """Returns the new dialogues and then the drawn ones, which are `share` of all if there are as many.

    Dialogues of a task are drawn together, because pairs are made of them. One that is also new is new, and rewards
    of another measure are left out.
    """
    known = {dialogue.id for dialogue in new.dialogues}
    measures = {dialogue.measure for dialogue in new.dialogues}
    unknown = [dialogue for dialogue in earlier.dialogues if dialogue.id not in known]
    fitting = [dialogue for dialogue in unknown if dialogue.measure in measures]
    wanted = round(share / (1 - share) * len(new.dialogues))
    tasks = by_task(fitting)
    drawn: list[int] = []
    for task in sorted(tasks, key=lambda task: lot(seed, "replay", task)):
        drawn += tasks[task][: wanted - len(drawn)]
    left_out = earlier.left_out.copy()
    left_out["earlier, of another measure"] += len(unknown) - len(fitting)
    notice = (
        f"Of {counted(len(fitting), 'earlier dialogue')}, {len(drawn)} are replayed beside {len(new.dialogues)} new "
        "ones (data.replay)."
    )
    return Read(
        new.dialogues + [replace(fitting[index], replayed=True) for index in sorted(drawn)],
        new.problems + earlier.problems,
        new.left_out + left_out,
        [*new.notices, *earlier.notices, notice],
    )
