"""The control beside a critic: how often the untrained model has the pairs in order on which the critic is measured.

The untrained score of a turn is how much more probable the hidden information makes it, without any training
(`ranking.py`). A critic owes to its training what it has in order beyond that.
"""

from collections.abc import Callable, Sequence

from ..config import CriticConfig
from ..data.dialogue import Dialogue
from ..data.template import Template
from ..turn import Example, Turn
from .losses import Convention, trajectory_advantage
from .objective import ordered
from .reference_cache import ReferenceCache

Figures = dict[str, float]


class UntrainedScore:
    """What nothing trains: the reference with the hidden information against the reference without it.

    dialogues: settled, among them those of which the pairs were made. settings: those of the critic, whose rules of
    adding up turns the control follows.
    """

    def __init__(
        self,
        settings: CriticConfig,
        convention: Convention,
        reference: ReferenceCache,
        template: Template,
        dialogues: Sequence[Dialogue],
    ):
        self.settings, self.convention = settings, convention
        self.reference, self.template, self.dialogues = reference, template, dialogues

    def measure(self, pairs: Sequence[Example], progress: Callable[[int, int], None] | None = None) -> Figures:
        """`accuracy` over the pairs, as that of the critic, and how many these are.

        pairs: as the critic reads them, their reference scores computed. Empty where one of them has no hidden
        information, or is too long with it: over other pairs than the critic's the figure would say nothing.
        """
        other = self._other_view(pairs)
        if other is None:
            return {}
        self.reference.compute([turn for turns in other.values() for turn in turns], progress)
        right = 0.0
        for pair in pairs:
            better, worse = (
                self._advantage(seen, other[id])
                for seen, id in zip((pair.chosen, pair.rejected), pair.dialogues, strict=True)
            )
            right += float(ordered(better, worse))
        return {"accuracy": right / len(pairs), "examples": len(pairs)}

    def _other_view(self, pairs: Sequence[Example]) -> dict[str, tuple[Turn, ...]] | None:
        """The turns of each dialogue as the critic does not read them; None where not all can be read so."""
        hidden = not self.settings.hidden_information
        wanted = {id for pair in pairs for id in pair.dialogues}
        some = [dialogue for dialogue in self.dialogues if dialogue.id in wanted]
        if not some or (hidden and any(dialogue.hidden_information is None for dialogue in some)):
            return None
        views = self.template.all_turns(some, hidden=hidden)
        if any(len(turn.prompt) + len(turn.response) > self.settings.max_tokens for turns in views for turn in turns):
            return None
        return dict(zip([dialogue.id for dialogue in some], views, strict=True))

    def _advantage(self, seen: Sequence[Turn], other: Sequence[Turn]):
        """Of a trajectory: Σ_t of log π_ref(a|o,c) − log π_ref(a|o), added up as the critic's advantages are."""
        told, plain = (seen, other) if self.settings.hidden_information else (other, seen)
        return trajectory_advantage(
            self.reference.of(told), self.reference.of(plain), self.settings.length_normalisation, self.convention
        )
