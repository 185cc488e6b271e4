"""Files, folders and models that a configuration names: they must exist, and become absolute when run.json is read.

The folder of run.json comes as the validation's context. A configuration that is made in code has none, and keeps its
paths. Errors of all: PydanticCustomError with the end of a sentence.
"""

from pathlib import Path, PurePosixPath
from typing import NoReturn
from urllib.parse import urlsplit

from pydantic import ValidationInfo
from pydantic_core import PydanticCustomError

INSTEAD = "`tandem train` writes the rows of a data folder and starts the run"


def file(value: str, about: ValidationInfo) -> str:
    if about.context is None:
        return value
    path = _path(value, about)
    if is_data_folder(path):
        _refuse(f"{path} is a data folder: {INSTEAD}")
    if not path.is_file():
        _refuse(f"there is no file at {path}")
    return str(path.resolve())


def folder(value: str, about: ValidationInfo) -> str:
    if about.context is None:
        return value
    path = _path(value, about)
    if not path.is_dir():
        _refuse(f"there is no folder at {path}")
    return str(path.resolve())


def around(value: str, about: ValidationInfo) -> str:
    """The folder must hold that of run.json."""
    if about.context is None:
        return value
    if not Path(value).is_absolute():
        _refuse(f"{value} is not an absolute path, and other machines have other working directories")
    if not Path(value).is_dir():
        _refuse(f"there is no folder at {value}")
    inside = about.context["folder"]
    if not inside.is_relative_to(Path(value).resolve()):
        _refuse(f"the folder of the run, {inside}, is not in {value}: give `tandem train` a --data folder that is")
    return value


def elsewhere(value: str) -> str:
    """The path must be absolute on other machines, which have Linux."""
    if not PurePosixPath(value).is_absolute():
        _refuse(f"{value} is not an absolute path, and other machines have other working directories")
    return value


def web_address(value: str) -> str:
    try:
        parts = urlsplit(value)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # of a port that is no number, or of brackets without an address
        sound = False
    if not sound:
        _refuse(f"{value} is not the address of a dashboard, such as http://head:8265")
    return value


def model(value: str, about: ValidationInfo) -> str:
    """A name on the hub, `owner/name`, stays as it is."""
    if about.context is None:
        return value
    path = _path(value, about)
    if path.is_dir():
        if not (path / "config.json").is_file():
            _refuse(f"{path} is not a Hugging Face model, because it has no config.json")
        return str(path.resolve())
    if value == "" or value[0] in "./~\\" or value.count("/") > 1 or "\\" in value:
        _refuse(f"there is no model folder at {path}")
    return value


def is_data_folder(path: Path) -> bool:
    return (path / "log").is_dir()


def _path(value: str, about: ValidationInfo) -> Path:
    return about.context["folder"] / Path(value).expanduser()


def _refuse(sentence: str) -> NoReturn:
    # The sentence is a value of the template, because a path may hold braces.
    raise PydanticCustomError("place", "{sentence}", {"sentence": sentence})
