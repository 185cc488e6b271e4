"""Reads what a reward measures, and keeps rewards of different measures apart: tests, and those of pages."""

from collections import Counter
from collections.abc import Sequence

from ..fault import UsageFault
from .dialogue import TESTS, Dialogue, Measure
from .json_rows import BadRow, is_page, object_of


def page_grade(task: dict, tandem: dict, turns: int) -> tuple[Measure, tuple[tuple[int, float], ...] | None]:
    """Returns what the reward measures, and the score of each draft by its turn from 0. turns: their number."""
    if not is_page(task) and "page" not in tandem:
        return TESTS, None
    page = object_of(tandem, "page")
    if not page:
        return Measure(None), None
    version, drafts = page.get("version"), page.get("drafts")
    if not isinstance(version, int | None) or not isinstance(page.get("measure"), str):
        raise BadRow("The fields measure and version of tandem.page must be a text and a whole number.")
    for name, value in (("renderer", page.get("renderer")), ("grading_mode", tandem.get("grading_mode"))):
        if not isinstance(value, str | None):
            raise BadRow(f"The field {name} of tandem must be a text.")
    measure = Measure(page["measure"], version, tandem.get("grading_mode"), page.get("renderer"))
    if drafts is None:
        return measure, None
    scores = [draft_of(draft, turns) for draft in drafts] if isinstance(drafts, list) else [None]
    numbers = [score[0] for score in scores if score is not None]
    if None in scores or numbers != sorted(set(numbers)):
        raise BadRow(f"tandem.page.drafts must be a list of turns from 1 to {turns} in order, each with its score.")
    return measure, tuple(score for score in scores if score is not None)


def draft_of(draft: object, turns: int) -> tuple[int, float] | None:
    if not isinstance(draft, dict):
        return None
    turn, score = draft.get("turn"), draft.get("score")
    known = type(turn) in (int, float) and turn == turn // 1 and 1 <= turn <= turns
    return (int(turn) - 1, float(score)) if known and type(score) in (int, float) else None


def why_unwanted(measure: Measure, name: str | None, renderer: str | None) -> str | None:
    """name, renderer: as `data.measure` and `data.renderer`. None for a dialogue that is taken."""
    if name is not None and name not in (measure.name, f"{measure.name} {measure.version}"):
        return "of another measure"
    if renderer is not None and measure.renderer not in (None, renderer):
        return "drawn by another renderer"
    return None


def require_one_measure(dialogues: Sequence[Dialogue]) -> None:
    """Raises Fault when the rewards are of several measures, with the setting that chooses one."""
    counts = Counter(dialogue.measure for dialogue in dialogues)
    if len(counts) < 2:
        return
    listed = ", ".join(f"{count:,} by {measure}" for measure, count in counts.most_common())
    raise UsageFault(
        f"The rewards of the {len(dialogues):,} dialogues are of different measures, which are never compared: "
        f"{listed}; {_remedy(list(counts))}."
    )


def _remedy(measures: Sequence[Measure]) -> str:
    if any(measure.name is None for measure in measures):
        return "leave out the rows that do not say their measure"
    for setting, values in (
        ("measure", {measure.name for measure in measures}),
        ("measure", {f"{measure.name} {measure.version}" for measure in measures}),
        ("renderer", {measure.renderer for measure in measures}),
    ):
        if len(values) > 1:
            return f"set data.{setting} to " + " or ".join(f'"{value}"' for value in sorted(map(str, values)))
    return "leave out the rows of one grading mode"
