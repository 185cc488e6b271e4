"""Writes an ONNX graph node by node, its weights beside it where they are too large for one protobuf."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

MICROSOFT = "com.microsoft"  # the domain of ONNX Runtime's own operators
OPSET, MICROSOFT_OPSET = 21, 1
IR_VERSION = 10  # read by every ONNX Runtime since 1.18
PAGE = 4096  # weights begin at pages, so that they can be mapped into memory


class Graph:
    """One graph on its way to `file`. Values are named by strings, as in ONNX.

    external: whether weights go into `<file>_data`; a protobuf holds no more than 2 GB.
    """

    def __init__(self, file: Path, *, external: bool):
        self.file = file
        self.data = open(self.data_file, "wb") if external else None  # noqa: SIM115  closed by `save`
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, MICROSOFT_OPSET)]
        self.model = helper.make_model(
            onnx.GraphProto(name="decoder"),
            opset_imports=opsets,
            ir_version=IR_VERSION,
            producer_name="tandem-trainer",
        )
        # Everything is made in its place: a protobuf copies what is put into another.
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
        """The name of its first output; `named` are those of all, where they matter."""
        number = len(self.graph.node)
        outputs = named or [f"{operator}.{number}"]
        self.graph.node.append(
            helper.make_node(operator, inputs, outputs, f"node.{number}", domain=domain, **attributes)
        )
        return outputs[0]

    def constant(self, *values: int) -> str:
        """(n,) int64, one initializer for all uses."""
        return self.weight("constant." + ".".join(map(str, values)), np.array(values, np.int64))

    def weight(self, name: str, value: np.ndarray) -> str:
        """Written at once, and once: a name that is there already is what it was."""
        if name in self.initializers:
            return name
        kind = helper.np_dtype_to_tensor_dtype(value.dtype)
        tensor = self.graph.initializer.add(name=name, data_type=kind, dims=value.shape)
        if self.data is None or value.nbytes < PAGE:
            tensor.raw_data = value.tobytes()
        else:
            self.data.write(b"\0" * (-self.data.tell() % PAGE))
            tensor.data_location = TensorProto.EXTERNAL
            for key, entry in (
                ("location", self.data_file.name),
                ("offset", self.data.tell()),
                ("length", value.nbytes),
            ):
                tensor.external_data.add(key=key, value=str(entry))
            np.ascontiguousarray(value).tofile(self.data)
        self.initializers.add(name)
        return name

    def save(self) -> None:
        if self.data is not None:
            self.data.close()
        self.file.write_bytes(self.model.SerializeToString())
