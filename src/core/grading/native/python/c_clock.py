"""Gives the C code of a library another `time`: numpy asks the C library for datetime64('now'), past Python's modules.

A shared library keeps the addresses of functions that it takes from others in tables, which the dynamic linker fills.
The entries for `time` get the address of a Python function. Format: elf(5), of 64-bit little-endian machines.
"""

import ctypes
import mmap
import struct

_HEADER = struct.Struct("<32xQ14xHH")  # program headers: where they are, bytes of one, how many
_SEGMENT = struct.Struct("<I4xQQ8xQ16x")  # type, place in the file, address, bytes in the file
_DYNAMIC = struct.Struct("<QQ")  # tag, value
_RELOCATION = struct.Struct("<QII8x")  # address, type, symbol
_SYMBOL = struct.Struct("<I20x")  # place of the name among the strings
_LOADED, _DYNAMIC_SEGMENT = 1, 2  # types of segments
_STRINGS, _SYMBOLS = 5, 6  # tags, and below those of tables with their bytes
_TABLES = ((7, 8), (23, 2))
_ADDRESSES = frozenset((6, 7, 1025, 1026))  # GLOB_DAT and JUMP_SLOT of x86-64 and aarch64
_READ_AND_WRITE = mmap.PROT_READ | mmap.PROT_WRITE

_Function = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.POINTER(ctypes.c_long))
_functions = []  # C code has their addresses, so they stay


def replace_time(module, seconds):
    """module: of Python, in a shared library; seconds: function of nothing that gives the seconds since 1970."""

    def time(place):
        now = int(seconds())
        if place:
            place[0] = now
        return now

    _functions.append(_Function(time))
    address = ctypes.cast(_functions[-1], ctypes.c_void_p).value
    with open(module.__file__, "rb") as file:
        library = file.read()
    base = _base_of(module)
    for entry in _entries(library, b"time"):
        page = (base + entry) // mmap.PAGESIZE * mmap.PAGESIZE
        # The linker may have made the table read-only.
        ctypes.pythonapi.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(mmap.PAGESIZE), _READ_AND_WRITE)
        ctypes.c_void_p.from_address(base + entry).value = address


def _entries(library, name):
    """Addresses, from the library's start, of the entries for a function of another library."""
    start, size, count = _HEADER.unpack_from(library)
    segments = [_SEGMENT.unpack_from(library, start + size * number) for number in range(count)]

    def place_of(address):
        for kind, place, begin, length in segments:
            if kind == _LOADED and begin <= address < begin + length:
                return place + address - begin
        raise ValueError("a shared library whose tables are not in the file")

    for kind, place, _, length in segments:
        if kind != _DYNAMIC_SEGMENT:
            continue
        tags = dict(_DYNAMIC.iter_unpack(library[place : place + length]))
        for table, table_bytes in _TABLES:
            if table not in tags:
                continue
            first = place_of(tags[table])
            for address, what, symbol in _RELOCATION.iter_unpack(library[first : first + tags[table_bytes]]):
                if what not in _ADDRESSES:
                    continue
                (text,) = _SYMBOL.unpack_from(library, place_of(tags[_SYMBOLS]) + _SYMBOL.size * symbol)
                at = place_of(tags[_STRINGS]) + text
                if library.startswith(name + b"\0", at):
                    yield address


class _Found(ctypes.Structure):
    """Dl_info of dladdr(3)."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


def _base_of(module):
    start = getattr(ctypes.CDLL(module.__file__), "PyInit_" + module.__name__.rpartition(".")[2])
    found = _Found()
    if not ctypes.CDLL(None).dladdr(ctypes.cast(start, ctypes.c_void_p), ctypes.byref(found)):
        raise ValueError(f"{module.__name__} is in no shared library")
    return found.base
