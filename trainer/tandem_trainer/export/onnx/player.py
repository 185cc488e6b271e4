"""Writes the graph that generates text. It only reads the keys and values of earlier tokens, and returns those of new
tokens in one small output, which the caller appends: ONNX Runtime for Node.js copies every output of a graph, so one
that returned the whole cache would have it copied for each token.

Attention is made of operators that every execution provider has, so that one graph serves processors and GPUs.
"""

from pathlib import Path

import numpy as np
from onnx import TensorProto

from .decoder import Decoder, Precision
from .graph import MICROSOFT
from .shape import Shape

NEVER = 2**31  # a position after all others
HIDDEN = -1e9  # added to the score of a key that a query does not see


def write_player(folder: Path, shape: Shape, file: Path, precision: Precision) -> None:
    """Writes a graph that continues B rows, whose caches have room for P tokens each.

    input_ids (B, T), past_lengths (B,) of the tokens in each row's cache, num_logits_to_keep () and
    past_key_values.N.key and .value (B, key heads, P, head_dim) → logits (B, K, V) of the last num_logits_to_keep
    tokens, or of all if that is 0, and new_key_values (B, 2 · layers · key heads, T, head_dim): keys of the first
    layer, its values, keys of the second layer … of the new tokens. What a cache has beyond its length is ignored, but
    has to be finite. P is 1 or more on WebGPU, which fails on empty tensors.
    """
    decoder = CachedDecoder(folder, shape, file, precision)
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
