"""`onnx`: a model folder gets graphs that ONNX Runtime plays, a critic's folder graphs that it scores with.

    python -m tandem_trainer onnx FOLDER [--precision fp32,int8,int4]

Writes FOLDER/onnx/model.onnx (fp32), model_int8.onnx and model_int4.onnx; for a folder with a critic.json critic.onnx
and reference.onnx, always fp32. Each is compared with PyTorch first; what was seen stands in onnx/export.json. stdout
has one line of JSON, {"files": […], "refused": […]}, stderr a sentence for each graph. A graph that is too far from
PyTorch is refused and the others are written; the command fails when none is left.
"""

import argparse
import json
import sys
from pathlib import Path

from ..fault import Fault
from ..model.folder import quiet
from .export import PRECISIONS, export_onnx, is_critic


def main(arguments: list[str]) -> int:
    """Errors: Fault as `export_onnx`."""
    parser = argparse.ArgumentParser(prog="tandem_trainer onnx", description="Graphs for ONNX Runtime.")
    parser.add_argument("--precision", help=f"of {', '.join(PRECISIONS)}, with commas between; none: fp32,int8")
    parser.add_argument("--base", help="where a critic's base is now, if not where it was in training")
    parser.add_argument("folder", type=Path)
    given = parser.parse_args(arguments)
    quiet()
    if given.precision and is_critic(given.folder):
        raise Fault(f"{given.folder} holds a critic, which scores in fp32 only: leave --precision out.", usage=True)
    precisions = (given.precision or "fp32,int8").split(",")
    for name in precisions:
        if name not in PRECISIONS:
            raise Fault(f'--precision takes {", ".join(PRECISIONS)} with commas between, not "{name}".', usage=True)
    graphs = export_onnx(given.folder, precisions, say, given.base)
    for fault in graphs.refused.values():
        say(str(fault))
    print(json.dumps({"files": [str(file) for file in graphs.files], "refused": list(graphs.refused)}))
    return 0


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)
