"""Writes the graph that scores given texts. Attention is ONNX Runtime's GroupQueryAttention, which rotates queries and
keys itself.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from onnx import TensorProto

from .decoder import Decoder
from .graph import MICROSOFT
from .shape import Shape


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
    decoder.longest = decoder.length_of(ids)
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
    """ends: index of each row's last token, (B,) int32. longest: places of a row, (1,) int32. Set both first."""

    ends: str
    longest: str

    def length_of(self, value: str) -> str:
        """Returns the second dimension as int32, the type of lengths in GroupQueryAttention."""
        return self.graph.node("Cast", self.graph.node("Shape", value, start=1, end=2), to=TensorProto.INT32)

    def attention(self, number: int, normed: str) -> str:
        return self.group_query(number, normed, ["", ""])

    def group_query(self, number: int, normed: str, past: Sequence[str]) -> str:
        """past: names of earlier keys and values, empty for none; `present.N.key` and `.value` include the new ones."""
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
