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
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: dict[str, onnx.TensorProto] = {}
        self.inputs: list[onnx.ValueInfoProto] = []
        self.outputs: list[onnx.ValueInfoProto] = []

    @property
    def data_file(self) -> Path:
        return self.file.with_name(self.file.name + "_data")

    def input(self, name: str, kind: int, shape: list[int | str]) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def output(self, name: str, kind: int, shape: list[int | str]) -> None:
        self.outputs.append(helper.make_tensor_value_info(name, kind, shape))

    def node(self, operator: str, *inputs: str, named: Sequence[str] = (), domain: str = "", **attributes: Any) -> str:
        """The name of its first output; `named` are those of all, where they matter."""
        outputs = named or [f"{operator}.{len(self.nodes)}"]
        node = helper.make_node(operator, inputs, outputs, f"node.{len(self.nodes)}", domain=domain, **attributes)
        self.nodes.append(node)
        return outputs[0]

    def constant(self, *values: int) -> str:
        """(n,) int64, one initializer for all uses."""
        name = "constant." + ".".join(map(str, values))
        if name not in self.initializers:
            self.initializers[name] = helper.make_tensor(name, TensorProto.INT64, [len(values)], values)
        return name

    def weight(self, name: str, value: np.ndarray) -> str:
        """Written at once, and once: a name that is there already is what it was."""
        if name in self.initializers:
            return name
        kind = helper.np_dtype_to_tensor_dtype(value.dtype)
        tensor = TensorProto(name=name, data_type=kind, dims=value.shape)
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
        self.initializers[name] = tensor
        return name

    def save(self) -> None:
        if self.data is not None:
            self.data.close()
        graph = helper.make_graph(self.nodes, "decoder", self.inputs, self.outputs, list(self.initializers.values()))
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, MICROSOFT_OPSET)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="tandem-trainer")
        self.file.write_bytes(model.SerializeToString())
