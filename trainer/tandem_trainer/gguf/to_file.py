"""From a model folder to a GGUF file that llama.cpp serves: whole or not there."""

import os
from pathlib import Path
from typing import Any

import numpy as np
from transformers import AutoConfig

from ..config import ModelConfig
from ..fault import Fault
from ..model.folder import cannot_load, load_tokenizer
from ..onnx.weights import Weights
from ..running.checkpoint import flush_to_disk
from ..running.disk import reason
from .blocks import KINDS, quantise_q8_0
from .container import write_gguf
from .model import FREQUENCIES, gguf_name, halves_together, heads_of, llama3_divisors, metadata_of
from .tokenizer import tokenizer_metadata

FILE_PRECISIONS = {"q8_0": ("Q8_0", 7), "fp32": ("F32", 0)}  # the type of its numbers, and general.file_type


def to_file(source: Path, target: Path, precision: str | None) -> dict[str, Any]:
    """precision: of FILE_PRECISIONS; None for q8_0. Returns precision and number of parameters.

    Norms, biases and tensors whose rows are no multiple of 32 stay float32.
    Errors: Fault for a folder that holds no model or one that is not converted, and for a full disk; there is then
    no file `target`.
    """
    precision = precision or "q8_0"
    kind, file_type = FILE_PRECISIONS[precision]
    weights = Weights(source)
    tokenizer = load_tokenizer(ModelConfig(base=str(source)), source, source)
    try:
        config = AutoConfig.from_pretrained(source).to_dict()
    except (OSError, ValueError) as error:
        raise cannot_load("configuration", source, error) from error
    metadata = {
        **metadata_of(config, str(source)),
        "general.name": source.resolve().name,
        "general.file_type": file_type,
        **({"general.quantization_version": 2} if precision == "q8_0" else {}),
        **tokenizer_metadata(tokenizer, config["vocab_size"], str(source)),
    }
    left_out = {"lm_head.weight"} if config["tie_word_embeddings"] else set()
    try:
        names = {gguf_name(name): name for name in sorted({*weights.files} - left_out)}
    except KeyError as error:
        raise Fault(
            f"The model in {source} has weights {error}, for which GGUF has no name here.", usage=True
        ) from error
    rope, heads = config["rope_parameters"], {**config, "model_type": metadata["general.architecture"]}
    scaled = rope["rope_type"] == "llama3"

    def numbers(name: str) -> np.ndarray:
        if name == FREQUENCIES:
            return llama3_divisors(rope["rope_theta"], metadata_head(metadata), rope["factor"])
        own = names[name]
        values, count = weights[own].numpy(), heads_of(own, heads)
        together = np.ascontiguousarray(values if count is None else halves_together(values, count))
        return quantise_q8_0(together) if kind_of(tuple(together.shape)) == "Q8_0" else together

    def kind_of(shape: tuple[int, ...]) -> str:
        return kind if len(shape) == 2 and shape[-1] % KINDS[kind].count == 0 else "F32"

    shapes = {name: tuple(weights.shape(own)) for name, own in names.items()}
    if scaled:
        shapes[FREQUENCIES] = (metadata_head(metadata) // 2,)
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


def metadata_head(metadata: dict[str, Any]) -> int:
    return metadata[f"{metadata['general.architecture']}.rope.dimension_count"]
