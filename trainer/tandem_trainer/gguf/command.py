"""`convert`: a GGUF file becomes a model folder in Hugging Face format, or such a folder a GGUF file.

    python -m tandem_trainer convert MODEL.gguf FOLDER [--precision fp32|bf16|fp16]
    python -m tandem_trainer convert FOLDER MODEL.gguf [--precision q8_0|fp32]

What is there already is not touched, and nothing half done is left. stdout has one line of JSON, {"made": …,
"precision": …, "parameters": …}.
"""

import argparse
import json
from pathlib import Path

from ..fault import Fault
from ..model.files import only_gguf
from ..model.folder import quiet
from .to_file import FILE_PRECISIONS, to_file
from .to_folder import FOLDER_PRECISIONS, to_folder


def main(arguments: list[str]) -> int:
    """Errors: Fault as `to_folder` and `to_file`."""
    parser = argparse.ArgumentParser(prog="tandem_trainer convert", description="GGUF to Hugging Face, and back.")
    parser.add_argument("--precision", help="of the weights; none: of a folder the file's own, or fp32; of a file q8_0")
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    given = parser.parse_args(arguments)
    source, target = given.source, given.target
    if not source.exists():
        raise Fault(f"There is no {source}: give a GGUF file, or a model folder.", usage=True)
    if target.exists():
        raise Fault(f"{target} is there already: give another name, or remove it first.", usage=True)
    quiet()
    if source.is_dir() and (inner := only_gguf(source)) is not None:
        source = inner
    back = source.is_dir()
    allowed = FILE_PRECISIONS if back else FOLDER_PRECISIONS
    if given.precision not in (None, *allowed):
        what = "a GGUF file" if back else "a folder"
        raise Fault(f'--precision of {what} is {" or ".join(allowed)}, not "{given.precision}".', usage=True)
    convert = to_file if back else to_folder
    print(json.dumps({"made": str(target), **convert(source, target, given.precision)}))
    return 0
