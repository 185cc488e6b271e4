"""The child's side: reads its job, evaluates the calls, sends what came out. Runs confined.

Untrusted code runs in the same interpreter, so it can find all that is here, the nonce included. What it can do with
that is bounded by claims.ts: it can only lie about its own values.
"""

import builtins
import json
import os
import struct
import sys
from time import thread_time  # the real one, which `clock.install` replaces in its module

import clock
from confinement import RESULTS

# To Node (claims.ts): the job's nonce, kind, index of the call, CPU seconds, bytes of the text that follows. The seconds
# are those used so far for BEGIN, and those used by the call for RESULT.
_NONCE_BYTES = 16
_HEADER = struct.Struct(f"<{_NONCE_BYTES}scIdI")
_BEGIN, _RESULT = b"b", b"r"

# From Node: the nonce, the length of the job, the job as JSON.
_JOB_HEADER = struct.Struct(f"<{_NONCE_BYTES}sI")


def load_evaluation(folder):
    """The `load` function of evaluation.py, in a namespace that patched built-ins do not reach."""
    texts = {}
    for name in os.listdir(folder):
        if name.endswith(".py"):
            with open(os.path.join(folder, name), encoding="utf-8") as text:
                texts[name[:-3]] = text.read()
    namespace = {"__builtins__": dict(vars(builtins)), "__name__": "tandem_loading"}
    exec(compile(texts["loading"], "tandem/loading.py", "exec"), namespace)
    return namespace["imported_from"](texts)("evaluation").load


def run(load):
    """Evaluates the job that comes on descriptor 0 and ends the process. `load`: from `load_evaluation`."""
    # Held here, because an answer may replace them in their modules.
    size, pack, write, cpu_time, leave = len, _HEADER.pack, os.write, thread_time, os._exit
    begin, result, results = _BEGIN, _RESULT, RESULTS
    numpy = sys.modules.get("numpy")
    seed_numpy = numpy.random.seed if numpy else lambda number: None
    nonce, job = _read_job()
    calls = job["calls"]

    def send(kind, index, seconds, text=b""):
        data = pack(nonce, kind, index, seconds, size(text)) + text
        while data:
            data = data[write(results, data) :]

    evaluate = None
    for index in range(job["start"], size(calls)):
        send(begin, index, cpu_time())
        # Compiling can take long as well: for the time limit it is part of the first call.
        evaluate = evaluate or load(job["source"], job["split"], job["seed"], job["own"], job["imported"], numpy)
        clock.start_call(job["seed"], index)
        # As in evaluation.py: what a reference and an answer draw at random is equal too.
        seed_numpy((int(job["seed"], 16) + index) % 2**32)
        began = cpu_time()
        text = evaluate(index, calls[index])
        send(result, index, cpu_time() - began, text.encode("ascii"))
    leave(0)


def _read_job():
    """Takes the job, not a byte more, and lets go of what jobs come from before the job's code runs."""
    nonce, length = _JOB_HEADER.unpack(_read(_JOB_HEADER.size))
    job = json.loads(_read(length))
    os.dup2(1, 0)
    return nonce, job


def _read(size):
    data = b""
    while len(data) < size:
        part = os.read(0, size - len(data))
        if not part:
            os._exit(0)  # Tandem has gone
        data += part
    return data
