"""Starts server.py with an environment that tells an answer nothing: the one a process starts with stays in its memory.

    python3 -E -S launch.py CONFIGURATION
"""

import os
import sys

ENVIRONMENT = {
    # Libraries that start threads of their own would make forking unsafe.
    "MKL_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    # The order of a set is the same for a reference and for an answer.
    "PYTHONHASHSEED": "0",
}

environment = dict(ENVIRONMENT)
if "LD_LIBRARY_PATH" in os.environ:  # some interpreters do not start without it
    environment["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH"]
server = os.path.join(os.path.dirname(os.path.abspath(__file__)), "server.py")
os.execve(sys.executable, [sys.executable, "-B", server, *sys.argv[1:]], environment)
