"""Builds an ONNX graph file with its weights, and quantises weights to blocks of integers with a scale each, in the
layout of ONNX Runtime's MatMulNBits.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper

MICROSOFT = "com.microsoft"  # the domain of ONNX Runtime's own operators
OPSET, MICROSOFT_OPSET = 21, 1
IR_VERSION = 10  # read by every ONNX Runtime since 1.18
PAGE = 4096  # bytes; weights start at page boundaries, so that they can be memory-mapped
AT_ONCE = 1 << 24  # weights converted at a time: a whole table would need several times its memory


class Graph:
    """Values are named by strings. external: puts weights into `<file>_data`, because a protobuf holds at most 2 GB."""

    def __init__(self, file: Path, *, external: bool):
        self.file = file
        self.data = open(self.data_file, "wb") if external else None  # noqa: SIM115  closed by `save`
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, MICROSOFT_OPSET)]
        self.model = helper.make_model(
            onnx.GraphProto(name="decoder"), opset_imports=opsets, ir_version=IR_VERSION, producer_name="tandem-trainer"
        )
        # Parts are created inside their parent, because a protobuf copies messages that are assigned to it.
        self.graph = self.model.graph
        self.initializers: set[str] = set()

    @property
    def data_file(self) -> Path:
        return self.file.with_name(self.file.name + "_data")

    def input(self, name: str, kind: int, shape: list[int | str]) -> str:
        self.graph.input.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def output(self, name: str, kind: int, shape: list[int | str]) -> None:
        self.graph.output.append(helper.make_tensor_value_info(name, kind, shape))

    def node(self, operator: str, *inputs: str, named: Sequence[str] = (), domain: str = "", **attributes: Any) -> str:
        """Returns the name of the first output. named: names of all outputs, when they matter."""
        number = len(self.graph.node)
        outputs = named or [f"{operator}.{number}"]
        self.graph.node.append(
            helper.make_node(operator, inputs, outputs, f"node.{number}", domain=domain, **attributes)
        )
        return outputs[0]

    def split(self, value: str, count: int, *sizes: str, **attributes: Any) -> list[str]:
        """sizes: one value with the sizes of the parts; without it they are equal."""
        parts = [f"part.{len(self.graph.node)}.{number}" for number in range(count)]
        self.node("Split", value, *sizes, named=parts, **attributes)
        return parts

    def constant(self, *values: int) -> str:
        """Returns an initializer with the values, (n,) int64; equal constants share one."""
        return self.weight("constant." + ".".join(map(str, values)), np.array(values, np.int64))

    def weight(self, name: str, value: np.ndarray) -> str:
        """Each name is written once, and at once."""
        if name in self.initializers:
            return name
        kind = helper.np_dtype_to_tensor_dtype(value.dtype)
        tensor = self.graph.initializer.add(name=name, data_type=kind, dims=value.shape)
        if self.data is None or value.nbytes < PAGE:
            tensor.raw_data = value.tobytes()
        else:
            self.data.write(b"\0" * (-self.data.tell() % PAGE))
            tensor.data_location = TensorProto.EXTERNAL
            place = {"location": self.data_file.name, "offset": self.data.tell(), "length": value.nbytes}
            for key, entry in place.items():
                tensor.external_data.add(key=key, value=str(entry))
            np.ascontiguousarray(value).tofile(self.data)
        self.initializers.add(name)
        return name

    def save(self) -> None:
        if self.data is not None:
            self.data.close()
        self.file.write_bytes(self.model.SerializeToString())


def blocks(weight: torch.Tensor, bits: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Quantises (N, K) to numbers (N, ⌈K / size⌉, size · bits / 8) uint8 and scales (N, ⌈K / size⌉) float32.

    size: neighbouring weights of one output that share a scale.

    A weight is scale · (number − 2^(bits − 1)). The sign of the scale maps the block's largest weight exactly to the
    lowest number: with 4 bits that gives a sixteenth more resolution than a symmetric range.
    """
    parts = [_blocks(part, bits, size) for part in weight.split(max(1, AT_ONCE // weight.shape[1]))]
    numbers, scales = (np.concatenate(each) for each in zip(*parts, strict=True))
    return numbers, scales


def _blocks(weight: torch.Tensor, bits: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    rows, columns = weight.shape
    padded = torch.nn.functional.pad(weight, (0, -columns % size)).reshape(rows, -1, size)
    largest = padded.gather(-1, padded.abs().argmax(-1, keepdim=True))
    half = 1 << (bits - 1)
    scales = largest / -half
    divisor = torch.where(scales == 0, 1.0, scales)
    numbers = torch.clamp(torch.round(padded / divisor) + half, 0, 2 * half - 1).to(torch.uint8)
    if bits == 4:  # two numbers in a byte, the earlier one in its low half
        numbers = numbers[..., 0::2] | numbers[..., 1::2] << 4
    return numbers.numpy(), scales[..., 0].numpy()
