"""Stage 2 of SWEET-RL, first half: several turns that the policy might have taken at each history.

They are sampled from the live policy, shard by shard. A shard is a file that is whole or not there, and its content
depends on its histories, the settings, the seed and the policy's weights: not on what ran before, how often the run was
stopped, or how many processes share the work. Only where memory ran out before, fewer turns are written at once, and
others come out. What is sampled is kept as token ids with their log-probabilities.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..config import CandidatesConfig
from ..data.dialogue import Dialogue, Messages
from ..data.order import lot
from ..data.template import Template
from ..fault import Fault
from ..model.base import Base
from ..objective.reference_cache import name_of
from ..objective.scoring import score
from ..running.budget import TokenBudget
from ..running.disk import reason
from ..running.stop import Stopped
from ..running.whole_file import make_missing
from ..turn import Turn
from .sampler import Sampler

SHARD = 16  # histories of one file


@dataclass(frozen=True, eq=False)
class History:
    """What came before one turn of a trajectory, o_t.

    group:          "<trajectory>/<turn>", turns counted from 0.
    prompt:         (P,) int32, as the agent reads it: what is sampled from and trained on.
    hidden_prompt:  (P',) int32, with the hidden information c in front, for the critic's eyes only; None without c.
    messages:       what the prompt says, for people.
    logged:         (L,) int32, the turn that was logged, when it stands among the candidates.
    """

    group: str
    prompt: np.ndarray
    hidden_prompt: np.ndarray | None
    messages: Messages = ()
    logged: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Candidates:
    """Turns sampled at one history, and behind them the logged one where it has it; their prompt is the history's."""

    history: History
    turns: tuple[Turn, ...]
    texts: tuple[str, ...]


def histories(
    dialogues: Sequence[Dialogue], template: Template, settings: CandidatesConfig | None = None
) -> list[History]:
    """Every history of settled dialogues, in order: those of one dialogue share most of their tokens.

    settings: whether the logged turns stand among the candidates; without them they do not.
    """
    seen = template.all_turns(dialogues)
    found = []
    for dialogue, turns in zip(dialogues, seen, strict=True):
        known = dialogue.hidden_information is not None
        told = template.turns(dialogue, hidden=True) if known else (None,) * len(turns)
        for number, (spoken, turn, hidden) in enumerate(zip(dialogue.turns, turns, told, strict=True)):
            before = dialogue.messages[: spoken.position]
            wanted = settings is not None and settings.with_logged and len(turn.response) <= settings.max_new_tokens
            group, told_prompt = f"{dialogue.id}/{number}", hidden.prompt if hidden else None
            found.append(History(group, turn.prompt, told_prompt, before, turn.response if wanted else None))
    return found


class Shards:
    """The candidates of one round, in `<run>/candidates/<round>-<shard>-<key>.jsonl`; rounds are counted from 1.

    The key stands for prompts, seed and the settings of the sampler, but not for the weights: who trains anew deletes
    the folder.
    stop_ids: the tokens that end a turn.
    shared:   a folder in which runs with the same base look for what others have sampled. Only the first round is:
              before its first step the policy is the base.
    """

    def __init__(
        self,
        run_folder: Path,
        histories: Sequence[History],
        settings: CandidatesConfig,
        stop_ids: Collection[int],
        seed: int,
        round: int = 1,
        shared: Path | None = None,
    ):
        self.shared = shared if round == 1 else None
        self.folder = run_folder / "candidates"
        self.settings, self.stop_ids, self.seed, self.round = settings, frozenset(stop_ids), seed, round
        self.histories = [histories[start : start + SHARD] for start in range(0, len(histories), SHARD)]

    def sample(
        self,
        base: Base,
        budget: TokenBudget,
        progress: Callable[[int, int], None] | None = None,
        *,
        logits_bytes: int = 256 << 20,
    ) -> None:
        """Samples the shards that are not there yet; the policy must be the live adapter of `base`.

        progress: told (done, all) shards after each. With several ranks each samples its part.
        logits_bytes: of the pass that compares the trainer's log-probabilities with the sampler's.
        Errors: Stopped, between two shards; Fault when the disk is full or not one turn fits into memory.
        """
        sampler = Sampler(base, self.settings, self.stop_ids, budget.stop, budget.events)

        def make(number: int | None) -> bytes:
            turns: list[list[Turn]] = []
            stopped = False
            if number is not None:
                try:
                    prompts = [history.prompt for history in self.histories[number]]
                    turns = sampler.sample(prompts, self._seed(number))
                except Stopped:
                    stopped = True
            if budget.ranks.highest(stopped):
                raise Stopped
            differences = self._differences(base, budget, turns, logits_bytes)
            return b"" if number is None else self._lines(number, base, turns, differences)

        shared = self.shared and self.shared / "candidates" / name_of(base)
        paths = [self.path(number) for number in range(len(self))]
        make_missing(paths, make, budget.ranks, progress=progress, shared=shared)

    def read(self, number: int) -> list[Candidates]:
        """The candidates of a shard that has been sampled."""
        found = []
        for history, row in zip(self.histories[number], self._rows(number), strict=True):
            turns = tuple(
                Turn(history.prompt, np.asarray(ids, np.int32), sampled=True, log_probs=np.asarray(said, np.float32))
                for ids, said in zip(row["ids"], row["log_probs"], strict=True)
            )
            if history.logged is not None:
                turns += (Turn(history.prompt, history.logged),)  # whoever sampled it, this policy did not
            found.append(Candidates(history, turns, tuple(row["texts"])))
        return found

    def figures(self) -> dict[str, float]:
        """Of what was sampled for all shards.

        `histories`, `candidates`, `tokens`; `cut`, the candidates that reached the limit without an end;
        `sampler_difference`, the mean over tokens of |log p of the sampler − log p of the trainer|, both at the
        sampler's temperature. With top-p it is not told, because the sampler's figures are then after it.
        """
        total: dict[str, float] = {"histories": 0, "candidates": 0, "tokens": 0, "cut": 0}
        difference = 0.0
        for number in range(len(self)):
            for row in self._rows(number):
                total["histories"] += 1
                total["candidates"] += len(row["ids"])
                total["tokens"] += sum(map(len, row["ids"]))
                total["cut"] += row["cut"]
                difference += row["difference"]
        if self.settings.top_p == 1 and total["tokens"]:
            total["sampler_difference"] = difference / total["tokens"]
        return total

    def path(self, number: int, suffix: str = ".jsonl") -> Path:
        tokens = [history.prompt.tolist() for history in self.histories[number]]
        how = [self.settings.sampled, self.settings.temperature, self.settings.top_p, self.settings.max_new_tokens]
        logged = [history.logged.tolist() for history in self.histories[number] if history.logged is not None]
        content = json.dumps([how, sorted(self.stop_ids), self.seed, tokens, *([logged] if logged else [])])
        return self.folder / f"{self.round}-{number:05d}-{hashlib.sha256(content.encode()).hexdigest()[:12]}{suffix}"

    def __len__(self) -> int:
        return len(self.histories)

    def _seed(self, number: int) -> int:
        return int.from_bytes(lot(self.seed, "candidates", self.round, number)[:7], "big")

    def _differences(self, base: Base, budget: TokenBudget, turns: list[list[Turn]], logits_bytes: int) -> list[float]:
        """For each history the sum over its candidates' tokens. Every rank must call this, as `score` asks."""
        compared = turns if self.settings.top_p == 1 else []
        flat = [turn for of_history in compared for turn in of_history]
        temperature = self.settings.temperature
        scores = iter(score(base, flat, budget, temperature=temperature, logits_bytes=logits_bytes))
        sums = [sum(float(np.abs(next(scores) - turn.log_probs).sum()) for turn in part) for part in compared]
        return sums or [0.0] * len(turns)

    def _lines(self, number: int, base: Base, turns: list[list[Turn]], differences: list[float]) -> bytes:
        lines = []
        for history, of_history, difference in zip(self.histories[number], turns, differences, strict=True):
            ids = [turn.response.tolist() for turn in of_history]
            said = ids if history.logged is None else [*ids, history.logged.tolist()]
            row = {
                "group": history.group,
                "texts": base.tokenizer.batch_decode(said, skip_special_tokens=True),
                "ids": ids,
                "log_probs": [[round(float(said), 6) for said in turn.log_probs] for turn in of_history],
                "cut": sum(turn[-1] not in self.stop_ids for turn in ids),
                "difference": difference,
            }
            lines.append(json.dumps(row, ensure_ascii=False) + "\n")
        return "".join(lines).encode()

    def _rows(self, number: int) -> list[dict]:
        path = self.path(number)
        try:
            return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
        except (OSError, ValueError) as error:
            raise Fault(f"{path} cannot be read ({reason(error)}): delete it and resume the run.") from error
