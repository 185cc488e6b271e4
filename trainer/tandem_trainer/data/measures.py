"""Keeps rewards of different measures apart: tests of functions, and of pages the measure, its mode and renderer."""

from collections import Counter
from collections.abc import Sequence

from ..fault import Fault
from .dialogue import Dialogue, Measure


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
    raise Fault(
        f"The rewards of the {len(dialogues):,} dialogues are of different measures, which are never compared: "
        f"{listed}; {_remedy(list(counts))}.",
        usage=True,
    )


def _remedy(measures: Sequence[Measure]) -> str:
    names = {measure.name for measure in measures}
    versions = {f"{measure.name} {measure.version}" for measure in measures}
    renderers = {measure.renderer for measure in measures}
    if None in names:
        return "leave out the rows that do not say their measure"
    if len(names) > 1:
        return f"set data.measure to {_one_of(names)}"
    if len(versions) > 1:
        return f"set data.measure to {_one_of(versions)}"
    if len(renderers) > 1:
        return f"set data.renderer to {_one_of(renderers)}"
    return "leave out the rows of one grading mode"


def _one_of(values: set[str | None]) -> str:
    return " or ".join(f'"{value}"' for value in sorted(map(str, values)))
