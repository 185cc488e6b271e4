"""Checks the fields of rows once, where they are read."""

import numpy as np

from .dialogue import Spoken


class BadRow(Exception):
    """An error whose message says in one sentence why a row cannot be used."""


def object_of(row: dict, name: str) -> dict:
    value = row.get(name)
    if not isinstance(value, dict | None):
        raise BadRow(f"The field {name} must be an object.")
    return value or {}


def text_of(row: dict, name: str, default: str | None = None) -> str:
    value = row.get(name, default)
    if not isinstance(value, str) or value.strip() == "":
        raise BadRow(f"The field {name} is missing or not a text.")
    return value


def reward_of(row: dict) -> float | None:
    reward = row.get("reward")
    if reward is None:
        return None
    if type(reward) not in (int, float) or not 0 <= reward <= 1:
        raise BadRow("The field reward must be a number from 0 to 1.")
    return float(reward)


def spoken(
    position: int,
    ids: object,
    log_probs: object,
    prompt_ids: object,
    finish_reason: object,
    reasoning: object,
    where: str,
) -> Spoken:
    """Checks the recorded tokens of a turn. Log-probabilities without ids are useless and ignored.

    When the model ended the turn, the last token may lack a log-probability, because servers leave out that of the end
    token; it becomes NaN.
    """
    tokens = ids_of(ids, f"The token ids of {where}")
    prompt = ids_of(prompt_ids, f"The prompt's token ids of {where}")
    if tokens is None or log_probs is None:
        return Spoken(position, tokens, tokens is not None, None, prompt, str(finish_reason), str(reasoning))
    values = numbers(log_probs)
    if values.dtype.kind not in "fi" or not np.isfinite(values).all():
        raise BadRow(f"The log-probabilities of {where} must be a list of numbers.")
    if len(values) == len(tokens) - 1 and finish_reason == "stop":
        values = np.append(values, np.nan)
    if len(values) != len(tokens):
        raise BadRow(f"{where} has {len(tokens)} token ids and {len(values)} log-probabilities.")
    return Spoken(position, tokens, True, values.astype(np.float32), prompt, str(finish_reason), str(reasoning))


def ids_of(value: object, what: str) -> np.ndarray | None:
    """Returns token ids, (L,) int32; None for null and for an empty list."""
    if value is None or value == []:
        return None
    ids = numbers(value)
    if ids.dtype.kind != "i" or ids.min() < 0 or ids.max() >= 2**31:
        raise BadRow(f"{what} must be a list of whole numbers from 0.")
    return ids.astype(np.int32)


def numbers(value: object) -> np.ndarray:
    """Returns a list as a one-dimensional array; of dtype object when its items are not single values."""
    flat = isinstance(value, list) and not any(isinstance(each, list) for each in value)
    return np.asarray(value) if flat else np.empty(0, dtype=object)
