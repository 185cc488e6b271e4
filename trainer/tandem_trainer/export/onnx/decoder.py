"""Writes the decoder of a model folder as an ONNX graph for generation or for scoring.

Attention is ONNX Runtime's GroupQueryAttention, which rotates queries and keys and maintains the cache. Rows of a batch
must be padded on the right: the first `sum(attention_mask)` places of a row's cache are its tokens.
Quantised weights are blocks of integers with a scale each, in the layout of ONNX Runtime's MatMulNBits.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper

from .shape import Shape
from .weights import Weights

Precision = Literal["fp32", "int8", "int4"]
LIMIT = 1_500_000_000  # bytes; larger weights go into a file beside the graph
# The head of an int4 model has 8 bits: it chooses the token, and it is a small part of a large model.
BITS = {"fp32": None, "int8": 8, "int4": 4}
HEAD_BITS = {"fp32": None, "int8": 8, "int4": 8}
MICROSOFT = "com.microsoft"  # the domain of ONNX Runtime's own operators
OPSET, MICROSOFT_OPSET = 21, 1
IR_VERSION = 10  # read by every ONNX Runtime since 1.18
PAGE = 4096  # bytes; weights start at page boundaries, so that they can be memory-mapped
BLOCK = 32  # neighbouring weights of one output that share a scale
AT_ONCE = 1 << 24  # weights converted at a time: a whole table would need several times its memory


def write_player(folder: Path, shape: Shape, file: Path, precision: Precision) -> None:
    """Writes a graph for generation, with the inputs and outputs that runners of Hugging Face models share.

    input_ids (B, T), attention_mask (B, P + T), num_logits_to_keep (), past_key_values.N.key and .value (B, key heads,
    P, head_dim) → logits (B, K, V) of the last num_logits_to_keep tokens, or of all if that is 0; present.N.key and
    .value (B, key heads, P + T, head_dim).
    """
    decoder = Decoder(folder, shape, file, precision)
    graph = decoder.graph
    ids = graph.input("input_ids", TensorProto.INT64, ["batch", "sequence"])
    mask = graph.input("attention_mask", TensorProto.INT64, ["batch", "total"])
    kept = graph.input("num_logits_to_keep", TensorProto.INT64, [])
    valid = graph.node("ReduceSum", mask, graph.constant(1), keepdims=0)
    ends = graph.node("Cast", graph.node("Sub", valid, graph.constant(1)), to=TensorProto.INT32)
    longest = decoder.length_of(mask)
    for layer in range(shape.layers):
        for part in ("key", "value"):
            cached = ["batch", shape.key_heads, "past", shape.head_dim]
            graph.input(f"past_key_values.{layer}.{part}", TensorProto.FLOAT, cached)
    states = decoder.states(ids, ends, longest, cached=True)
    decoder.head(decoder.last(states, kept), named=["logits"])
    graph.output("logits", TensorProto.FLOAT, ["batch", "kept", shape.vocabulary])
    for layer in range(shape.layers):
        for part in ("key", "value"):
            grown = ["batch", shape.key_heads, "total", shape.head_dim]
            graph.output(f"present.{layer}.{part}", TensorProto.FLOAT, grown)
    graph.save()


def write_scorer(folder: Path, shape: Shape, file: Path, precision: Precision = "fp32") -> None:
    """Writes a graph for scoring: input_ids (1, T), positions (N,), targets (N,) → log_probs (N,).

    log_probs[n] is log p(targets[n] | input_ids[: positions[n] + 1]).
    Positions are selected before the output layer, so that it computes logits of N tokens instead of T.
    """
    decoder = Decoder(folder, shape, file, precision)
    graph = decoder.graph
    ids = graph.input("input_ids", TensorProto.INT64, [1, "sequence"])
    positions = graph.input("positions", TensorProto.INT64, ["selected"])
    targets = graph.input("targets", TensorProto.INT64, ["selected"])
    longest = decoder.length_of(ids)
    ends = graph.node("Sub", longest, graph.weight("one", torch.ones(1, dtype=torch.int32).numpy()))
    states = decoder.states(ids, ends, longest, cached=False)
    selected = graph.node("Gather", graph.node("Squeeze", states, graph.constant(0)), positions, axis=0)
    logits = decoder.head(selected)
    chosen = graph.node("GatherElements", logits, graph.node("Unsqueeze", targets, graph.constant(1)), axis=1)
    total = graph.node("ReduceLogSumExp", logits, graph.constant(1), keepdims=1)
    graph.node("Squeeze", graph.node("Sub", chosen, total), graph.constant(1), named=["log_probs"])
    graph.output("log_probs", TensorProto.FLOAT, ["selected"])
    graph.save()


class Decoder:
    """Weights keep their names in the folder."""

    def __init__(self, folder: Path, shape: Shape, file: Path, precision: Precision):
        self.shape, self.precision = shape, precision
        self.weights = Weights(folder)
        size = 4 if BITS[precision] is None else BITS[precision] / 8 + 4 / BLOCK
        embedding = 4 * shape.vocabulary * shape.width
        self.graph = Graph(file, external=self.weights.parameters * size + embedding > LIMIT)

    def length_of(self, value: str) -> str:
        """Returns the second dimension as int32, the type of lengths in GroupQueryAttention."""
        graph = self.graph
        length = graph.node("Shape", value, start=1, end=2)
        return graph.node("Cast", length, to=TensorProto.INT32)

    def last(self, states: str, kept: str) -> str:
        """Keeps the last K tokens, (B, T, d) → (B, K, d); the slice starts at −K, so that K = 0 keeps all."""
        graph = self.graph
        start = graph.node("Reshape", graph.node("Neg", kept), graph.constant(1))
        return graph.node("Slice", states, start, graph.constant(2**31 - 1), graph.constant(1))

    def states(self, ids: str, ends: str, longest: str, *, cached: bool) -> str:
        """Computes (B, T, d) after the last norm. ends: index of each row's last token. longest: places of a row."""
        states = self.embedding(ids)
        for layer in range(self.shape.layers):
            states = self.layer(layer, states, ends, longest, cached=cached)
        return self.norm(states, "model.norm")

    def embedding(self, ids: str) -> str:
        """A quantised table has the bits of the head, so that a tied head can share it."""
        graph, bits = self.graph, HEAD_BITS[self.precision]
        if bits is None or self.shape.width % BLOCK:
            return graph.node("Gather", self.plain("model.embed_tokens.weight"), ids, axis=0)
        numbers, scales = self.quantised("model.embed_tokens.weight", bits)
        rows = graph.node("Reshape", numbers, graph.constant(self.shape.vocabulary, self.shape.width))
        return graph.node(
            "GatherBlockQuantized", rows, ids, scales, domain=MICROSOFT, bits=bits, block_size=BLOCK, quantize_axis=1
        )

    def layer(self, number: int, states: str, ends: str, longest: str, *, cached: bool) -> str:
        graph, name = self.graph, f"model.layers.{number}"
        normed = self.norm(states, f"{name}.input_layernorm")
        mixed = self.attention(number, normed, ends, longest, cached=cached)
        states = graph.node("Add", states, self.linear(mixed, f"{name}.self_attn.o_proj"))
        normed = self.norm(states, f"{name}.post_attention_layernorm")
        gate = self.linear(normed, f"{name}.mlp.gate_proj")
        gate = graph.node("Mul", gate, graph.node("Sigmoid", gate))
        wide = graph.node("Mul", gate, self.linear(normed, f"{name}.mlp.up_proj"))
        return graph.node("Add", states, self.linear(wide, f"{name}.mlp.down_proj"))

    def attention(self, number: int, normed: str, ends: str, longest: str, *, cached: bool) -> str:
        graph, shape, name = self.graph, self.shape, f"model.layers.{number}.self_attn"
        query, key, value = (self.linear(normed, f"{name}.{part}_proj") for part in "qkv")
        if f"{name}.q_norm.weight" in self.weights:  # Qwen 3
            query = self.head_norm(query, f"{name}.q_norm", shape.heads)
            key = self.head_norm(key, f"{name}.k_norm", shape.key_heads)
        past = [f"past_key_values.{number}.{part}" if cached else "" for part in ("key", "value")]
        present = [f"present.{number}.{part}" for part in ("key", "value")]
        tables = (graph.weight("cos", shape.cos.numpy()), graph.weight("sin", shape.sin.numpy()))
        window = shape.windows[number]
        return graph.node(
            "GroupQueryAttention",
            *(query, key, value, *past, ends, longest, *tables),
            named=[f"attention.{number}", *present],
            domain=MICROSOFT,
            num_heads=shape.heads,
            kv_num_heads=shape.key_heads,
            scale=shape.head_dim**-0.5,
            do_rotary=1,
            local_window_size=-1 if window is None else window,
        )

    def norm(self, value: str, name: str) -> str:
        weight = self.plain(f"{name}.weight")
        return self.graph.node(
            "SimplifiedLayerNormalization", value, weight, axis=-1, epsilon=self.shape.epsilon, stash_type=1
        )

    def head_norm(self, value: str, name: str, heads: int) -> str:
        """Normalises each head of (B, T, heads · head_dim) separately."""
        graph, size = self.graph, self.shape.head_dim
        apart = graph.node("Reshape", value, graph.constant(0, 0, heads, size))
        return graph.node("Reshape", self.norm(apart, name), graph.constant(0, 0, heads * size))

    def linear(self, value: str, name: str) -> str:
        product = self.product(value, f"{name}.weight", BITS[self.precision])
        if f"{name}.bias" not in self.weights:
            return product
        return self.graph.node("Add", product, self.plain(f"{name}.bias"))

    def head(self, value: str, named: Sequence[str] = ()) -> str:
        if not self.shape.tied:
            return self.product(value, "lm_head.weight", HEAD_BITS[self.precision], named)
        if self.precision == "fp32":  # shares the embedding: ONNX Runtime transposes it once, on load
            turned = self.graph.node("Transpose", self.plain("model.embed_tokens.weight"), perm=[1, 0])
            return self.graph.node("MatMul", value, turned, named=named)
        return self.product(value, "model.embed_tokens.weight", HEAD_BITS[self.precision], named)

    def product(self, value: str, name: str, bits: int | None, named: Sequence[str] = ()) -> str:
        """Computes value · Wᵀ with the folder's W (N, K)."""
        graph = self.graph
        if bits is None:
            turned = graph.weight(f"{name}.turned", self.weights[name].T.contiguous().numpy())
            return graph.node("MatMul", value, turned, named=named)
        outputs, inputs = self.weights.shape(name)
        return graph.node(
            "MatMulNBits",
            *(value, *self.quantised(name, bits)),
            named=named,
            domain=MICROSOFT,
            K=inputs,
            N=outputs,
            bits=bits,
            block_size=BLOCK,
            accuracy_level=4,  # quantises activations to 8 bits as well
        )

    def quantised(self, name: str, bits: int) -> tuple[str, str]:
        """Adds a quantised weight: numbers (N, blocks, bytes) and scales (N, blocks)."""
        names = (f"{name}.int{bits}", f"{name}.scales")
        if names[0] not in self.graph.initializers:
            for part, values in zip(names, blocks(self.weights[name], bits), strict=True):
                self.graph.weight(part, values)
        return names

    def plain(self, name: str) -> str:
        return self.graph.weight(name, self.weights[name].numpy())


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


def blocks(weight: torch.Tensor, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Quantises (N, K) to numbers (N, ⌈K / 32⌉, 4 · bits) uint8 and scales (N, ⌈K / 32⌉) float32.

    A weight is scale · (number − 2^(bits − 1)). The sign of the scale maps the block's largest weight exactly to the
    lowest number: with 4 bits that gives a sixteenth more resolution than a symmetric range.
    """
    parts = [_blocks(part, bits) for part in weight.split(max(1, AT_ONCE // weight.shape[1]))]
    numbers, scales = (np.concatenate(each) for each in zip(*parts, strict=True))
    return numbers, scales


def _blocks(weight: torch.Tensor, bits: int) -> tuple[np.ndarray, np.ndarray]:
    rows, columns = weight.shape
    padded = torch.nn.functional.pad(weight, (0, -columns % BLOCK)).reshape(rows, -1, BLOCK)
    largest = padded.gather(-1, padded.abs().argmax(-1, keepdim=True))
    half = 1 << (bits - 1)
    scales = largest / -half
    divisor = torch.where(scales == 0, 1.0, scales)
    numbers = torch.clamp(torch.round(padded / divisor) + half, 0, 2 * half - 1).to(torch.uint8)
    if bits == 4:  # two numbers in a byte, the earlier one in its low half
        numbers = numbers[..., 0::2] | numbers[..., 1::2] << 4
    return numbers.numpy(), scales[..., 0].numpy()
