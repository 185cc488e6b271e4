"""The one path from turns to log-probabilities. Every objective, the reference and the scores go through here.

The logits of N tokens take 4·N·V bytes, often more than the model, so they are computed in pieces. With a frozen output
layer, the gradient with respect to the hidden state is a fixed direction times the incoming gradient. That direction is
computed in the forward pass, and nothing is computed twice. A trainable output layer keeps the probabilities when they
fit, and otherwise recomputes them in the backward pass.

Measured on one CPU core (2,000 tokens, vocabulary 32,000, width 512, float32, forward and backward), as time and memory
above the inputs. Frozen: here 1.4 s and 80 MB, dense log_softmax 1.7 s and 750 MB, F.linear_cross_entropy 2.9 s and
180 MB. Trainable: here 2.2 s and 360 MB when the logits fit, 2.8 s and 170 MB in pieces of 64 MB, dense 2.4 s and
750 MB, F.linear_cross_entropy 3.5 s and 250 MB.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.utils.checkpoint import checkpoint

from ..losses import forward_kl
from ..turn import Turn
from .attention import attending
from .fsdp import within_forward
from .prefix_tree import Forest, grow

# Rows of a piece on a CPU: for 32,000 tokens 128 rows take 8 % longer, 32 rows 40 %, 2,000 rows are no faster.
ROWS = 256


def token_log_probs(
    model: nn.Module, turns: Sequence[Turn], *, temperature: float = 1.0, logits_bytes: int = 256 << 20
) -> list[Tensor]:
    """Computes log p(response token | prompt, earlier response tokens) of each turn: (L_i,) float32, in their order.

    model:        a causal language model of transformers, with or without PEFT adapters.
    temperature:  log-probabilities under softmax(logits / temperature), as a sampler at that temperature reports them.
    logits_bytes: the most that logits may take at one time.

    Common prefixes are computed once, unless the model has other layers than plain causal attention: then rows are
    padded. Differentiable, unless under `torch.no_grad`.
    """
    forest = grow(turns).to(_device(model))
    settings = {"temperature": temperature, "logits_bytes": logits_bytes}

    def compute() -> Tensor:
        hidden = _hidden(model, forest)
        return chosen_log_probs(hidden, forest.targets, Head.of(model), **settings)[torch.cat(forest.places)]

    lengths = [len(place) for place in forest.places]
    return list(within_forward(causal_of(model), compute).split(lengths))


def with_hidden(model: nn.Module, turns: Sequence[Turn], use: Callable[[Tensor, "Head"], Tensor]) -> Tensor:
    """Calls `use` with the hidden states that predict the response tokens of all turns, (N, d), and the output layer.

    For objectives that need whole distributions; memory is theirs to bound. Differentiable.
    """
    forest = grow(turns).to(_device(model))
    places = torch.cat(forest.places)
    return within_forward(causal_of(model), lambda: use(_hidden(model, forest)[places], Head.of(model)))


def last_hidden(model: nn.Module, turns: Sequence[Turn]) -> Tensor:
    """Returns the hidden state at each turn's last response token, after the final norm: (len(turns), d)."""
    forest = grow(turns, ends=True).to(_device(model))
    return within_forward(causal_of(model), lambda: _hidden(model, forest))


def causal_of(model: nn.Module) -> nn.Module:
    """Without PEFT's wrapper, but with its adapters."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model


def decoder_of(model: nn.Module) -> nn.Module:
    """The part that computes hidden states, with its adapters."""
    return causal_of(model).get_decoder()


def _hidden(model: nn.Module, forest: Forest) -> Tensor:
    """Returns the hidden states at `forest.reads`: (N, d)."""
    decoder = decoder_of(model)
    if not getattr(decoder, "shares_prefixes", True):  # by `Base`
        return _separate(decoder, forest)
    with attending(decoder, "tandem"):
        states = decoder(
            input_ids=forest.ids[None], position_ids=forest.positions[None], use_cache=False, forest=forest
        )
    return states.last_hidden_state[0, forest.reads]


def _separate(decoder: nn.Module, forest: Forest) -> Tensor:
    """One row for each leaf, padded on the right, which causal layers never see."""
    paths = [
        torch.cat([torch.arange(*run) for run in (*segment.ancestors, (segment.start, segment.end))])
        for segment in forest.segments
    ]
    width = max(map(len, paths))
    rows = forest.ids.new_zeros(len(paths), width)
    places = torch.empty(len(forest.ids), dtype=torch.int64)  # position in the rows of each token of the pack
    for number, path in enumerate(paths):
        rows[number, : len(path)] = forest.ids[path.to(rows.device)]
        places[path] = number * width + torch.arange(len(path))
    states = decoder(input_ids=rows, use_cache=False).last_hidden_state
    return states.flatten(0, 1)[places.to(rows.device)[forest.reads]]


def _device(model: nn.Module) -> torch.device:
    return model.get_input_embeddings().weight.device


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

    def copied(self) -> "Head":
        bias = None if self.bias is None else self.bias.detach().clone()
        return Head(self.weight.detach().clone(), bias, self.scale, self.softcap)


def chosen_log_probs(
    hidden: Tensor, targets: Tensor, head: Head, *, temperature: float = 1.0, logits_bytes: int = 256 << 20
) -> Tensor:
    """Computes log p(target) under softmax(logits / temperature): hidden (N, d), targets (N,) → (N,) float32.

    At most `logits_bytes` of logits are alive at a time, but at least one row. Differentiable once.
    """
    settings = (targets, head, temperature, logits_bytes)
    trainable = head.weight.requires_grad or (head.bias is not None and head.bias.requires_grad)
    if not (torch.is_grad_enabled() and (trainable or hidden.requires_grad)):
        return _chosen(hidden, *settings)
    if trainable:
        return _TrainableHead.apply(hidden, head.weight, head.bias, *settings)
    return _FrozenHead.apply(hidden, *settings)


def vocabulary_log_probs(hidden: Tensor, head: Head, *, temperature: float = 1.0) -> Tensor:
    """Computes log p of the whole vocabulary under softmax(logits / temperature): hidden (N, d) → (N, V) float32.

    Differentiable.
    """
    logits = nn.functional.linear(hidden, head.weight, head.bias).float() * head.scale
    if head.softcap is not None:
        logits = torch.tanh(logits / head.softcap) * head.softcap
    return (logits / temperature).log_softmax(-1)


def divergences(
    hidden: Tensor, head: Head, targets: Callable[[slice], Tensor], *, logits_bytes: int = 256 << 20
) -> Tensor:
    """Computes KL(target ‖ p) of the distribution at each hidden state: hidden (N, d) → (N,) float32.

    targets: makes the target log-probabilities of some rows, (n, V), without gradients. Pieces of rows are computed
    again in the backward pass, so that of one piece alone distributions are in memory.
    """
    rows = max(1, logits_bytes // (4 * 4 * head.weight.shape[0]))  # four arrays of (rows, V) float32

    def piece(part: Tensor, start: int) -> Tensor:
        with torch.no_grad():
            target = targets(slice(start, start + len(part)))
        return forward_kl(target, vocabulary_log_probs(part, head))

    parts = [(hidden[start : start + rows], start) for start in range(0, len(hidden), rows)]
    if not parts:
        return hidden.sum(-1).float()  # (0,), with gradients
    if not torch.is_grad_enabled():
        return torch.cat([piece(*part) for part in parts])
    return torch.cat([checkpoint(piece, *part, use_reentrant=False, preserve_rng_state=False) for part in parts])


@dataclass
class _Piece:
    """Results for some rows of the output layer; using them needs no second pass over the vocabulary.

    chosen: (n,) log-probabilities of the targets.
    slopes: (n, V), and sums (n, 1): ∂ log p(target) / ∂ (h Wᵀ + b) = −slopes / sums. With e = exp(z − max z) these are
            e and Σ e, but at the target e − Σ e, all through the soft cap's own slope.
    """

    chosen: Tensor
    slopes: Tensor
    sums: Tensor


def _piece(hidden, targets, head: Head, temperature: float, out: Tensor, differentiable: bool = True) -> _Piece:
    """Computes a piece in `out`, (n, V) float32, which becomes `slopes`; a buffer avoids new large arrays."""
    logits = _logits(hidden, head, out)
    factor = head.scale / temperature
    if head.softcap is not None:
        tanh = logits.mul_(head.scale / head.softcap).tanh_()
        cap_slope = 1 - tanh * tanh if differentiable else None
        logits = tanh.mul_(head.softcap / temperature)
    elif factor != 1.0:
        logits = logits.mul_(factor)
    target = targets[:, None]
    logits -= logits.amax(dim=1, keepdim=True)
    chosen = logits.gather(1, target)
    exponentials = logits.exp_()
    sums = exponentials.sum(dim=1, keepdim=True)
    log_probs = (chosen - sums.log())[:, 0]
    if not differentiable:
        return _Piece(log_probs, exponentials, sums)
    slopes = exponentials.scatter_add_(1, target, -sums)
    if head.softcap is not None:
        slopes *= cap_slope
    if hidden.dtype != torch.float32:  # sums over a vocabulary exceed the range of float16
        slopes /= sums
        sums = torch.ones_like(sums)
    return _Piece(log_probs, slopes, sums / factor)


def _logits(hidden: Tensor, head: Head, out: Tensor) -> Tensor:
    weight, bias = head.weight.detach(), head.bias
    if hidden.dtype == torch.float32:
        torch.mm(hidden, weight.T, out=out)
        return out if bias is None else out.add_(bias.detach())
    return out.copy_(nn.functional.linear(hidden, weight, None if bias is None else bias.detach()))


def _most_rows(head: Head, hidden: Tensor, logits_bytes: int) -> int:
    return max(1, min(len(hidden), logits_bytes // (4 * head.weight.shape[0])))


def _rows(head: Head, hidden: Tensor, logits_bytes: int) -> int:
    """On a CPU it is limited, because more rows are not faster."""
    rows = _most_rows(head, hidden, logits_bytes)
    return min(rows, ROWS) if hidden.device.type == "cpu" else rows


def _buffer(head: Head, hidden: Tensor, rows: int) -> Tensor:
    return torch.empty(rows, head.weight.shape[0], dtype=torch.float32, device=hidden.device)


def _chosen(hidden, targets, head: Head, temperature: float, logits_bytes: int) -> Tensor:
    rows = _rows(head, hidden, logits_bytes)
    buffer = _buffer(head, hidden, rows)
    parts = zip(hidden.split(rows), targets.split(rows), strict=True)
    return torch.cat([_piece(h, t, head, temperature, buffer[: len(h)], False).chosen for h, t in parts])


class _FrozenHead(torch.autograd.Function):
    """Computes the gradient's direction ∂ log p / ∂h in the forward pass, to keep (N, d) instead of (N, V)."""

    @staticmethod
    def forward(ctx, hidden, targets, head, temperature, logits_bytes):
        weight = head.weight.detach()
        rows = _rows(head, hidden, logits_bytes)
        buffer = _buffer(head, hidden, rows)
        chosen, directions = [], torch.empty_like(hidden)
        for start in range(0, len(hidden), rows):
            here = slice(start, start + rows)
            part = hidden[here]
            piece = _piece(part, targets[here], head, temperature, buffer[: len(part)])
            directions[here] = piece.slopes.to(weight.dtype) @ weight / -piece.sums
            chosen.append(piece.chosen)
        ctx.save_for_backward(directions)
        return torch.cat(chosen)

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient):
        (directions,) = ctx.saved_tensors
        return gradient[:, None].to(directions.dtype) * directions, *[None] * 4


class _TrainableHead(torch.autograd.Function):
    """Computes the weight's gradient in the backward pass, because the incoming gradient weights its rows.

    The slopes of all rows are kept when they fit into `logits_bytes`; otherwise they are computed again.
    """

    @staticmethod
    def forward(ctx, hidden, weight, _bias, targets, head, temperature, logits_bytes):
        ctx.settings = (head, temperature, logits_bytes)
        if _most_rows(head, hidden, logits_bytes) < len(hidden):
            ctx.save_for_backward(hidden, weight, targets)
            return _chosen(hidden, targets, head, temperature, logits_bytes)
        slopes = _buffer(head, hidden, len(hidden))
        chosen, sums = [], []
        rows = _rows(head, hidden, logits_bytes)
        for start in range(0, len(hidden), rows):
            here = slice(start, start + rows)
            piece = _piece(hidden[here], targets[here], head, temperature, slopes[here])
            chosen.append(piece.chosen)
            sums.append(piece.sums)
        ctx.save_for_backward(hidden, weight, targets, slopes, torch.cat(sums))
        return torch.cat(chosen)

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient):
        hidden, weight, targets, *kept = ctx.saved_tensors
        head, temperature, logits_bytes = ctx.settings
        rows = _most_rows(head, hidden, logits_bytes)
        buffer = None if kept else _buffer(head, hidden, rows)
        hidden_gradient, weight_gradient = torch.empty_like(hidden), torch.zeros_like(weight)
        bias_gradient = None if head.bias is None else torch.zeros_like(head.bias)
        for start in range(0, len(hidden), rows):
            here = slice(start, start + rows)
            part = hidden[here]
            if kept:
                slopes, sums = kept
            else:
                piece = _piece(part, targets[here], head, temperature, buffer[: len(part)])
                slopes, sums = piece.slopes, piece.sums
            slopes, weights = slopes.to(weight.dtype), gradient[here, None] / -sums
            hidden_gradient[here] = slopes @ weight * weights
            weight_gradient.addmm_(slopes.T, (part * weights).to(weight.dtype))
            if bias_gradient is not None:
                bias_gradient += (slopes * weights).sum(dim=0)
        return hidden_gradient, weight_gradient, bias_gradient, *[None] * 4
