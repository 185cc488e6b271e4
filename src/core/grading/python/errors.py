"""What went wrong in the untrusted code, and whether something that the interpreter lacks was the cause."""

import importlib._bootstrap
import opcode
import sys
import zoneinfo._common
from json.encoder import encode_basestring_ascii as quoted

from display import shortened
from kinds import name_of

SOURCE_NAME = '<answer>'  # the file name in tracebacks, by which an error's line is found
MESSAGE_LIMIT = 300


def outcome_of_error(error):
    kind = type(error)
    try:
        # A syntax error's own text repeats file and line.
        said = error.msg if isinstance(error, SyntaxError) else str(error)
        message = str.__getitem__(said, slice(2 * MESSAGE_LIMIT))
        message = ''.join(str.__iter__(message))
    except BaseException:
        message = ''
    text = '{"kind":"error","type":%s,"message":%s' % (
        quoted(name_of(kind)[:80]),
        quoted(shortened(message, MESSAGE_LIMIT)),
    )
    line = line_of(error)
    if line is not None:
        text += ',"line":%d' % line
    missing = missing_module(error)
    if missing is not None:
        text += ',"missingModule":' + quoted(missing[:80])
    return text + '}'


class MissNotes:
    """The last finder of modules: it finds nothing, and notes what no other has found."""

    def __init__(self):
        self.names = set()

    def find_spec(self, name, path=None, target=None):
        if type(name) is str:
            self.names.add(name)


misses = MissNotes()
sys.meta_path.append(misses)
# Python code of the library that raises an error for want of something by a statement.
IMPORT_FAILS = importlib._bootstrap._find_and_load_unlocked.__code__
ZONE_FAILS = zoneinfo._common.load_tzdata.__code__
CALLING = frozenset(number for name, number in opcode.opmap.items() if 'CALL' in name or name == 'IMPORT_NAME')


def missing_module(error):
    """
    The module for want of which the error arose; `_thread` when no thread can be started. None for any other error, also
    for one that the source raises by itself with the same type and text.
    """
    kind = type(error)
    code, place = origin_of(error)
    if code is None:
        return None
    if kind is zoneinfo.ZoneInfoNotFoundError:
        return 'tzdata' if code is ZONE_FAILS else None
    if code is not IMPORT_FAILS and code.co_code[place] not in CALLING:
        return None
    if kind is RuntimeError:
        return '_thread' if error.args == ("can't start new thread",) else None
    if kind is not ModuleNotFoundError or type(error.name) is not str or error.name not in misses.names:
        return None
    # concurrent.futures comes without its pools where there are no threads.
    return '_thread' if error.name.startswith('concurrent.futures.') else error.name.partition('.')[0]


def origin_of(error):
    """Code object and offset of the instruction at which the error arose."""
    trace, last = error.__traceback__, None
    for _ in range(10_000):
        if trace is None:
            break
        last, trace = trace, trace.tb_next
    return (None, 0) if last is None else (last.tb_frame.f_code, last.tb_lasti)


def line_of(error):
    if isinstance(error, SyntaxError) and error.filename == SOURCE_NAME and type(error.lineno) is int:
        return max(error.lineno, 1)
    line, trace = None, error.__traceback__
    for _ in range(10_000):
        if trace is None:
            break
        if trace.tb_frame.f_code.co_filename == SOURCE_NAME:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line if type(line) is int else None
