"""What went wrong in the untrusted code, and whether something that the interpreter lacks was the cause."""

import importlib._bootstrap
import opcode
import sys
import zoneinfo._common
from errno import EACCES, EAGAIN, ENOENT, EROFS
from json.encoder import encode_basestring_ascii as quoted

from display import shortened
from kinds import name_of
from types import ModuleType

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


# Of modules that WebAssembly has without these; and the errors of the rest.
PROCESSES = frozenset('execv execve execvp fork forkpty kill posix_spawn posix_spawnp spawnl spawnv system wait waitpid'.split())
SIGNALS = frozenset('SIGALRM alarm getitimer pause setitimer sigwait'.split())
NOT_SUPPORTED = 58  # ENOTSUP of WASI


def unsupported(error, kind):
    """The C module of processes, sockets, signals or `_files` when a part that the sandbox lacks is the cause."""
    if sys.platform != 'wasi':
        if kind is BlockingIOError and error.errno == EAGAIN:
            return '_posixsubprocess'
        return '_files' if isinstance(error, OSError) and is_without_files(error) else None
    if kind is AttributeError and type(error.obj) is ModuleType and type(error.name) is str:
        module = vars(error.obj).get('__name__')
        if module == 'os' and error.name in PROCESSES:
            return '_posixsubprocess'
        if module == 'signal' and error.name in SIGNALS:
            return '_signal'
        return '_socket' if module in ('socket', '_socket') else None
    if kind is not OSError or error.errno != NOT_SUPPORTED:
        return None
    return '_posixsubprocess' if 'processes' in str(error.strerror) else '_socket'


def is_without_files(error):
    """The native sandbox has no folder that can be written, and no /tmp at all."""
    path = error.filename if type(error.filename) is str else str(error)
    return error.errno in (EACCES, EROFS) or error.errno == ENOENT and '/tmp' in path


def missing_module(error):
    """
    The module for want of which the error arose; `_thread` when no thread can be started. None for any other error, also
    for one that the source raises by itself with the same type and text.
    """
    kind = type(error)
    without = unsupported(error, kind)
    if without is not None:
        return without
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
