"""Reads `run.json` into a `RunConfig`, as `config.py` declares it.

Every refusal is one sentence with the path of the field. Tandem says the same ones before there is a trainer, from the
schema (`src/core/training/schema.ts`); `tests/refusals.json` holds the two together.
"""

import difflib
import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from .config import RunConfig
from .config_fields import INSTEAD, is_data_folder
from .fault import UsageFault
from .methods.settings import method_of, plays_values
from .methods.table import METHODS
from .regular_file import read_text, require_regular_run

UNKNOWN = "unexpected_keyword_argument"  # pydantic's name for a field that is not declared


def read_config(path: Path) -> RunConfig:
    """Errors: UsageFault for a missing file, one that is not JSON, and any field that `config.py` does not allow."""
    require_regular_run(path.parent)
    try:
        text = read_text(path, "utf-8-sig")
    except IsADirectoryError:
        if is_data_folder(path):
            raise UsageFault(f"{path} is a data folder: {INSTEAD}.") from None
        raise UsageFault(f"{path} is a folder; give the run.json inside it.") from None
    except FileNotFoundError:
        raise UsageFault(f"There is no configuration at {path}.") from None
    except UnicodeDecodeError as error:
        raise UsageFault(f"{path} is not UTF-8 text (byte {error.start}).") from None
    except OSError as error:
        raise UsageFault(f"{path} cannot be read: {error.strerror}.") from None
    try:
        # pydantic would take NaN for null, and the last of two fields with one name.
        json.loads(text, parse_constant=_no_constant, object_pairs_hook=_no_duplicates)
        config = TypeAdapter(RunConfig).validate_json(text, context={"folder": path.resolve().parent})
        _check_together(config)
    except json.JSONDecodeError as error:
        raise UsageFault(f"{path} line {error.lineno} column {error.colno} is not JSON: {error.msg}.") from None
    except RecursionError:
        raise UsageFault(f"{path} is nested too deeply; a configuration is an object of objects.") from None
    except _Refused as refused:
        raise UsageFault(f"{path}: {refused}") from None
    except ValidationError as refused:
        raise UsageFault(f"{path}: {_sentence(refused.errors())}") from None
    return config


class _Refused(Exception):
    """An error sentence about one field, without the name of the file."""


def _no_constant(name: str) -> None:
    raise _Refused(f"{name} is not a number that JSON knows.")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = {}
    for name, value in pairs:
        if name in fields:
            raise _Refused(f'"{name}" stands twice in one object.')
        fields[name] = value
    return fields


def _sentence(errors: list[ErrorDetails]) -> str:
    """Reports an unknown field before others, because a mistyped name is missing as well."""
    from .schema import schema  # makes the schema, which a sound configuration does not need

    error = next((each for each in errors if each["type"] == UNKNOWN), errors[0])
    is_unknown = error["type"] == UNKNOWN
    node, where = schema(), ""
    for part in error["loc"][:-1] if is_unknown else error["loc"]:
        node = next((each for each in node.get("anyOf", []) if part in each.get("properties", {})), node)
        if isinstance(part, int) and node.get("type") == "array":
            node, where = node["items"], f"{where}[{part}]"
        elif part in node.get("properties", {}):
            node, where = node["properties"][part], f"{where}.{part}" if where else str(part)
        else:
            break  # pydantic's name for one of several types
    if error["type"] == "json_invalid":
        return f"the file is not JSON: {error['ctx']['error']}."
    if error["type"] == "place":
        return f"{where}: {error['msg']}."
    if error["type"] == "missing":
        return f"{where} is missing."
    if is_unknown:
        name = str(error["loc"][-1])
        node = next((each for each in node.get("anyOf", []) if "properties" in each), node)
        if name in node["properties"]:
            return f"{where}.{name} is not read here: {INSTEAD}."
        nearest = difflib.get_close_matches(name, node["properties"], n=1, cutoff=0)
        return f'{where or "the file"} has no field "{name}"; the nearest is "{nearest[0]}".'
    return f"{where or 'the file'} must {_words(node)}, not {_shown(error['input'])}."


def _words(node: dict[str, Any]) -> str:
    """By the schema: `be a number above 0 or null`."""
    if "properties" in node:
        return "hold an object"
    return "be " + " or ".join(_kind(each) for each in node.get("anyOf", [node]))


def _kind(node: dict[str, Any]) -> str:
    if "enum" in node or "const" in node:
        return " or ".join(json.dumps(each) for each in node.get("enum", [node.get("const")]))
    names = {"integer": "a whole number", "number": "a number", "string": "text", "boolean": "true or false"}
    names |= {"object": "an object", "array": "a list", "null": "null"}
    limits = [
        f"{words} {node[limit]:g}"
        for limit, words in (
            ("minimum", "of at least"),
            ("exclusiveMinimum", "above"),
            ("maximum", "at most"),
            ("exclusiveMaximum", "below"),
        )
        if limit in node
    ]
    return " ".join([names[node["type"]], " and ".join(limits)]).strip()


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"


def _check_together(config: RunConfig) -> None:
    model, data = config.model, config.data
    if model.revision is not None and Path(model.base).is_dir():
        raise _Refused(
            f"model.revision is for a name on the hub, but model.base is the folder {model.base}: leave it out."
        )
    if model.revision is not None and model.revision.strip() == "":
        raise _Refused("model.revision is empty: give a commit, tag or branch, or leave it out.")
    if config.resources.cluster is not None and config.resources.processes > 1:
        raise _Refused(
            "resources.processes is for this machine, and resources.cluster.workers for the cluster: set processes "
            "to 1."
        )
    method = method_of(config)
    if config.role == "collaborator":
        _check_collaborator(config)
    elif config.role != "agent":
        _check_role(config)
    if method.plays:
        _check_online(config)
        return
    if method.may_play:
        _check_one_process(config)
    elif data.tasks:
        playing = " and ".join(name for name, each in METHODS.items() if each.plays or each.may_play)
        raise _Refused(f"data.tasks are played by {playing} alone: leave them out of a run of {config.method}.")
    if not data.trajectories and not data.preferences:
        raise _Refused("data names nothing to train on: give trajectories or preferences, or a log to `tandem train`.")
    if not data.trajectories and method.preferences != "alone":
        raise _Refused(f"data.preferences alone are not enough for {config.method}: give trajectories as well.")
    if data.earlier and not data.trajectories:
        raise _Refused("data.earlier are replayed beside new dialogues: give data.trajectories, or leave them out.")
    if data.preferences and method.preferences == "none":
        raise _Refused(f"data.preferences are not used by {config.method}: leave them out, or choose another method.")
    if plays_values(config):
        _check_played(config)


def _check_played(config: RunConfig) -> None:
    score, resources = config.critic.score, config.resources
    if resources.cluster is not None:
        raise _Refused(
            f"critic.score is {score}, which plays on this machine: leave resources.cluster out, or choose another "
            "score."
        )
    if resources.processes > 1:
        raise _Refused(f"resources.processes is above 1, and critic.score {score} plays in one process: set it to 1.")
    if config.critic.player is None and not Path(config.model.base).is_dir():
        raise _Refused(
            f"critic.player is not set, and {config.model.base} is no folder, whose model could play: name a model as "
            "for `tandem serve --value-agent`."
        )


def _check_collaborator(config: RunConfig) -> None:
    learns = method_of(config).collaborator
    if learns == "none":
        able = " or ".join(f'"{name}"' for name, each in METHODS.items() if each.collaborator != "none")
        raise _Refused(f"role is collaborator, whom {config.method} does not train: set method to {able}.")
    if learns == "edits" and config.data.trajectories:
        raise _Refused(
            f"data.trajectories are not used by {config.method} for the collaborator, who answers each message once: "
            "give preferences."
        )


def _check_role(config: RunConfig) -> None:
    """A role of an agent that checks its drafts learns from pairs of its outputs."""
    if method_of(config).preferences != "alone":
        able = " or ".join(f'"{name}"' for name, each in METHODS.items() if each.preferences == "alone")
        raise _Refused(f"role is {config.role}, which {config.method} does not train: set method to {able}.")
    if config.data.trajectories:
        raise _Refused(
            f"data.trajectories are dialogues of the whole agent, not outputs of its {config.role}: give the rows of "
            f"`tandem export --format {config.role}` as preferences, or a log to `tandem train`."
        )


def _check_online(config: RunConfig) -> None:
    name = config.method
    if not config.data.tasks:
        raise _Refused(f"data.tasks names no pack, and {name} plays tasks: give the files of one or more packs.")
    if method_of(config).trl and config.data.trajectories:
        raise _Refused(f"data.trajectories are not used by {name}, which plays its own dialogues: leave them out.")
    if config.data.earlier:
        raise _Refused(f"data.earlier are not used by {name}, which plays its own dialogues: leave them out.")
    if config.data.preferences:
        raise _Refused(f"data.preferences are not used by {name}, which plays its own dialogues: leave them out.")
    if config.model.training == "qlora" and method_of(config).trl:
        raise _Refused(f"model.training is qlora, with which {name} does not train: set it to lora.")
    if config.method == "grpo":
        _check_seat(config)
    _check_one_process(config)


def _check_seat(config: RunConfig) -> None:
    grpo = config.grpo
    if grpo.credit == "vine" and config.role == "collaborator":
        raise _Refused(
            "grpo.credit is vine, which values turns of the agent, and role is collaborator: set it to group."
        )
    if grpo.credit == "vine" and grpo.leak_price is not None:
        raise _Refused("grpo.leak_price has no effect on the values of grpo.credit vine: leave it out.")
    if config.role == "agent":
        if grpo.agent is not None:
            raise _Refused("grpo.agent is for role collaborator, and role is agent: set role, or leave it out.")
        return
    if grpo.agent is None:
        raise _Refused("role is collaborator, and grpo.agent is not set: name the agent that asks and answers.")
    if grpo.simulator != "rules":
        raise _Refused("grpo.simulator is whom the run trains, because role is collaborator: leave it out.")
    if grpo.max_turns < 2:
        raise _Refused("grpo.max_turns is 1, which leaves the collaborator no reply: set it to 2 or more.")


def _check_one_process(config: RunConfig) -> None:
    name = config.method
    if config.resources.processes > 1:
        raise _Refused(f"resources.processes is above 1, and {name} trains in one process: set it to 1.")
    if config.resources.cluster is not None:
        raise _Refused(f"resources.cluster is not used by {name}, which trains on this machine: leave it out.")
