"""The layers of a decoder as parts of an ONNX graph; player.py and scorer.py add attention, inputs and outputs."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import torch

from .graph import BLOCK, MICROSOFT, Graph, blocks
from .shape import Shape
from .weights import Weights

Precision = Literal["fp32", "int8", "int4"]
LIMIT = 1_500_000_000  # bytes; larger weights go into a file beside the graph
# The head of an int4 model has 8 bits: it chooses the token, and it is a small part of a large model.
BITS = {"fp32": None, "int8": 8, "int4": 4}
HEAD_BITS = {"fp32": None, "int8": 8, "int4": 8}
EMBEDDING = "model.embed_tokens.weight"


class Decoder(ABC):
    """Weights keep their names in the folder; those of one product are joined by `+`."""

    def __init__(self, folder: Path, shape: Shape, file: Path, precision: Precision):
        self.shape, self.precision = shape, precision
        self.weights = Weights(folder)
        size = 4 if BITS[precision] is None else BITS[precision] / 8 + 4 / BLOCK
        embedding = 4 * shape.vocabulary * shape.width
        self.graph = Graph(file, external=self.weights.parameters * size + embedding > LIMIT)

    @abstractmethod
    def attention(self, number: int, normed: str) -> str:
        """Mixes values in layer `number`, (B, T, width) → (B, T, heads · head_dim)."""

    def states(self, ids: str) -> str:
        """Computes (B, T, width) after the last norm."""
        states = self.embedding(ids)
        for number in range(self.shape.layers):
            states = self.layer(number, states)
        return self.norm(states, "model.norm")

    def embedding(self, ids: str) -> str:
        """A quantised table has the bits of the head, so that a tied head can share it."""
        graph, bits = self.graph, HEAD_BITS[self.precision]
        if bits is None or self.shape.width % BLOCK:
            return graph.node("Gather", self.plain(EMBEDDING), ids, axis=0)
        numbers, scales = self.quantised([EMBEDDING], bits)
        rows = graph.node("Reshape", numbers, graph.constant(self.shape.vocabulary, self.shape.width))
        return graph.node(
            "GatherBlockQuantized", rows, ids, scales, domain=MICROSOFT, bits=bits, block_size=BLOCK, quantize_axis=1
        )

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
            block_size=BLOCK,
            accuracy_level=4,  # quantises activations to 8 bits as well
        )

    def quantised(self, names: Sequence[str], bits: int) -> tuple[str, str]:
        """Adds a quantised weight: numbers (N, blocks, bytes) and scales (N, blocks)."""
        joined = "+".join(names)
        parts = (f"{joined}.int{bits}", f"{joined}.scales")
        if parts[0] not in self.graph.initializers:
            for part, values in zip(parts, blocks(self.stacked(names), bits), strict=True):
                self.graph.weight(part, values)
        return parts

    def stacked(self, names: Sequence[str]) -> torch.Tensor:
        return self.weights[names[0]] if len(names) == 1 else torch.cat([self.weights[name] for name in names])

    def plain(self, name: str) -> str:
        return self.graph.weight(name, self.weights[name].numpy())
