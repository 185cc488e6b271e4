"""Weights in blocks of whole numbers with a scale each, in the layout of ONNX Runtime's MatMulNBits."""

import numpy as np
import torch

BLOCK = 32  # neighbouring weights of one output that share a scale
AT_ONCE = 1 << 24  # weights that are worked on together: a large table would need several times its memory


def blocks(weight: torch.Tensor, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """(N, K) to numbers (N, ⌈K / 32⌉, 4 · bits) uint8 and scales (N, ⌈K / 32⌉) float32.

    A weight is scale · (number − 2^(bits − 1)). The scale takes the sign of the block's largest weight, which so falls
    on the lowest number exactly: of 4 bits that is a sixteenth more resolution than a symmetric range.
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
    if bits == 4:  # two in a byte, the earlier one in its low half
        numbers = numbers[..., 0::2] | numbers[..., 1::2] << 4
    return numbers.numpy(), scales[..., 0].numpy()
