"""The container of a GGUF file: metadata and tensors by name (the specification is docs/gguf.md of ggml)."""

import math
import mmap
import re
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...fault import Fault, UsageFault
from ...regular_file import require_regular
from .blocks import KINDS, dequantise

MAGIC = b"GGUF"
VERSIONS = (2, 3)
ALIGNMENT = 32  # bytes; default of general.alignment
MAX_ALIGNMENT = 1 << 20
MAX_HEAD = 64 << 20  # bytes of metadata and names of tensors; the largest vocabularies need 20 MB
MAX_ITEMS = 1 << 21  # of all arrays; a vocabulary of 262,144 tokens and its merges are 1.3 million
MAX_ENTRIES = 1 << 16  # of metadata, and of tensors
U32, I32, F32, BOOL, STRING, ARRAY, U64 = 4, 5, 6, 7, 8, 9, 10
FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", U32: "I", I32: "i", F32: "f", BOOL: "?", U64: "Q", 11: "q", 12: "d"}


@dataclass(frozen=True)
class Tensor:
    """shape: as in PyTorch, rows first. kind: name of the number type, such as Q4_K. start: offset in the file."""

    shape: tuple[int, ...]
    kind: str
    start: int

    @property
    def size(self) -> int:
        """Bytes, of a kind in KINDS."""
        return math.prod(self.shape) // KINDS[self.kind].count * KINDS[self.kind].bytes


# Sentences quote these; other texts, such as templates, have line breaks.
WORD = re.compile(r"general\.architecture|tokenizer\.ggml\.(model|pre)|.*\.rope\.scaling\.type")


class GgufFile:
    """Numbers are read on demand. Errors: UsageFault for a file that is not GGUF, truncated or unsupported."""

    def __init__(self, path: Path):
        self.path = path
        require_regular(path)
        try:
            with path.open("rb") as file:
                self.bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:  # an empty file cannot be mapped
            raise UsageFault(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
        if self.bytes[:4] != MAGIC:
            raise UsageFault(f"{path} is no GGUF file: give one, or a folder in Hugging Face format.")
        try:
            self.metadata, self.tensors = _Reader(self.bytes).all()
        except (struct.error, UnicodeDecodeError, KeyError, ValueError, OverflowError) as error:
            raise self.damaged() from error

    def damaged(self) -> Fault:
        return UsageFault(f"{self.path} is damaged or not all of it came: download it again.")

    def value(self, key: str, kind: type, default: Any = None) -> Any:
        """Errors: UsageFault for a value of another type, and a number that is none."""
        found = self.metadata.get(key)
        if found is None:
            return default
        if not _is_a(found, kind) or (WORD.fullmatch(key) and not found.isprintable()):
            raise UsageFault(f"{self.path} has an unusable {key} ({repr(found)[:40]}): download it again.")
        return found

    def values(self, key: str, kind: type) -> list[Any]:
        found = self.value(key, list, [])
        if not all(_is_a(item, kind) for item in found):
            raise UsageFault(f"{self.path} has an unusable {key}: download it again.")
        return found

    def numbers(self, name: str) -> np.ndarray:
        """float16 if the file stores F16, else float32."""
        tensor = self.tensors[name]
        if tensor.kind not in KINDS:
            raise UsageFault(
                f"{self.path} has numbers of the type {tensor.kind}, which are not read here: take a file in F32, F16, "
                "BF16, Q8_0, Q6_K, Q5 or Q4."
            )
        read = np.frombuffer(self.bytes, np.uint8, tensor.size, tensor.start)
        return dequantise(read, tensor.kind).reshape(tensor.shape)


def _is_a(value: Any, kind: type) -> bool:
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


class _Reader:
    """Reads a file from its start. Errors: struct.error beyond its end, others for invalid content.

    Numbers are compared with the size of the file before anything of that size is made.
    """

    def __init__(self, content: mmap.mmap):
        self.content, self.at = content, 4
        self.end, self.items = min(len(content), MAX_HEAD), MAX_ITEMS

    def all(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        if self.number("I") not in VERSIONS:
            raise ValueError("an unknown version")
        tensors, values = self.number("Q"), self.number("Q")
        if max(tensors, values) > MAX_ENTRIES:
            raise ValueError("more than any model has")
        metadata: dict[str, Any] = {}
        for _ in range(values):
            key = self.name()
            if key in metadata:
                raise ValueError("a value twice")
            metadata[key] = self.value(self.number("I"))
        infos: dict[str, tuple[tuple[int, ...], str, int]] = {}
        for _ in range(tensors):
            name, *info = self.info()
            if name in infos:
                raise ValueError("a tensor twice")
            infos[name] = tuple(info)
        alignment = metadata.get("general.alignment", ALIGNMENT)
        if not _is_a(alignment, int) or not 1 <= alignment <= MAX_ALIGNMENT:
            raise ValueError("an impossible alignment")
        begin = self.at + -self.at % alignment
        found = {name: Tensor(shape, kind, begin + offset) for name, (shape, kind, offset) in infos.items()}
        self.require_apart(found)
        return metadata, found

    def require_apart(self, tensors: Mapping[str, Tensor]) -> None:
        """Requires that the tensors of known types are whole blocks, in the file, and do not overlap."""
        known = sorted((tensor for tensor in tensors.values() if tensor.kind in KINDS), key=lambda each: each.start)
        ends = [tensor.start + tensor.size for tensor in known]
        starts = [*(tensor.start for tensor in known[1:]), len(self.content)]
        if any(tensor.shape[-1] % KINDS[tensor.kind].count for tensor in known):
            raise ValueError("part of a block")
        if any(end > start for end, start in zip(ends, starts, strict=False)):
            raise ValueError("tensors that overlap or are behind the end")

    def number(self, form: str) -> Any:
        if self.at + struct.calcsize(f"<{form}") > self.end:
            raise ValueError("a number behind the end")
        [value] = struct.unpack_from(f"<{form}", self.content, self.at)
        self.at += struct.calcsize(f"<{form}")
        return value

    def string(self) -> str:
        length = self.number("Q")
        if self.at + length > self.end:
            raise ValueError("a string behind the end")
        self.at += length
        return self.content[self.at - length : self.at].decode()

    def name(self) -> str:
        """Sentences quote names, so that one with a line break is refused."""
        name = self.string()
        if not name.isprintable():
            raise ValueError("a name that cannot be printed")
        return name

    def value(self, kind: int) -> Any:
        if kind == STRING:
            return self.string()
        if kind != ARRAY:
            return self.number(FORMATS[kind])
        kind, length = self.number("I"), self.number("Q")
        self.items -= length
        if self.items < 0 or length > self.end - self.at:
            raise ValueError("an array behind the end")
        if kind == STRING:
            return [self.string() for _ in range(length)]
        values = struct.unpack_from(f"<{length}{FORMATS[kind]}", self.content, self.at)
        self.at += struct.calcsize(f"<{length}{FORMATS[kind]}")
        return list(values)

    def info(self) -> tuple[str, tuple[int, ...], str, int]:
        name, dimensions = self.name(), self.number("I")
        if not 1 <= dimensions <= 4:
            raise ValueError("a tensor of impossible dimensions")
        shape = tuple(self.number("Q") for _ in range(dimensions))[::-1]
        if not all(shape):
            raise ValueError("a tensor without numbers")
        kind, offset = self.number("I"), self.number("Q")
        known = next((name for name, of in KINDS.items() if of.number == kind), f"number {kind}")
        return name, shape, known, offset


def write_gguf(path: Path, metadata: Mapping[str, Any], tensors: Iterable[tuple[str, tuple[int, ...], str]], numbers):
    """Integers become uint32, or int32 in lists. tensors: name, shape and kind. numbers: gives the bytes by name."""
    tensors = list(tensors)
    head = bytearray(MAGIC + struct.pack("<IQQ", 3, len(tensors), len(metadata)))
    for key, value in metadata.items():
        head += _string(key) + _value(value)
    offset, places = 0, []
    for name, shape, kind in tensors:
        of = KINDS[kind]
        places.append(offset)
        head += _string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape[::-1], of.number, offset)
        size = int(np.prod(shape)) // of.count * of.bytes
        offset += size + -size % ALIGNMENT
    with path.open("wb") as file:
        file.write(head)
        file.write(bytes(-len(head) % ALIGNMENT))
        begin = file.tell()
        for (name, _, _), place in zip(tensors, places, strict=True):
            file.write(bytes(begin + place - file.tell()))
            file.write(numbers(name))
        file.write(bytes(begin + offset - file.tell()))


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _value(value: Any) -> bytes:
    if isinstance(value, list):
        kind = {str: STRING, int: I32, float: F32}[type(value[0])]
        items = (
            b"".join(map(_string, value)) if kind == STRING else struct.pack(f"<{len(value)}{FORMATS[kind]}", *value)
        )
        return struct.pack("<IIQ", ARRAY, kind, len(value)) + items
    if isinstance(value, str):
        return struct.pack("<I", STRING) + _string(value)
    kind = {bool: BOOL, int: U32, float: F32}[type(value)]
    return struct.pack(f"<I{FORMATS[kind]}", kind, value)
