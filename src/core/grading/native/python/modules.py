"""The libraries of an answer: imported once outside the sandbox, to learn what it has to hold, and once inside."""

import importlib

# Answers import these, besides what the libraries import anyway: a child may find shared libraries missing that an
# import needs, and does not have to import what its parent has.
STANDARD = """
    abc array base64 bisect calendar cmath collections contextlib copy csv ctypes dataclasses datetime decimal difflib
    enum fractions functools gzip hashlib heapq html itertools json logging math numbers operator pathlib pprint queue
    random re secrets sqlite3 statistics string struct tempfile textwrap threading time timeit traceback types typing
    unicodedata urllib.parse urllib.request uuid warnings xml.etree.ElementTree zlib zoneinfo
""".split()


def import_all(names):
    """Imports the standard modules and those of `names` that are there. Returns the versions of these by name, and by
    name the error of those that are not."""
    versions, missing = {}, {}
    for name in (*STANDARD, *names):
        try:
            module = importlib.import_module(name)
        except ImportError as error:
            missing[name] = str(error)
            continue
        if name in names:
            versions[name] = str(getattr(module, "__version__", ""))
    return versions, missing
