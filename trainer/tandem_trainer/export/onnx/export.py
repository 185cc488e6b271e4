"""`onnx` adds graphs for ONNX Runtime to a folder: of a model, to generate text; of a critic, to score.

    python -m tandem_trainer onnx FOLDER [--precision fp32,int8,int4]

Writes FOLDER/onnx/model.onnx (fp32), model_int8.onnx and model_int4.onnx; for a folder with a critic.json critic.onnx
and reference.onnx, always fp32. Each is compared with PyTorch first; onnx/export.json has the results. stdout has one
line of JSON, {"files": […], "refused": […]}, stderr a sentence for each graph. A graph that differs too much from
PyTorch is refused and the others are written; the command fails when none is left.
"""

import argparse
import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import get_args

import numpy as np
import torch

from ...config import ModelConfig
from ...fault import Fault, UsageFault
from ...model.files import not_gguf, only_gguf
from ...model.folder import load_template, quiet
from ...model.load import load_model
from ...model.memory import available_memory
from ...regular_file import read_text
from ...run.budget import free_memory
from ...run.disk_space import flush_to_disk, reason
from ..critic_file import FILE, read_critic_file, reference_of
from .compare import LENGTH, Distance, Player, Sample, distance, samples, scorer_distance
from .decoder import Precision, write_player, write_scorer
from .shape import Shape, read_shape
from .weights import Weights

FOLDER = "onnx"
ABOUT = "export.json"
PLAYERS: dict[Precision, str] = {"fp32": "model.onnx", "int8": "model_int8.onnx", "int4": "model_int4.onnx"}
PRECISIONS = get_args(Precision)
CRITIC, REFERENCE = "critic.onnx", "reference.onnx"
EXACT = 1e-3  # greatest allowed error of a logit or log-probability in float32
# Weights that share a scale. Larger blocks are faster and smaller; the first that is near enough is taken.
BLOCKS: dict[Precision, Sequence[int]] = {"fp32": (32,), "int8": (64, 32), "int4": (32,)}
NEAR = 0.015  # greatest divergence of a size before the last, in nats
USELESS = 0.5  # greatest allowed divergence of a quantised model, in nats
Say = Callable[[str], None]


Refused = dict[Precision, Fault]  # why a graph was not written


def export_onnx(
    folder: Path, precisions: Sequence[Precision], say: Say, base: str | None = None
) -> tuple[list[Path], Refused]:
    """Returns the graphs' files. precisions: of a model's graphs; a critic is always fp32. base: present location of a
    critic's base, None for that in training. Other existing graphs stay. A graph that differs too much from PyTorch is
    refused alone.

    Errors: Fault for an unsupported model, damaged weights, too little memory for the comparison, a full disk, and when
    every graph is refused; nothing is then put in place.
    """
    if (file := only_gguf(folder)) is not None:
        raise UsageFault(not_gguf(file))
    if not folder.is_dir():
        raise UsageFault(f"There is no such folder as {folder}: give the folder of a model.")
    temporary = folder / f"{FOLDER}.writing"
    try:
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        if is_critic(folder):
            return put_in_place(temporary, folder / FOLDER, critic(folder, temporary, say, base)), {}
        made, refused = player(folder, temporary, precisions, say)
        if not made:
            sentences = " ".join(str(fault) for fault in refused.values())
            raise Fault(sentences, usage=all(fault.usage for fault in refused.values()))
        return put_in_place(temporary, folder / FOLDER, made), refused
    except OSError as error:
        raise Fault(f"The graphs of {folder} cannot be written: {reason(error)}.") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def is_critic(folder: Path) -> bool:
    return (folder / FILE).is_file()


# ---- graphs, each compared with PyTorch


def player(folder: Path, into: Path, precisions: Sequence[Precision], say: Say) -> tuple[dict[str, dict], Refused]:
    weights = Weights(folder).digests()
    shape, of = ready(folder, folder, LENGTH)
    made, refused = {}, {}
    for precision in precisions:
        file = into / PLAYERS[precision]
        block, graph, far = write_near(folder, shape, file, precision, of)
        try:
            if precision == "fp32":
                require_exact(file.name, far)
                require_same_tokens(file.name, of, graph)
            else:
                require_same_model(folder, precision, far)
        except Fault as fault:
            refused[precision] = fault
            del graph  # closes the files, which Windows could not delete otherwise
            file.unlink()
            file.with_name(f"{file.name}_data").unlink(missing_ok=True)
            continue
        say(sentence(file.name, far))
        size = {} if precision == "fp32" else {"block": block}
        made[file.name] = {"precision": precision, **size, **far.about(), "weights": weights}
    return made, refused


def write_near(
    folder: Path, shape: Shape, file: Path, precision: Precision, of: Sequence[Sample]
) -> tuple[int, Player, Distance]:
    """Returns the size of the blocks: the first that is near enough and needs no padding, or the last."""
    *larger, smallest = BLOCKS[precision]
    for block in (size for size in larger if shape.width % size == 0):
        write_player(folder, shape, file, precision, block)
        graph = Player(file, shape)
        if (far := distance(of, graph)).divergence <= NEAR:
            return block, graph, far
        del graph  # closes the files, which are written again
    write_player(folder, shape, file, precision, smallest)
    graph = Player(file, shape)
    return smallest, graph, distance(of, graph)


def critic(folder: Path, into: Path, say: Say, base: str | None) -> dict[str, dict]:
    about = read_critic_file(folder)
    if about.score == "value-head" or about.training == "qlora":
        what = "predicts rewards by a value head" if about.score == "value-head" else "was trained on a base in 4 bits"
        raise UsageFault(f"The critic in {folder} {what}, which the trainer alone can score with.")
    reference = reference_of(about, folder, base)
    made = {}
    for name, source in ((CRITIC, folder), (REFERENCE, reference)):
        weights = Weights(source).digests()
        shape, of = ready(source, folder, 0)  # a scorer generates nothing: the requests themselves suffice
        write_scorer(source, shape, into / name)
        far = scorer_distance(of, into / name)
        require_exact(name, far)
        say(sentence(name, far))
        made[name] = {"precision": "fp32", **far.about(), "weights": weights}
    return made


def ready(folder: Path, tokenizer_of: Path, length: int) -> tuple[Shape, list[Sample]]:
    shape = read_shape(folder)
    require_memory(folder, Weights(folder).parameters)
    own = ModelConfig(base=str(folder), device="cpu", dtype="float32")
    template = load_template(own, tokenizer_of, folder)
    model = load_model(own, folder, torch.device("cpu"), torch.float32).eval()
    of = samples(model, template, length)
    del model
    free_memory()
    return shape, of


def require_memory(folder: Path, parameters: int) -> None:
    free, needed = available_memory(), 4.4 * parameters
    if free is not None and free < needed:
        raise Fault(
            f"The model in {folder} is compared with its graph in float32, which needs {needed / 2**30:.1f} GiB of the "
            f"system's memory, where {free / 2**30:.1f} GiB are free: free some, or export it on a larger machine."
        )


# ---- requirements of the comparison


def require_exact(name: str, far: Distance) -> None:
    if not far.largest <= EXACT:  # also false for NaN
        raise Fault(
            f"The graph {name} is not the model: it is off by up to {far.largest:.1e}, and {EXACT:.0e} is allowed; "
            "please report this with the name of the model."
        )


def require_same_model(folder: Path, precision: Precision, far: Distance) -> None:
    """Names a more exact precision for quantised weights that diverge too far. Errors: UsageFault."""
    if far.divergence <= USELESS:  # false for NaN
        return
    raise UsageFault(
        f"With {precision} weights the model in {folder} is another one: its distributions are {far.divergence:.2f} "
        f"nats from those of PyTorch, and {USELESS} is allowed; take {'int8' if precision == 'int4' else 'fp32'}."
    )


def require_same_tokens(name: str, of: Sequence[Sample], graph: Player) -> None:
    """Compares greedy generation in one batch with the cache. Tokens that are equally likely in PyTorch may differ."""
    written = graph.go_on([sample.ids[: sample.prompt] for sample in of], LENGTH)
    for sample, ids in zip(of, written, strict=True):
        differing = np.flatnonzero(np.array(ids) != sample.ids[sample.prompt :])
        if len(differing) == 0:
            continue
        before = sample.logits[sample.prompt + differing[0] - 1]
        if before.max() - before[ids[differing[0]]] > 2 * EXACT:
            raise Fault(f"The graph {name} writes another text than the model; please report this with its name.")


def sentence(name: str, far: Distance) -> str:
    text = f"{name}: over {far.tokens} tokens it is at most {far.largest:.1e} from PyTorch"
    if far.divergence is None:
        return f"{text}."
    return (
        f"{text} in a logit and {max(far.divergence, 0):.1e} nats in the mean; the most likely next token is the same "
        f"at {far.agreement:.1%}."
    )


# ---- the folder


def put_in_place(temporary: Path, target: Path, made: dict[str, dict]) -> list[Path]:
    """A graph is deleted before its weights change, so that both always match."""
    target.mkdir(exist_ok=True)
    files = sorted(path.name for path in temporary.iterdir())
    for name in files:
        flush_to_disk(temporary / name)
    about = {"version": 1, "graphs": {**_graphs(target), **made}}
    (temporary / ABOUT).write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    for name in made:
        (target / name).unlink(missing_ok=True)
        (target / f"{name}_data").unlink(missing_ok=True)
    for name in (*reversed(files), ABOUT):  # weights before their graph
        os.replace(temporary / name, target / name)
    flush_to_disk(target)
    return [target / name for name in files]


def _graphs(folder: Path) -> dict[str, dict]:
    try:
        return json.loads(read_text(folder / ABOUT))["graphs"]
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError) as error:
        raise Fault(f"{folder / ABOUT} cannot be read ({error}): delete the folder and start again.") from error


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tandem_trainer onnx", description="Graphs for ONNX Runtime.")
    parser.add_argument("--precision", help=f"of {', '.join(PRECISIONS)}, with commas between; none: fp32,int8")
    parser.add_argument("--base", help="where a critic's base is now, if not where it was in training")
    parser.add_argument("folder", type=Path)
    given = parser.parse_args(arguments)
    quiet()
    if given.precision and is_critic(given.folder):
        raise UsageFault(f"{given.folder} holds a critic, which scores in fp32 only: leave --precision out.")
    precisions = (given.precision or "fp32,int8").split(",")
    for name in precisions:
        if name not in PRECISIONS:
            raise UsageFault(f'--precision takes {", ".join(PRECISIONS)} with commas between, not "{name}".')
    files, refused = export_onnx(given.folder, precisions, say, given.base)
    for fault in refused.values():
        say(str(fault))
    print(json.dumps({"files": [str(file) for file in files], "refused": list(refused)}))
    return 0


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)
