"""How turns are sampled, whichever way they are written."""

from collections.abc import Collection
from dataclasses import dataclass

import torch

from ..config import CandidatesConfig
from ..running.stop import StopRequest


@dataclass(frozen=True, eq=False)
class Sampling:
    """stop_ids: the tokens that end a turn. generator: of all that is random, on the model's device."""

    settings: CandidatesConfig
    stop_ids: Collection[int]
    generator: torch.Generator
    stop: StopRequest
