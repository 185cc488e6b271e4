"""From a GGUF file to a folder that transformers, the trainer and `tandem onnx` read: whole or not there."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModelForCausalLM

from ..fault import Fault
from ..running.checkpoint import flush_to_disk
from ..running.disk import reason
from .container import GgufFile
from .model import FREQUENCIES, KNOWN, config_of, folder_name, halves_apart, heads_of
from .tokenizer import read_tokenizer

FOLDER_PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
OWN = {"BF16": "bf16", "F16": "fp16"}  # what a file is written in; of a quantised one fp32 loses nothing
SHARD = 4 << 30  # bytes: tensors of so many are in memory together


def to_folder(source: Path, target: Path, precision: str | None) -> dict[str, Any]:
    """precision: of FOLDER_PRECISIONS; None for the file's own. Returns precision and number of parameters.

    Errors: Fault for a file that is damaged or of a model that is not converted, and for a full disk; there is then
    no folder `target`.
    """
    file = GgufFile(source)
    config = config_of(file)
    tokenizer = read_tokenizer(file)
    names = {folder_name(name): name for name in file.tensors if name != FREQUENCIES}
    require_whole(file, config, names)
    precision = precision or OWN.get(file.tensors[names["model.layers.0.mlp.up_proj.weight"]].kind, "fp32")
    dtype = FOLDER_PRECISIONS[precision]
    tokens = {key: getattr(tokenizer, f"{key}_token_id") for key in ("bos", "eos", "pad")}
    ids = {f"{key}_token_id": id for key, id in tokens.items()}
    ends = sorted({tokens["eos"], file.metadata.get("tokenizer.ggml.eot_token_id")} - {None})
    written = str(dtype).removeprefix("torch.")
    temporary = target.with_name(target.name + ".writing")
    try:
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        write_json(temporary / "config.json", {**config, **ids, "dtype": written, "torch_dtype": written})
        write_json(
            temporary / "generation_config.json", {**ids, "eos_token_id": ends if len(ends) > 1 else tokens["eos"]}
        )
        tokenizer.save_pretrained(temporary)
        write_weights(temporary, file, config, names, dtype)
        for path in (*sorted(temporary.iterdir()), temporary):
            path.chmod(path.stat().st_mode | 0o044)  # weights are written for their owner only
            flush_to_disk(path)
        temporary.rename(target)
    except OSError as error:
        raise Fault(f"{target} cannot be written: {reason(error)}.") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    parameters = sum(torch.Size(file.tensors[name].shape).numel() for name in names.values())
    return {"precision": precision, "parameters": parameters}


def require_whole(file: GgufFile, config: dict[str, Any], names: dict[str | None, str]) -> None:
    """The tensors are those that transformers has for such a configuration. Errors: Fault(usage)."""
    if None in names:
        raise Fault(f"{file.path} has a tensor {names[None]}, which no such model has, and {KNOWN}.", usage=True)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(AutoConfig.for_model(**config))
    asked = {name: tuple(weight.shape) for name, weight in model.named_parameters()}  # a tied head is no second one
    given = {name: file.tensors[own].shape for name, own in names.items()}
    wrong = sorted(name for name in {*asked, *given} if asked.get(name) != given.get(name))
    if wrong:
        raise Fault(
            f"{file.path} is not the model that it says: {len(wrong)} tensors are missing, of another shape or not "
            f"part of it, such as {wrong[0]}. Download it again.",
            usage=True,
        )


def write_weights(
    folder: Path, file: GgufFile, config: dict[str, Any], names: dict[str, str], dtype: torch.dtype
) -> None:
    """One file, or several of SHARD with their index."""
    parts = list(shards(file, names, dtype.itemsize))
    index = {}
    for number, part in enumerate(parts, 1):
        name = "model.safetensors" if len(parts) == 1 else f"model-{number:05}-of-{len(parts):05}.safetensors"
        tensors = {}
        for key in part:
            numbers, heads = file.numbers(names[key]), heads_of(key, config)
            apart = numbers if heads is None else halves_apart(numbers, heads)
            tensors[key] = torch.from_numpy(apart.copy()).to(dtype)
        save_file(tensors, folder / name, {"format": "pt"})
        index |= dict.fromkeys(part, name)
    if len(parts) > 1:
        write_json(folder / "model.safetensors.index.json", {"metadata": {}, "weight_map": index})


def shards(file: GgufFile, names: dict[str, str], size: int) -> Iterator[list[str]]:
    part, held = [], 0
    for name, own in names.items():
        more = size * torch.Size(file.tensors[own].shape).numel()
        if part and held + more > SHARD:
            yield part
            part, held = [], 0
        part.append(name)
        held += more
    yield part


def write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
