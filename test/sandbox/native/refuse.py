"""Runs a command on a kernel that seems to lack some system calls: they fail with "not permitted", for good.

    python3 refuse.py 272,444 COMMAND…
"""

import ctypes
import os
import struct
import sys

numbers = [int(number) for number in sys.argv[1].split(",")]
program = struct.pack("=HBBI", 0x20, 0, 0, 0)  # load the number of the call
for number in numbers:
    program += struct.pack("=HBBI", 0x15, 0, 1, number)  # unless equal, skip
    program += struct.pack("=HBBI", 0x06, 0, 0, 0x00050001)  # fail with EPERM
program += struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000)  # allow

libc = ctypes.CDLL(None, use_errno=True)
code = ctypes.create_string_buffer(program, len(program))


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]


libc.prctl(38, 1, 0, 0, 0)  # no new privileges
loaded = libc.prctl(22, 2, ctypes.byref(Program(len(program) // 8, ctypes.addressof(code))), 0, 0)
if loaded != 0:
    sys.exit(f"The filter could not be loaded: {os.strerror(ctypes.get_errno())}")
os.execvp(sys.argv[2], sys.argv[2:])
