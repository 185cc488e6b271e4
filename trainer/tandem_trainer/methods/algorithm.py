"""The module of a method, which has its mathematics:

    objectives(config, reference)                     the Objective of each stage that is trained, by stage
    train(run, base, template, prepared, reference)   trains, and returns the figures of each stage

A method with `trl` has instead `train(run, tokenizer, path)`, which loads the model itself and returns it with some of
the dialogues that it played and the figures.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from ..config import RunConfig

if TYPE_CHECKING:
    from ..data.template import Template
    from ..model.base import Base
    from ..run.objective import Objective
    from ..run.prepare import Prepared
    from ..run.reference_cache import ReferenceCache
    from ..run.run import Run
    from ..run.stages import Figures


class Algorithm(Protocol):
    """What the module of a method defines."""

    def objectives(self, config: RunConfig, reference: ReferenceCache) -> dict[str, Objective]: ...

    def train(
        self, run: Run, base: Base, template: Template, prepared: Prepared, reference: ReferenceCache
    ) -> Figures: ...


def algorithm_of(method: str) -> Algorithm:
    return import_module(f"{__package__}.{method.replace('-', '_')}")  # type: ignore[return-value]


def objective_of(stage: str, config: RunConfig, reference: ReferenceCache) -> Objective:
    return algorithm_of(config.method).objectives(config, reference)[stage]
