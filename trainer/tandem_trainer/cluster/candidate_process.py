"""A process of the Ray cluster that makes candidates and scores of a run's work, shard by shard (`tasks.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..run.event_file import Events


class Maker:
    """Holds the whole model, with the weights of the stages that are finished.

    Ray calls its methods. They import what they need, because the driver, which only places makers, imports the module.
    """

    def __init__(self, run_json: Path):
        self.path = run_json
        self.notices = Notices()

    def load(self) -> None:
        """Loads the model. Errors: Fault."""
        import torch

        from ..baselines import objective_of
        from ..model.base import load_base
        from ..model.folder import context_length, find_model, quiet
        from ..run.budget import TokenBudget
        from ..run.candidate_work import Work
        from ..run.checkpoint import whole_checkpoints
        from ..run.distributed import Ranks
        from ..run.prepare import within_context
        from ..run.reference_cache import ReferenceCache
        from ..run.resume import as_begun, planned_budget
        from ..run.run import in_round
        from ..run.stop import StopRequest
        from ..run_json import read_config

        quiet()
        folder = self.path.parent
        config = read_config(self.path)
        model = as_begun(config.model, folder)
        base = find_model(model, folder, weights=False)
        self.config = config = within_context(replace(config, model=model), context_length(base))
        if config.resources.threads:
            torch.set_num_threads(config.resources.threads)
        work = Work.read(folder)
        assert work is not None, f"{folder} has no work"
        self.shards = work.shards(folder, config)
        self.base = load_base(model, run_folder=folder, seed=config.seed)
        # Whoever is asked to stop ends this process; it need not look for the request.
        never = StopRequest(folder / "candidates")
        self.budget = TokenBudget(planned_budget(folder), Ranks(), never, self.notices)
        self.logits_bytes = config.resources.logits_mb << 20

        found = whole_checkpoints(folder / "checkpoints", self.notices.notice)
        results = {checkpoint.stage: checkpoint for checkpoint in found if checkpoint.state["done"]}
        if work.round > 1:
            results[in_round("policy", work.round - 1)].load("trained", self.base.state())
        self.head = None
        if any(name.startswith("critic") for name in work.scores):
            if config.critic.score == "value-head":
                reference = ReferenceCache(self.base, folder, self.budget)
                self.head = objective_of("critic", config, reference)
                results["critic"].load("objective", self.head.state())
            with self.base.adapter("critic"):
                results["critic"].load("trained", self.base.state())

    def make(self, name: str | None, numbers: Sequence[int]) -> list[str]:
        """Makes the missing ones of these shards, or their scores `name`. Returns notices for the user. Errors: Fault.

        Only whole files are written, so that another maker may have made some of it before.
        """
        from ..sweet_rl import score_candidates

        settings, limit = self.config.critic, self.logits_bytes
        if name is None:
            self.shards.sample(self.base, self.budget, logits_bytes=limit, numbers=numbers)
        else:
            score_candidates(
                name,
                self.shards,
                settings,
                self.base,
                self.budget,
                self.head,
                logits_bytes=limit,
                numbers=numbers,
            )
        return self.notices.taken()


class Notices(Events):
    """Keeps notices for another process, which writes the events of the run."""

    def __init__(self) -> None:
        super().__init__(None)
        self.kept: list[str] = []

    def emit(self, event: str, **fields: Any) -> None:
        if event == "notice":
            self.kept.append(fields["message"])

    def taken(self) -> list[str]:
        """Returns the notices since the last call."""
        taken, self.kept = self.kept, []
        return taken
