"""The candidates of a round and their scores, kept in files: shards.

A shard is whole or absent, and its content depends on its histories, the settings, the seed and the policy's weights,
but not on earlier shards, interruptions or the number of processes. The exception: after memory ran out, fewer turns
are sampled at once, and the result differs. Another engine may have drawn the tokens of a shard; the trainer then only
compares log-probabilities (`write_drawn`).
"""

import hashlib
import io
import json
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np

from ..config import CandidatesConfig
from ..data.batch_order import lot
from ..fault import Fault
from ..model.base import Base
from ..turn import Candidates, History, Turn
from .budget import TokenBudget, score
from .checkpoint import make_missing
from .disk_space import reason, write_whole
from .reference_cache import name_of
from .sampler import Sampler
from .stop import Stopped

SHARD = 16  # histories of one file
DRAWN = ".drawn.npz"  # how a file ends that holds turns of another engine


class Shards:
    """The candidates of one round, in `<run>/candidates/<round>-<shard>-<key>.jsonl`; rounds are counted from 1.

    The key is a hash of prompts, seed and the sampler's settings, but not of the weights: delete the folder before
    training again.
    stop_ids: the tokens that end a turn.
    shared:   a folder in which runs with the same base share candidates of the first round: before its first step the
              policy equals the base.
    """

    def __init__(
        self,
        run_folder: Path,
        histories: Sequence[History],
        settings: CandidatesConfig,
        stop_ids: Collection[int],
        seed: int,
        round: int = 1,
        shared: str | Path | None = None,
    ):
        self.shared = Path(shared) if shared and round == 1 else None
        self.folder = run_folder / "candidates"
        self.settings, self.stop_ids, self.seed, self.round = settings, frozenset(stop_ids), seed, round
        self.histories = [histories[start : start + SHARD] for start in range(0, len(histories), SHARD)]

    @property
    def all_histories(self) -> list[History]:
        return [history for of_shard in self.histories for history in of_shard]

    def missing(self, name: str | None = None) -> list[int]:
        """Numbers of shards that are not sampled yet, or that lack the scores `name`."""
        paths = [self.path(n) if name is None else self._scores_path(n, name) for n in range(len(self))]
        return [number for number, path in enumerate(paths) if not path.exists()]

    def sample(
        self,
        base: Base,
        budget: TokenBudget,
        progress: Callable[[int, int], None] | None = None,
        numbers: Sequence[int] | None = None,
    ) -> None:
        """Samples the missing shards; the policy must be the live adapter of `base`.

        progress: gets (done, all) after each shard. With several ranks each samples its part.
        numbers: of the shards that are looked at; None for all.
        Errors: Stopped, between two shards; Fault when the disk is full or not one turn fits into memory.
        """
        sampler = Sampler(base, self.settings, self.stop_ids, budget.stop, budget.events, budget.ranks)

        def make(number: int | None) -> bytes:
            prompts = [] if number is None else [history.prompt for history in self.histories[number]]
            turns, stopped = [] if number is None else self._read_drawn(number), False
            try:
                turns = turns or sampler.sample(prompts, 0 if number is None else self._seed(number))
            except Stopped:
                stopped = True
            if budget.ranks.highest(stopped):
                raise Stopped
            differences = self._differences(base, budget, turns)
            return b"" if number is None else self._lines(number, base, turns, differences)

        shared = self.shared and self.shared / "candidates" / name_of(base)
        numbers = range(len(self)) if numbers is None else numbers
        paths = {number: self.path(number) for number in numbers}
        make_missing(paths, make, budget.ranks, within=sampler.ready, progress=progress, shared=shared)
        for path in paths.values():
            path.with_suffix(DRAWN).unlink(missing_ok=True)

    def read(self, number: int) -> list[Candidates]:
        found = []
        for history, row in zip(self.histories[number], self._rows(number), strict=True):
            turns = tuple(
                Turn(history.prompt, np.asarray(ids, np.int32), sampled=True, log_probs=np.asarray(said, np.float32))
                for ids, said in zip(row["ids"], row["log_probs"], strict=True)
            )
            if history.logged is not None:
                turns += (Turn(history.prompt, history.logged),)  # not sampled by this policy
            found.append(Candidates(history, turns, tuple(row["texts"])))
        return found

    def write_scores(
        self,
        name: str,
        scorer: Callable[[Sequence[Candidates]], Sequence[float]],
        budget: TokenBudget,
        within: Callable[[], AbstractContextManager],
        progress: Callable[[int, int], None] | None = None,
        numbers: Sequence[int] | None = None,
    ) -> None:
        """Writes the missing scores beside the shards; see `make_missing` for the rest.

        scorer: scores the candidates of a shard, in their order; those of none for a rank without work. numbers: of the
        shards that are looked at; None for all.
        """

        def make(number: int | None) -> bytes:
            return np.array(scorer([] if number is None else self.read(number)), "<f4").tobytes()

        numbers = range(len(self)) if numbers is None else numbers
        paths = {number: self._scores_path(number, name) for number in numbers}
        make_missing(paths, make, budget.ranks, within=within, progress=progress)

    def read_scores(self, number: int, name: str) -> np.ndarray:
        """(n,) float32, in the order of the shard's candidates."""
        return np.fromfile(self._scores_path(number, name), "<f4")

    def _scores_path(self, number: int, name: str) -> Path:
        return self.path(number, f"-{name}.f32")

    def figures(self) -> dict[str, float]:
        """`cut`: the candidates that reached the limit without an end. `sampler_difference`: the mean over tokens of
        |log p of the sampler − log p of the trainer|, both at the sampler's temperature; absent with top-p, because the
        sampler's figures then include top-p.
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

    def write_drawn(self, number: int, turns: Sequence[Sequence[Turn]]) -> None:
        """Keeps turns that another engine has drawn, until `sample` makes the shard of them.

        turns: `settings.sampled` ones for each history, with log-probabilities. Errors: Fault when the disk is full.
        """
        flat = [turn for of_history in turns for turn in of_history]
        arrays = {
            "tokens": np.concatenate([turn.response for turn in flat]).astype("<i4"),
            "log_probs": np.concatenate([turn.log_probs for turn in flat]).astype("<f4"),
            "lengths": np.array([len(turn.response) for turn in flat], "<i4"),
        }
        content = io.BytesIO()
        np.savez(content, **arrays)
        write_whole(self.path(number, DRAWN), content.getvalue())

    def is_drawn(self, number: int) -> bool:
        return self.path(number, DRAWN).exists()

    def _read_drawn(self, number: int) -> list[list[Turn]]:
        if not self.is_drawn(number):
            return []
        with np.load(self.path(number, DRAWN), allow_pickle=False) as found:
            ends = np.cumsum(found["lengths"])[:-1]
            pairs = list(zip(np.split(found["tokens"], ends), np.split(found["log_probs"], ends), strict=True))
        each = self.settings.sampled
        return [
            [Turn(history.prompt, ids, sampled=True, log_probs=said) for ids, said in pairs[start : start + each]]
            for start, history in zip(range(0, len(pairs), each), self.histories[number], strict=True)
        ]

    def _differences(self, base: Base, budget: TokenBudget, turns: list[list[Turn]]) -> list[float]:
        """Sums over the candidates' tokens of each history. Every rank must call this (see `score`)."""
        compared = turns if self.settings.top_p == 1 else []
        flat = [turn for of_history in compared for turn in of_history]
        scores = iter(score(base, flat, budget, temperature=self.settings.temperature))
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


def scores_of_turns(
    candidates: Sequence[Candidates], hidden: bool, scorer: Callable[[list[Turn]], Sequence[float]]
) -> list[float]:
    """hidden: whether `scorer` reads the hidden information; turns of a history without it then have NaN."""
    prompts = [one.history.hidden_prompt if hidden else one.history.prompt for one in candidates]
    seen = [
        [] if prompt is None else [Turn(prompt, turn.response) for turn in one.turns]
        for prompt, one in zip(prompts, candidates, strict=True)
    ]
    scores = iter(scorer([turn for turns in seen for turn in turns]))
    return [next(scores) if turns else np.nan for turns, one in zip(seen, candidates, strict=True) for _ in one.turns]
