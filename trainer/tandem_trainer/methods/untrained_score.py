"""The control of SWEET-RL's critic: what the base model says of a turn, without any training."""

from collections.abc import Callable, Sequence

from ..data.dialogue import Dialogue
from ..data.template import Template
from ..losses import Convention, trajectory_advantage
from ..run.objective import ordered
from ..run.reference_cache import ReferenceCache
from ..turn import Example, Turn
from .sweet_rl_config import CriticConfig


class UntrainedScore:
    """The untrained score of a turn: how much more probable the hidden information makes it, without any training.

    Its accuracy on the critic's held-out pairs is the control: only accuracy above it is the effect of training.

    dialogues: settled, including those of the pairs. settings: the critic's; turns are summed by its rules.
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

    def measure(self, pairs: Sequence[Example], progress: Callable[[int, int], None] | None = None) -> dict[str, float]:
        """Returns the `accuracy` over the pairs, computed as the critic's, and their number.

        pairs: as the critic reads them, with computed reference scores. The result is empty when a pair has no hidden
        information or is too long with it: on other pairs than the critic's the figure would be meaningless.
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
        """Returns each dialogue's turns in the view that the critic does not use; None when one lacks it."""
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
        """Sums log π_ref(a|o,c) − log π_ref(a|o) over the turns of a trajectory, as the critic sums advantages."""
        told, plain = (seen, other) if self.settings.hidden_information else (other, seen)
        return trajectory_advantage(
            self.reference.of(told), self.reference.of(plain), self.settings.length_normalisation, self.convention
        )
