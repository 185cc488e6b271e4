"""Number types of GGUF files, and the layout of quantised blocks (ggml-common.h of ggml)."""

from typing import NamedTuple

import numpy as np

AT_ONCE = 1 << 15  # blocks converted at a time: a whole table would need several times its memory


class Kind(NamedTuple):
    """number: the type's id in files. count: numbers in a block. bytes: size of a block."""

    number: int
    count: int
    bytes: int


KINDS = {
    "F32": Kind(0, 1, 4),
    "F16": Kind(1, 1, 2),
    "Q4_0": Kind(2, 32, 18),
    "Q4_1": Kind(3, 32, 20),
    "Q5_0": Kind(6, 32, 22),
    "Q5_1": Kind(7, 32, 24),
    "Q8_0": Kind(8, 32, 34),
    "Q4_K": Kind(12, 256, 144),
    "Q5_K": Kind(13, 256, 176),
    "Q6_K": Kind(14, 256, 210),
    "BF16": Kind(30, 1, 2),
}


def dequantise(read: np.ndarray, kind: str) -> np.ndarray:
    """Converts (bytes,) uint8 to (numbers,) float32; F16 stays float16."""
    if kind == "F32":
        return read.view("<f4")
    if kind == "F16":
        return read.view("<f2")
    if kind == "BF16":
        return (read.view("<u2").astype(np.uint32) << 16).view(np.float32)
    blocks = read.reshape(-1, KINDS[kind].bytes)
    numbers = np.empty((len(blocks), KINDS[kind].count), np.float32)
    for at in range(0, len(blocks), AT_ONCE):
        numbers[at : at + AT_ONCE] = OF_BLOCKS[kind](blocks[at : at + AT_ONCE])
    return numbers.reshape(-1)


def quantise_q8_0(numbers: np.ndarray) -> np.ndarray:
    """Converts (…) float32 to the bytes of Q8_0: blocks of a scale and 32 integers from −127 to 127."""
    blocks = numbers.reshape(-1, 32)
    scales = np.abs(blocks).max(1, keepdims=True) / 127
    divisors = np.where(scales == 0, 1, scales)
    whole = np.round(blocks / divisors).astype(np.int8)
    return np.concatenate([scales.astype("<f2").view(np.uint8), whole.view(np.uint8)], axis=1)


def _half(blocks: np.ndarray, at: int) -> np.ndarray:
    """Reads a float16 from the two bytes at offset `at` of each block; (n, 1) float32."""
    return blocks[:, at : at + 2].copy().view("<f2").astype(np.float32)


def _nibbles(blocks: np.ndarray) -> np.ndarray:
    """Splits bytes into four-bit numbers, (n, bytes) to (n, 2 · bytes): first all low halves, then all high ones."""
    return np.concatenate([blocks & 15, blocks >> 4], axis=1)


def _fifth_bits(blocks: np.ndarray) -> np.ndarray:
    """Reads the fifth bits, (n, 4) to (n, 32): 16 where the bit of a number is set."""
    return np.unpackbits(blocks, axis=1, bitorder="little") << 4


def _q4_0(blocks: np.ndarray) -> np.ndarray:
    return _half(blocks, 0) * (_nibbles(blocks[:, 2:]).astype(np.float32) - 8)


def _q4_1(blocks: np.ndarray) -> np.ndarray:
    return _half(blocks, 0) * _nibbles(blocks[:, 4:]) + _half(blocks, 2)


def _q5_0(blocks: np.ndarray) -> np.ndarray:
    numbers = _nibbles(blocks[:, 6:]) | _fifth_bits(blocks[:, 2:6])
    return _half(blocks, 0) * (numbers.astype(np.float32) - 16)


def _q5_1(blocks: np.ndarray) -> np.ndarray:
    numbers = _nibbles(blocks[:, 8:]) | _fifth_bits(blocks[:, 4:8])
    return _half(blocks, 0) * numbers + _half(blocks, 2)


def _q8_0(blocks: np.ndarray) -> np.ndarray:
    return _half(blocks, 0) * blocks[:, 2:].view(np.int8)


def _q4_k(blocks: np.ndarray) -> np.ndarray:
    """Reads Q4_K: eight parts of 32 numbers with a common scale and offset; two parts share 32 bytes."""
    numbers = np.stack([blocks[:, 16:] & 15, blocks[:, 16:] >> 4]).reshape(2, -1, 4, 32).transpose(1, 2, 0, 3)
    return _with_offsets(blocks, numbers.reshape(-1, 8, 32))


def _q5_k(blocks: np.ndarray) -> np.ndarray:
    """Reads Q5_K: Q4_K with the fifth bits of part n in bit n of 32 bytes."""
    numbers = np.stack([blocks[:, 48:] & 15, blocks[:, 48:] >> 4]).reshape(2, -1, 4, 32).transpose(1, 2, 0, 3)
    fifth = blocks[:, None, 16:48] >> np.arange(8, dtype=np.uint8)[:, None] & 1
    return _with_offsets(blocks, numbers.reshape(-1, 8, 32) | fifth << 4)


def _with_offsets(blocks: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Applies scales and offsets, which have six bits each, in twelve bytes. numbers: (n, 8, 32)."""
    a, b, c = blocks[:, 4:8], blocks[:, 8:12], blocks[:, 12:16]
    scales = np.concatenate([a & 63, c & 15 | a >> 6 << 4], axis=1)
    offsets = np.concatenate([b & 63, c >> 4 | b >> 6 << 4], axis=1)
    scaled = (_half(blocks, 0) * scales)[..., None] * numbers
    return (scaled - (_half(blocks, 2) * offsets)[..., None]).reshape(-1, 256)


def _q6_k(blocks: np.ndarray) -> np.ndarray:
    """Reads Q6_K: two halves of four parts of 32 numbers; low four bits, high two bits, a scale for each 16 numbers."""
    low = blocks[:, :128].reshape(-1, 2, 2, 32)
    low = np.concatenate([low & 15, low >> 4], axis=2)
    high = blocks[:, None, 128:192].reshape(-1, 2, 1, 32) >> np.arange(0, 8, 2, dtype=np.uint8)[:, None] & 3
    numbers = (low | high << 4).astype(np.float32).reshape(-1, 16, 16) - 32
    scales = _half(blocks, 208) * blocks[:, 192:208].view(np.int8)
    return (scales[..., None] * numbers).reshape(-1, 256)


OF_BLOCKS = {
    "Q4_0": _q4_0,
    "Q4_1": _q4_1,
    "Q5_0": _q5_0,
    "Q5_1": _q5_1,
    "Q8_0": _q8_0,
    "Q4_K": _q4_k,
    "Q5_K": _q5_k,
    "Q6_K": _q6_k,
}
