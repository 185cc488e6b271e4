"""Tandem's tasks for trainers that others wrote. `tandem serve` plays the developer, whom the agent has to ask."""

from .client import Episode, Observation, Refused, dataset, tasks

__all__ = ["Episode", "Observation", "Refused", "dataset", "tasks"]
