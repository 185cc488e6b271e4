"""The child's side: reads its job, evaluates the calls, sends what came out. Runs confined.

Untrusted code runs in the same interpreter, so it can find all that is here, the nonce included. What it can do with
that is bounded by child.py: it can only lie about its own values.
"""

import builtins
import json
import os
import sys
from time import thread_time  # the real one, which `clock.install` replaces in its module

import clock
from messages import BEGIN, HEADER, JOB_HEADER, RESULT

# What answers import, besides what the libraries import anyway: a child may find shared libraries missing that an
# import needs, and does not have to import what its parent has.
MODULES = """
    abc array base64 bisect calendar cmath collections contextlib copy csv ctypes dataclasses datetime decimal difflib
    enum fractions functools gzip hashlib heapq html itertools json logging math numbers operator pathlib pprint queue
    random re secrets sqlite3 statistics string struct tempfile textwrap threading time timeit traceback types typing
    unicodedata urllib.parse urllib.request uuid warnings xml.etree.ElementTree zlib zoneinfo
""".split()


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


def run(load, job_pipe, results):
    """Evaluates one job and ends the process. `load`: from `load_evaluation`; the others: file descriptors."""
    # Held here, because an answer may replace them in their modules.
    size, pack, write, cpu_time, leave = len, HEADER.pack, os.write, thread_time, os._exit
    numpy = sys.modules.get("numpy")
    seed_numpy = numpy.random.seed if numpy else lambda number: None
    nonce, job = _read_job(job_pipe)
    calls = job["calls"]

    def send(kind, index, seconds, text=b""):
        data = pack(nonce, kind, index, seconds, size(text)) + text
        while data:
            data = data[write(results, data) :]

    evaluate = None
    for index in range(job["start"], size(calls)):
        send(BEGIN, index, cpu_time())
        # Compiling can take long as well: for the time limit it is part of the first call.
        evaluate = evaluate or load(job["source"], job["split"], job["seed"], job["own"], job["imported"], numpy)
        clock.start_call(job["seed"], index)
        # As in evaluation.py: what a reference and an answer draw at random is equal too.
        seed_numpy((int(job["seed"], 16) + index) % 2**32)
        began = cpu_time()
        text = evaluate(index, calls[index])
        send(RESULT, index, cpu_time() - began, text.encode("ascii"))
    leave(0)


def _read_job(pipe):
    with open(pipe, "rb") as stream:
        nonce, length = JOB_HEADER.unpack(stream.read(JOB_HEADER.size))
        return nonce, json.loads(stream.read(length))
