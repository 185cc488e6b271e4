"""`convert` makes a model folder in Hugging Face format of a GGUF file, or a GGUF file of such a folder.

    python -m tandem_trainer convert MODEL.gguf FOLDER [--precision fp32|bf16|fp16]
    python -m tandem_trainer convert FOLDER MODEL.gguf [--precision q8_0|fp32]

An existing target is not touched, and no partial result is left. stdout has one line of JSON, {"made": …,
"precision": …, "parameters": …}.
"""

import argparse
import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import torch
from huggingface_hub import split_state_dict_into_shards_factory
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModelForCausalLM, GenerationConfig

from ...config import ModelConfig
from ...fault import Fault, UsageFault
from ...model.files import only_gguf
from ...model.folder import license_of, load_template, quiet
from ...model.folder_check import configuration_of
from ...run.disk_space import flush_to_disk, reason, whole_folder
from ..folders import write_json
from ..onnx.weights import Weights
from .blocks import KINDS, quantise_q8_0
from .container import GgufFile, write_gguf
from .model import (
    FREQUENCIES,
    KNOWN,
    config_of,
    folder_name,
    gguf_name,
    halves_apart,
    halves_together,
    heads_of,
    llama3_divisors,
    metadata_of,
)
from .tokenizer import read_tokenizer, tokenizer_metadata

FILE_PRECISIONS = {"q8_0": ("Q8_0", 7), "fp32": ("F32", 0)}  # number type, and general.file_type
FOLDER_PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
OWN = {"BF16": "bf16", "F16": "fp16"}  # precision by type of the file; quantised files become fp32, which loses nothing
MORE_ENDS = ("eot", "eom")  # of a turn and of a message, as in Llama 3
GENERATION = "generation_config.json"
SHARD = 4 << 30  # bytes of tensors in memory at a time


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tandem_trainer convert", description="GGUF to Hugging Face, and back.")
    parser.add_argument("--precision", help="of the weights; none: of a folder the file's own, or fp32; of a file q8_0")
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    given = parser.parse_args(arguments)
    source, target = given.source, given.target
    if not source.exists():
        raise UsageFault(f"There is no {source}: give a GGUF file, or a model folder.")
    if target.exists():
        raise UsageFault(f"{target} is there already: give another name, or remove it first.")
    quiet()
    if source.is_dir() and (inner := only_gguf(source)) is not None:
        source = inner
    back = source.is_dir()
    allowed = FILE_PRECISIONS if back else FOLDER_PRECISIONS
    if given.precision not in (None, *allowed):
        what = "a GGUF file" if back else "a folder"
        raise UsageFault(f'--precision of {what} is {" or ".join(allowed)}, not "{given.precision}".')
    convert = to_file if back else to_folder
    print(json.dumps({"made": str(target), **convert(source, target, given.precision)}))
    return 0


def to_folder(source: Path, target: Path, precision: str | None) -> dict[str, Any]:
    """Returns the precision and the number of parameters. precision: None for the file's own.

    Errors: Fault for a damaged file, an unsupported model, and a full disk; `target` then does not exist.
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
    ends = sorted({tokens["eos"], *(file.value(f"tokenizer.ggml.{key}_token_id", int) for key in MORE_ENDS)} - {None})
    written = str(dtype).removeprefix("torch.")
    eos = ends if len(ends) > 1 else tokens["eos"]
    try:
        with whole_folder(target) as folder:
            write_json(folder / "config.json", {**config, **ids, "dtype": written, "torch_dtype": written})
            write_json(folder / GENERATION, {**ids, "eos_token_id": eos})
            tokenizer.save_pretrained(folder)
            write_weights(folder, file, config, names, dtype)
            write_card(folder, file)
            for path in (*folder.iterdir(), folder):
                path.chmod(path.stat().st_mode | 0o044)  # safetensors writes files that only their owner can read
    except OSError as error:
        raise Fault(f"{target} cannot be written: {reason(error)}.") from error
    parameters = sum(torch.Size(file.tensors[name].shape).numel() for name in names.values())
    return {"precision": precision, "parameters": parameters}


def write_card(folder: Path, file: GgufFile) -> None:
    license = file.metadata.get("general.license")
    if not isinstance(license, str):
        return
    header = f"---\nlicense: {license}\n---\n\n" if re.fullmatch(r"[\w.-]+", license) else ""
    name = file.metadata.get("general.name", file.path.stem)
    (folder / "README.md").write_text(
        f"{header}# {name}\n\nConverted from `{file.path.name}`, which names its license: {license}.\n",
        encoding="utf-8",
    )


def require_whole(file: GgufFile, config: dict[str, Any], names: dict[str | None, str]) -> None:
    """Requires exactly the tensors that transformers expects for the configuration. Errors: UsageFault."""
    if None in names:
        raise UsageFault(f"{file.path} has a tensor {names[None]}, which no such model has, and {KNOWN}.")
    try:
        with torch.device("meta"):
            model = AutoModelForCausalLM.from_config(AutoConfig.for_model(**config))
    except Exception as error:  # transformers raises many types for sizes that do not fit together
        raise file.damaged() from error
    asked = {name: tuple(weight.shape) for name, weight in model.named_parameters()}  # a tied head is not listed twice
    given = {name: file.tensors[own].shape for name, own in names.items()}
    wrong = sorted(name for name in {*asked, *given} if asked.get(name) != given.get(name))
    if wrong:
        raise UsageFault(
            f"{file.path} is not the model that it says: {len(wrong)} tensors are missing, of another shape or not "
            f"part of it, such as {wrong[0]}. Download it again."
        )


def write_weights(
    folder: Path, file: GgufFile, config: dict[str, Any], names: dict[str, str], dtype: torch.dtype
) -> None:
    """Writes one file, or several of at most SHARD bytes with their index."""
    sizes = {name: dtype.itemsize * torch.Size(file.tensors[own].shape).numel() for name, own in names.items()}
    split = split_state_dict_into_shards_factory(
        sizes, get_storage_size=int, filename_pattern="model{suffix}.safetensors", max_shard_size=SHARD
    )
    for name, part in split.filename_to_tensors.items():
        tensors = {}
        for key in part:
            numbers, heads = file.numbers(names[key]), heads_of(key, config)
            apart = numbers if heads is None else halves_apart(numbers, heads)
            tensors[key] = torch.from_numpy(apart.copy()).to(dtype)
        save_file(tensors, folder / name, {"format": "pt"})
    if split.is_sharded:
        index = {"metadata": split.metadata, "weight_map": split.tensor_to_filename}
        write_json(folder / "model.safetensors.index.json", index)


def to_file(source: Path, target: Path, precision: str | None) -> dict[str, Any]:
    """Returns the precision and the number of parameters. precision: None for q8_0. Norms, biases and tensors with a
    row length that is no multiple of 32 stay float32.

    Errors: Fault for a folder without a supported model, and for a full disk; `target` then does not exist.
    """
    precision = precision or "q8_0"
    kind, file_type = FILE_PRECISIONS[precision]
    weights = Weights(source)
    tokenizer = load_template(ModelConfig(base=str(source)), source, source).tokenizer
    config = configuration_of(source).to_dict()
    metadata = {
        **metadata_of(config, str(source)),
        "general.name": source.resolve().name,
        **({"general.license": license} if (license := license_of(source)) else {}),
        "general.file_type": file_type,
        **({"general.quantization_version": 2} if precision == "q8_0" else {}),
        **tokenizer_metadata(tokenizer, config["vocab_size"], str(source)),
        **ends_metadata(source, tokenizer.eos_token_id),
    }
    left_out = {"lm_head.weight"} if config["tie_word_embeddings"] else set()
    try:
        names = {gguf_name(name): name for name in sorted({*weights.files} - left_out)}
    except KeyError as error:
        raise UsageFault(f"The model in {source} has weights {error}, for which GGUF has no name here.") from error
    rope, heads = config["rope_parameters"], {**config, "model_type": metadata["general.architecture"]}
    head_dim = metadata[f"{heads['model_type']}.rope.dimension_count"]

    def numbers(name: str) -> np.ndarray:
        if name == FREQUENCIES:
            return llama3_divisors(rope["rope_theta"], head_dim, rope["factor"])
        own = names[name]
        values, count = weights[own].numpy(), heads_of(own, heads)
        together = np.ascontiguousarray(values if count is None else halves_together(values, count))
        return quantise_q8_0(together) if kind_of(tuple(together.shape)) == "Q8_0" else together

    def kind_of(shape: tuple[int, ...]) -> str:
        return kind if len(shape) == 2 and shape[-1] % KINDS[kind].count == 0 else "F32"

    shapes = {name: tuple(weights.shape(own)) for name, own in names.items()}
    if rope["rope_type"] == "llama3":
        shapes[FREQUENCIES] = (head_dim // 2,)
    temporary = target.with_name(target.name + ".writing")
    try:
        temporary.parent.mkdir(parents=True, exist_ok=True)
        write_gguf(temporary, metadata, [(name, shape, kind_of(shape)) for name, shape in shapes.items()], numbers)
        flush_to_disk(temporary)
        os.replace(temporary, target)
    except OSError as error:
        raise Fault(f"{target} cannot be written: {reason(error)}.") from error
    finally:
        temporary.unlink(missing_ok=True)
    return {"precision": precision, "parameters": weights.parameters}


def ends_metadata(folder: Path, eos: int | None) -> dict[str, int]:
    """Tokens that end a turn besides the tokenizer's own, of which a file has two. Errors: UsageFault."""
    said = GenerationConfig.from_pretrained(folder).eos_token_id if (folder / GENERATION).is_file() else None
    others = [id for id in (said if isinstance(said, list) else [said]) if id not in (None, eos)]
    if len(others) > len(MORE_ENDS):
        raise UsageFault(
            f"The model in {folder} ends a turn by {len(others) + 1} tokens (eos_token_id in {GENERATION}), and a GGUF "
            "file names three at most: leave some out."
        )
    return {f"tokenizer.ggml.{key}_token_id": id for key, id in zip(MORE_ENDS, others, strict=False)}
