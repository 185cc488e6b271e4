"""log p of chosen tokens from hidden states, without the logits of all of them at once.

The logits of N tokens take 4·N·V bytes, often more than the model; here they are made in pieces. Of a frozen output
layer the gradient with respect to the hidden state is a fixed direction times what arrives from the loss, so it is
computed in the forward pass, while the piece is there, and nothing is made twice. A trainable output layer keeps the
probabilities when they fit, and otherwise makes them again in the backward pass.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable


@dataclass(frozen=True)
class Head:
    """The output layer of a model: logits = cap(scale · (h Wᵀ + b)), where cap(z) = c·tanh(z/c) or nothing."""

    weight: Tensor  # (V, d)
    bias: Tensor | None  # (V,)
    scale: float
    softcap: float | None

    @staticmethod
    def of(model: nn.Module) -> "Head":
        """Reads the output layer off a causal language model of transformers, adapters or not."""
        layer = model.get_output_embeddings()
        config = model.config.get_text_config()
        # Granite divides by `logits_scaling`, Cohere multiplies by `logit_scale`.
        scale = (getattr(config, "logit_scale", None) or 1.0) / (getattr(config, "logits_scaling", None) or 1.0)
        return Head(layer.weight, layer.bias, scale, getattr(config, "final_logit_softcapping", None))


def chosen_log_probs(
    hidden: Tensor, targets: Tensor, head: Head, *, temperature: float = 1.0, logits_bytes: int = 256 << 20
) -> Tensor:
    """log p(target) under softmax(logits / temperature): hidden (N, d), targets (N,) → (N,) float32.

    At most `logits_bytes` of logits are alive at a time (one row at least). Differentiable once.
    """
    rows = max(1, logits_bytes // (4 * head.weight.shape[0]))
    arguments = (hidden, head.weight, head.bias, targets, head.scale, head.softcap, temperature, rows)
    if not torch.is_grad_enabled():
        return _pieces(*arguments)[0]
    trainable = head.weight.requires_grad or (head.bias is not None and head.bias.requires_grad)
    if trainable:
        return _TrainableHead.apply(*arguments)
    return _FrozenHead.apply(*arguments)


def _log_probs(hidden, weight, bias, scale, softcap, temperature) -> tuple[Tensor, Tensor | None]:
    """(n, V) float32 log-probabilities of a piece, and the slope of the soft cap if there is one."""
    logits = nn.functional.linear(hidden, weight, bias).float()
    if scale != 1.0:
        logits *= scale
    slope = None
    if softcap is not None:
        tanh = logits.div_(softcap).tanh_()
        slope = 1 - tanh * tanh
        logits = tanh * softcap
    if temperature != 1.0:
        logits /= temperature
    return logits.log_softmax(dim=-1), slope


def _pieces(hidden, weight, bias, targets, scale, softcap, temperature, rows):
    """The forward pass alone."""
    chosen = []
    for part, target in zip(hidden.split(rows), targets.split(rows), strict=True):
        log_probs, _ = _log_probs(part, weight, bias, scale, softcap, temperature)
        chosen.append(log_probs.gather(1, target[:, None])[:, 0])
    return torch.cat(chosen), None


def _slopes(log_probs: Tensor, slope: Tensor | None, target: Tensor, factor: float) -> Tensor:
    """∂ log p(target) / ∂ (h Wᵀ + b): (onehot − p), through the soft cap, times scale over temperature. In place."""
    slopes = log_probs.exp_().neg_()
    slopes.scatter_add_(1, target[:, None], torch.ones_like(target[:, None], dtype=slopes.dtype))
    if slope is not None:
        slopes *= slope
    if factor != 1.0:
        slopes *= factor
    return slopes


class _FrozenHead(torch.autograd.Function):
    """The gradient's direction ∂ log p / ∂h = (onehot − p) W is made in the forward pass: (N, d) instead of (N, V)."""

    @staticmethod
    def forward(ctx, hidden, weight, bias, targets, scale, softcap, temperature, rows):
        chosen, directions = [], []
        for part, target in zip(hidden.split(rows), targets.split(rows), strict=True):
            log_probs, slope = _log_probs(part, weight, bias, scale, softcap, temperature)
            chosen.append(log_probs.gather(1, target[:, None])[:, 0])
            slopes = _slopes(log_probs, slope, target, scale / temperature)
            directions.append(slopes.to(weight.dtype) @ weight)
        ctx.save_for_backward(torch.cat(directions))
        return torch.cat(chosen)

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient):
        (directions,) = ctx.saved_tensors
        return (gradient[:, None].to(directions.dtype) * directions, *[None] * 7)


class _TrainableHead(torch.autograd.Function):
    """The probabilities of each piece are made again in the backward pass."""

    @staticmethod
    def forward(ctx, hidden, weight, bias, targets, scale, softcap, temperature, rows):
        ctx.save_for_backward(hidden, weight, bias, targets)
        ctx.settings = (scale, softcap, temperature, rows)
        return _pieces(hidden, weight, bias, targets, scale, softcap, temperature, rows)[0]

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient):
        hidden, weight, bias, targets = ctx.saved_tensors
        scale, softcap, temperature, rows = ctx.settings
        hidden_gradient = torch.empty_like(hidden)
        weight_gradient = torch.zeros_like(weight)
        bias_gradient = None if bias is None else torch.zeros_like(bias)
        for start in range(0, len(hidden), rows):
            here = slice(start, start + rows)
            log_probs, slope = _log_probs(hidden[here], weight, bias, scale, softcap, temperature)
            slopes = _slopes(log_probs, slope, targets[here], scale / temperature)
            slopes = (slopes * gradient[here, None]).to(weight.dtype)
            hidden_gradient[here] = slopes @ weight
            weight_gradient.addmm_(slopes.T, hidden[here])
            if bias is not None:
                bias_gradient += slopes.sum(dim=0)
        return hidden_gradient, weight_gradient, bias_gradient, *[None] * 5
