"""`run.json` → `RunConfig`: strictly, by the types and ranges that `config.py` declares.

Every refusal is one sentence with the path of the field inside the file.
"""

import dataclasses
import difflib
import json
import math
import types
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from .config import PathTo, Range, RunConfig
from .fault import Fault


def read_config(path: Path) -> RunConfig:
    """The configuration in a file.

    Errors: Fault(usage) for a file that is missing or is not JSON, and for any field that `config.py` does not allow.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except IsADirectoryError:
        raise Fault(f"{path} is a folder; give the run.json inside it.", usage=True) from None
    except FileNotFoundError:
        raise Fault(f"There is no configuration at {path}.", usage=True) from None
    except UnicodeDecodeError as error:
        raise Fault(f"{path} is not UTF-8 text (byte {error.start}).", usage=True) from None
    except OSError as error:
        raise Fault(f"{path} cannot be read: {error.strerror}.", usage=True) from None
    try:
        value = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_no_duplicates)
        config = _dataclass(RunConfig, value, "", path.resolve().parent)
        _check_together(config)
    except json.JSONDecodeError as error:
        raise Fault(f"{path} line {error.lineno} column {error.colno} is not JSON: {error.msg}.", usage=True) from None
    except RecursionError:
        raise Fault(f"{path} is nested too deeply; a configuration is an object of objects.", usage=True) from None
    except _Refused as refused:
        raise Fault(f"{path}: {refused}", usage=True) from None
    return config


class _Refused(Exception):
    """A sentence about one field, to which the name of the file is still to be added."""


def _no_constant(name: str) -> None:
    raise _Refused(f"{name} is not a number that JSON knows.")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = {}
    for name, value in pairs:
        if name in fields:
            raise _Refused(f'"{name}" stands twice in one object.')
        fields[name] = value
    return fields


def _dataclass(kind: type, value: Any, where: str, folder: Path) -> Any:
    if not isinstance(value, dict):
        raise _Refused(f"{where or 'the file'} must hold an object, not {_shown(value)}.")
    fields = {field.name: field for field in dataclasses.fields(kind)}
    for name in value:
        if name not in fields:
            nearest = difflib.get_close_matches(name, fields, n=1, cutoff=0)
            raise _Refused(f'{where or "the file"} has no field "{name}"; the nearest is "{nearest[0]}".')
    hints = get_type_hints(kind, include_extras=True)
    given = {}
    for name, field in fields.items():
        here = f"{where}.{name}" if where else name
        if name in value:
            given[name] = _parse(hints[name], value[name], here, folder)
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise _Refused(f"{here} is missing.")
    return kind(**given)


def _parse(kind: Any, value: Any, where: str, folder: Path) -> Any:
    """The value as `kind`, which is one of the types that `config.py` uses; else a refusal."""
    if dataclasses.is_dataclass(kind):
        return _dataclass(kind, value, where, folder)
    if get_origin(kind) is list:
        if not isinstance(value, list):
            raise _Refused(f"{where} must be a list, not {_shown(value)}.")
        return [_parse(get_args(kind)[0], entry, f"{where}[{index}]", folder) for index, entry in enumerate(value)]
    for choice in _choices(kind):
        bare, limit = get_args(choice) if get_origin(choice) is Annotated else (choice, None)
        if not _is(bare, value):
            continue
        if isinstance(limit, Range) and not _inside(limit, value):
            continue
        if isinstance(limit, PathTo):
            return _existing(limit, value, where, folder)
        return float(value) if bare is float else value
    raise _Refused(f"{where} must be {' or '.join(_words(choice) for choice in _choices(kind))}, not {_shown(value)}.")


def _choices(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)


def _is(kind: Any, value: Any) -> bool:
    """Whether a JSON value is of a kind. `true` is no number, and 1.0 is no whole number."""
    if get_origin(kind) is Literal:
        return any(type(value) is type(allowed) and value == allowed for allowed in get_args(kind))
    if kind is float:
        return type(value) in (int, float) and math.isfinite(value)
    return type(value) is kind


def _inside(limit: Range, value: float) -> bool:
    above = value > limit.low if limit.without_low else value >= limit.low
    below = value < limit.high if limit.without_high else value <= limit.high
    return above and below


def _words(kind: Any) -> str:
    """A kind in words, for "must be …"."""
    if get_origin(kind) is Literal:
        return " or ".join(json.dumps(allowed) for allowed in get_args(kind))
    if get_origin(kind) is Annotated:
        bare, limit = get_args(kind)
        return _words(bare) + (_range_words(limit) if isinstance(limit, Range) else "")
    names = {int: "a whole number", float: "a number", str: "text", bool: "true or false", dict: "an object"}
    return "null" if kind is type(None) else names[kind]


def _range_words(limit: Range) -> str:
    low = f" above {limit.low:g}" if limit.without_low else f" of at least {limit.low:g}"
    if math.isinf(limit.high):
        return low
    return low + (f" and below {limit.high:g}" if limit.without_high else f" and at most {limit.high:g}")


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"


def _existing(limit: PathTo, value: str, where: str, folder: Path) -> str:
    """The absolute path of what must be there. A model that is no folder may be a name on the hub, `owner/name`."""
    path = folder / Path(value).expanduser()
    if limit.kind == "file" and not path.is_file():
        raise _Refused(f"{where}: there is no file at {path}.")
    if limit.kind == "folder" and not path.is_dir():
        raise _Refused(f"{where}: there is no folder at {path}.")
    if limit.kind == "model":
        if path.is_dir():
            if not (path / "config.json").is_file():
                raise _Refused(f"{where}: {path} is not a Hugging Face model, because it has no config.json.")
            return str(path.resolve())
        if value == "" or value[0] in "./~\\" or value.count("/") > 1 or "\\" in value:
            raise _Refused(f"{where}: there is no model folder at {path}.")
        return value
    return str(path.resolve())


def _check_together(config: RunConfig) -> None:
    """What no field can say alone."""
    model, data = config.model, config.data
    if model.revision is not None and Path(model.base).is_dir():
        raise _Refused(
            f"model.revision is for a name on the hub, but model.base is the folder {model.base}: leave it out."
        )
    if model.revision is not None and model.revision.strip() == "":
        raise _Refused("model.revision is empty: give a commit, tag or branch, or leave it out.")
    if data.log is None and not data.trajectories and not data.preferences:
        raise _Refused("data names nothing to train on: give log, trajectories or preferences.")
    if data.log is None and not data.trajectories and config.method != "multiturn-dpo":
        raise _Refused(f"data.preferences alone are not enough for {config.method}: give log or trajectories as well.")
    if data.preferences and config.method == "rft":
        raise _Refused("data.preferences are not used by rft: leave them out, or choose another method.")
