"""Writes a decoder as an ONNX graph that generates text, or as one that scores given texts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from onnx import TensorProto

from .graph import MICROSOFT, Graph, blocks
from .shape import Shape
from .weights import Weights

Precision = Literal["fp32", "int8", "int4"]
LIMIT = 64_000_000  # bytes; larger weights go into a file beside the graph, of which ONNX Runtime makes no copy on load
# The head of an int4 model has 8 bits: it chooses the token, and it is a small part of a large model.
BITS = {"fp32": None, "int8": 8, "int4": 4}
HEAD_BITS = {"fp32": None, "int8": 8, "int4": 8}
EMBEDDING = "model.embed_tokens.weight"


class Decoder:
    """The layers. Weights keep their names in the folder; those of one product are joined by `+`."""

    def __init__(self, folder: Path, shape: Shape, file: Path, precision: Precision, block: int = 32):
        """block: neighbouring weights of one output that share a scale, where they are quantised."""
        self.shape, self.precision, self.block = shape, precision, block
        self.weights = Weights(folder)
        size = 4 if BITS[precision] is None else BITS[precision] / 8 + 4 / block
        embedding = 4 * shape.vocabulary * shape.width
        self.graph = Graph(file, external=self.weights.parameters * size + embedding > LIMIT)

    def attention(self, number: int, normed: str) -> str:
        """Mixes values in layer `number`, (B, T, width) → (B, T, heads · head_dim)."""
        raise NotImplementedError

    def states(self, ids: str) -> str:
        """Computes (B, T, width) after the last norm."""
        states = self.embedding(ids)
        for number in range(self.shape.layers):
            states = self.layer(number, states)
        return self.norm(states, "model.norm")

    def embedding(self, ids: str) -> str:
        """A quantised table has the bits of the head, so that a tied head can share it."""
        graph, bits = self.graph, HEAD_BITS[self.precision]
        if bits is None or self.shape.width % self.block:
            return graph.node("Gather", self.plain(EMBEDDING), ids, axis=0)
        numbers, scales = self.quantised([EMBEDDING], bits)
        rows = graph.node("Reshape", numbers, graph.constant(self.shape.vocabulary, self.shape.width))
        sizes = {"bits": bits, "block_size": self.block, "quantize_axis": 1}
        return graph.node("GatherBlockQuantized", rows, ids, scales, domain=MICROSOFT, **sizes)

    def layer(self, number: int, states: str) -> str:
        graph, name = self.graph, f"model.layers.{number}"
        mixed = self.attention(number, self.norm(states, f"{name}.input_layernorm"))
        states = graph.node("Add", states, self.linear(mixed, f"{name}.self_attn.o_proj"))
        normed = self.norm(states, f"{name}.post_attention_layernorm")
        both = self.linear(normed, f"{name}.mlp.gate_proj", f"{name}.mlp.up_proj")
        gate, up = graph.split(both, 2, axis=-1, num_outputs=2)
        wide = graph.node("Mul", graph.node("Mul", gate, graph.node("Sigmoid", gate)), up)
        return graph.node("Add", states, self.linear(wide, f"{name}.mlp.down_proj"))

    def norm(self, value: str, name: str) -> str:
        weight = self.plain(f"{name}.weight")
        return self.graph.node(
            "SimplifiedLayerNormalization", value, weight, axis=-1, epsilon=self.shape.epsilon, stash_type=1
        )

    def linear(self, value: str, *names: str) -> str:
        """Several layers are one product, which is faster; their outputs lie side by side."""
        product = self.product(value, [f"{name}.weight" for name in names], BITS[self.precision])
        biases = [f"{name}.bias" for name in names]
        if biases[0] not in self.weights:
            return product
        bias = torch.cat([self.weights[name] for name in biases])
        return self.graph.node("Add", product, self.graph.weight("+".join(biases), bias.numpy()))

    def head(self, value: str, named: Sequence[str] = ()) -> str:
        if not self.shape.tied:
            return self.product(value, ["lm_head.weight"], HEAD_BITS[self.precision], named)
        if self.precision == "fp32":  # shares the embedding: ONNX Runtime transposes it once, on load
            turned = self.graph.node("Transpose", self.plain(EMBEDDING), perm=[1, 0])
            return self.graph.node("MatMul", value, turned, named=named)
        return self.product(value, [EMBEDDING], HEAD_BITS[self.precision], named)

    def product(self, value: str, names: Sequence[str], bits: int | None, named: Sequence[str] = ()) -> str:
        """Computes value · Wᵀ with the folder's W (N, K), or with several above each other."""
        graph = self.graph
        if bits is None:
            turned = graph.weight(f"{'+'.join(names)}.turned", self.stacked(names).T.contiguous().numpy())
            return graph.node("MatMul", value, turned, named=named)
        shapes = [self.weights.shape(name) for name in names]
        return graph.node(
            "MatMulNBits",
            *(value, *self.quantised(names, bits)),
            named=named,
            domain=MICROSOFT,
            K=shapes[0][1],
            N=sum(outputs for outputs, _ in shapes),
            bits=bits,
            block_size=self.block,
            accuracy_level=4,  # quantises activations to 8 bits as well
        )

    def quantised(self, names: Sequence[str], bits: int) -> tuple[str, str]:
        """Adds a quantised weight: numbers (N, blocks, bytes) and scales (N, blocks)."""
        joined = "+".join(names)
        parts = (f"{joined}.int{bits}", f"{joined}.scales")
        if parts[0] not in self.graph.initializers:
            for part, values in zip(parts, blocks(self.stacked(names), bits, self.block), strict=True):
                self.graph.weight(part, values)
        return parts

    def stacked(self, names: Sequence[str]) -> torch.Tensor:
        return self.weights[names[0]] if len(names) == 1 else torch.cat([self.weights[name] for name in names])

    def plain(self, name: str) -> str:
        return self.graph.weight(name, self.weights[name].numpy())


# ---- the graph that generates text
#
# It only reads the keys and values of earlier tokens, and returns those of new tokens in one small output, which the
# caller appends: ONNX Runtime for Node.js copies every output of a graph, so one that returned the whole cache would
# have it copied for each token. Its operators are those that every execution provider has, processors and GPUs.

NEVER = 2**31  # a position after all others
HIDDEN = -1e9  # added to the score of a key that a query does not see


def write_player(folder: Path, shape: Shape, file: Path, precision: Precision, block: int) -> None:
    """Writes a graph that continues B rows, whose caches have room for P tokens each.

    input_ids (B, T), past_lengths (B,) of the tokens in each row's cache, num_logits_to_keep () and
    past_key_values.N.key and .value (B, key heads, P, head_dim) → logits (B, K, V) of the last num_logits_to_keep
    tokens, or of all if that is 0, their softmax as probabilities, and new_key_values (B, 2 · layers · key heads, T,
    head_dim): keys of the first layer, its values, keys of the second layer … of the new tokens. What a cache has
    beyond its length is ignored, but has to be finite. P is 1 or more on WebGPU, which fails on empty tensors.
    """
    decoder = CachedDecoder(folder, shape, file, precision, block)
    graph = decoder.graph
    ids = graph.input("input_ids", TensorProto.INT64, ["batch", "sequence"])
    lengths = graph.input("past_lengths", TensorProto.INT64, ["batch"])
    kept = graph.input("num_logits_to_keep", TensorProto.INT64, [])
    for layer in range(shape.layers):
        for part in ("key", "value"):
            cached = ["batch", shape.key_heads, "past", shape.head_dim]
            graph.input(f"past_key_values.{layer}.{part}", TensorProto.FLOAT, cached)
    decoder.place(ids, lengths)
    states = decoder.states(ids)
    # The slice starts at −K, so that K = 0 keeps all.
    start = graph.node("Reshape", graph.node("Neg", kept), graph.constant(1))
    last = graph.node("Slice", states, start, graph.constant(2**31 - 1), graph.constant(1))
    decoder.head(last, named=["logits"])
    graph.output("logits", TensorProto.FLOAT, ["batch", "kept", shape.vocabulary])
    # A draw from these needs no exponentials, which take longer than all else that the caller does for a token.
    graph.node("Softmax", "logits", axis=-1, named=["probabilities"])
    graph.output("probabilities", TensorProto.FLOAT, ["batch", "kept", shape.vocabulary])
    graph.node("Concat", *decoder.new, named=["new_key_values"], axis=1)
    appended = 2 * shape.layers * shape.key_heads
    graph.output("new_key_values", TensorProto.FLOAT, ["batch", appended, "sequence", shape.head_dim])
    graph.save()


class CachedDecoder(Decoder):
    """Queries of heads that share a key lie behind each other, as one matrix of G · T rows (G heads share a key)."""

    def place(self, ids: str, lengths: str) -> None:
        """Adds what all layers share: positions of the new tokens and which keys they see. Call it first."""
        graph = self.graph
        zero, one = (graph.weight(f"scalar.{value}", np.array(value, np.int64)) for value in (0, 1))
        past = graph.node("Shape", "past_key_values.0.key", start=2, end=3)
        new = graph.node("Shape", ids, start=1, end=2)
        places, steps = (graph.node("Range", zero, graph.node("Squeeze", size), one) for size in (past, new))
        starts = graph.node("Unsqueeze", lengths, graph.constant(1))
        self.positions = graph.node("Add", starts, steps)  # (B, T)
        used = graph.node("Less", places, starts)  # (B, P)
        earlier = graph.node("Where", used, places, graph.constant(NEVER))
        self.keys = graph.node("Concat", earlier, self.positions, axis=1)  # (B, P + T), positions of the keys
        self.widths = graph.node("Concat", past, new, axis=0)
        self.biases = {window: self.bias(window) for window in set(self.shape.windows)}
        self.new: list[str] = []

    def bias(self, window: int | None) -> str:
        """(B, 1, G · T, P + T), 0 where a query sees a key, else HIDDEN. window: in tokens, itself included."""
        graph, shape = self.graph, self.shape
        query = graph.node("Unsqueeze", self.positions, graph.constant(2))
        key = graph.node("Unsqueeze", self.keys, graph.constant(1))
        seen = graph.node("LessOrEqual", key, query)
        if window is not None:
            before = graph.node("Sub", query, graph.constant(window))
            seen = graph.node("And", seen, graph.node("Greater", key, before))
        shown, hidden = (graph.weight(f"bias.{value:g}", np.float32([value])) for value in (0, HIDDEN))
        bias = graph.node("Unsqueeze", graph.node("Where", seen, shown, hidden), graph.constant(1))
        return graph.node("Tile", bias, graph.constant(1, 1, shape.heads // shape.key_heads, 1))

    def attention(self, number: int, normed: str) -> str:
        graph, shape = self.graph, self.shape
        query, key, value = self.projections(number, normed)
        past_key, past_value = (f"past_key_values.{number}.{part}" for part in ("key", "value"))
        self.new += [key, value]
        query = graph.node("Reshape", query, graph.constant(0, shape.key_heads, -1, shape.head_dim))
        scale = graph.weight("scale", np.float32([shape.head_dim**-0.5]))
        query = graph.node("Mul", query, scale)
        # Earlier and new keys stay apart: joining them would copy the cache.
        scores = [graph.node("MatMul", query, graph.node("Transpose", k, perm=[0, 1, 3, 2])) for k in (past_key, key)]
        masked = graph.node("Add", graph.node("Concat", *scores, axis=-1), self.biases[shape.windows[number]])
        weights = graph.split(graph.node("Softmax", masked, axis=-1), 2, self.widths, axis=-1)
        mixed = [graph.node("MatMul", *each) for each in zip(weights, (past_value, value), strict=True)]
        apart = graph.node("Reshape", graph.node("Add", *mixed), graph.constant(0, shape.heads, -1, shape.head_dim))
        beside = graph.node("Transpose", apart, perm=[0, 2, 1, 3])
        return graph.node("Reshape", beside, graph.constant(0, 0, shape.heads * shape.head_dim))

    def projections(self, number: int, normed: str) -> list[str]:
        """Queries (B, heads, T, head_dim), keys and values (B, key heads, T, head_dim), the first two rotated."""
        graph, shape, name = self.graph, self.shape, f"model.layers.{number}.self_attn"
        heads, key_heads, size = shape.heads, shape.key_heads, shape.head_dim
        joined = self.linear(normed, *(f"{name}.{part}_proj" for part in "qkv"))
        apart = graph.node("Reshape", joined, graph.constant(0, 0, heads + 2 * key_heads, size))
        apart = graph.node("Transpose", apart, perm=[0, 2, 1, 3])
        if f"{name}.q_norm.weight" not in self.weights:
            turned, value = graph.split(apart, 2, graph.constant(heads + key_heads, key_heads), axis=1)
            return [*graph.split(self.rotated(turned), 2, graph.constant(heads, key_heads), axis=1), value]
        query, key, value = graph.split(apart, 3, graph.constant(heads, key_heads, key_heads), axis=1)
        query, key = self.norm(query, f"{name}.q_norm"), self.norm(key, f"{name}.k_norm")  # Qwen 3
        return [self.rotated(query), self.rotated(key), value]

    def rotated(self, value: str) -> str:
        graph, shape = self.graph, self.shape
        tables = (graph.weight("cos", shape.cos.numpy()), graph.weight("sin", shape.sin.numpy()))
        return graph.node("RotaryEmbedding", value, self.positions, *tables, domain=MICROSOFT, interleaved=0)


# ---- the graph that scores given texts


def write_scorer(folder: Path, shape: Shape, file: Path) -> None:
    """Writes a graph for scoring: input_ids (1, T), positions (N,), targets (N,) → log_probs (N,).

    log_probs[n] is log p(targets[n] | input_ids[: positions[n] + 1]).
    Positions are selected before the output layer, so that it computes logits of N tokens instead of T.
    """
    decoder = GroupQueryDecoder(folder, shape, file, "fp32")
    graph = decoder.graph
    ids = graph.input("input_ids", TensorProto.INT64, [1, "sequence"])
    positions = graph.input("positions", TensorProto.INT64, ["selected"])
    targets = graph.input("targets", TensorProto.INT64, ["selected"])
    # GroupQueryAttention has lengths as int32.
    decoder.longest = graph.node("Cast", graph.node("Shape", ids, start=1, end=2), to=TensorProto.INT32)
    decoder.ends = graph.node("Sub", decoder.longest, graph.weight("one", np.ones(1, np.int32)))
    states = decoder.states(ids)
    selected = graph.node("Gather", graph.node("Squeeze", states, graph.constant(0)), positions, axis=0)
    logits = decoder.head(selected)
    chosen = graph.node("GatherElements", logits, graph.node("Unsqueeze", targets, graph.constant(1)), axis=1)
    total = graph.node("ReduceLogSumExp", logits, graph.constant(1), keepdims=1)
    graph.node("Squeeze", graph.node("Sub", chosen, total), graph.constant(1), named=["log_probs"])
    graph.output("log_probs", TensorProto.FLOAT, ["selected"])
    graph.save()


class GroupQueryDecoder(Decoder):
    """Attention is ONNX Runtime's GroupQueryAttention, which rotates queries and keys itself.

    ends: index of each row's last token, (B,) int32. longest: places of a row, (1,) int32. Set both first.
    """

    ends: str
    longest: str

    def attention(self, number: int, normed: str, past: Sequence[str] = ("", "")) -> str:
        """past: names of earlier keys and values; empty for none."""
        graph, shape, name = self.graph, self.shape, f"model.layers.{number}.self_attn"
        query, key, value = (self.linear(normed, f"{name}.{part}_proj") for part in "qkv")
        if f"{name}.q_norm.weight" in self.weights:  # Qwen 3
            query = self.head_norm(query, f"{name}.q_norm", shape.heads)
            key = self.head_norm(key, f"{name}.k_norm", shape.key_heads)
        tables = (graph.weight("cos", shape.cos.numpy()), graph.weight("sin", shape.sin.numpy()))
        window = shape.windows[number]
        return graph.node(
            "GroupQueryAttention",
            *(query, key, value, *past, self.ends, self.longest, *tables),
            named=[f"attention.{number}", f"present.{number}.key", f"present.{number}.value"],
            domain=MICROSOFT,
            num_heads=shape.heads,
            kv_num_heads=shape.key_heads,
            scale=shape.head_dim**-0.5,
            do_rotary=1,
            local_window_size=-1 if window is None else window,
        )

    def head_norm(self, value: str, name: str, heads: int) -> str:
        """Normalises each head of (B, T, heads · head_dim) separately."""
        graph, size = self.graph, self.shape.head_dim
        apart = graph.node("Reshape", value, graph.constant(0, 0, heads, size))
        return graph.node("Reshape", self.norm(apart, name), graph.constant(0, 0, heads * size))
