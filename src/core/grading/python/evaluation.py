"""Evaluates the calls of one job and says what came out, as JSON text that TypeScript compares.

Shared by the WASI interpreter and the native one, so that a value has the same text in both. Runs in the interpreter
of the untrusted code, which never sees an expected value: the worst that code can do here is to lie about itself.

    evaluate = load(source, split=False, seed='…', own=['f'], numpy=None)
    evaluate(index, call)      # the outcome of one call, ASCII JSON: see outcomeSchema in outcome.ts
"""

import event_loop  # noqa: F401
import random
import sys

from errors import SOURCE_NAME, misses, outcome_of_error
from expression import Expression
from names import names_of_test, namespaces

settrace, setprofile, seed_random = sys.settrace, sys.setprofile, random.seed


def load(source, split, seed, own, numpy=None):
    """
    Compiles the source without running any of it; the result evaluates single calls on it.

    own: names that the reference defines; a call means the source's, even if a built-in has the same name
    """
    code, failure = None, None
    try:
        code = compile(source, SOURCE_NAME, 'exec', dont_inherit=True)
    except BaseException as error:
        failure = outcome_of_error(error)

    def evaluate(index, call):
        if code is None:
            return failure
        try:
            misses.names.clear()
            # The same seed for a reference and an answer: what they draw at random is equal too.
            seed_random('%s/%d' % (seed, index))
            try:
                scope, names = namespaces(split)
                exec(code, scope, names)
                return Expression(call, names_of_test(scope, names, own), numpy).outcome()
            finally:
                settrace(None)
                setprofile(None)
        except BaseException as error:
            try:
                return outcome_of_error(error)
            except BaseException:
                return '{"kind":"error","type":"Exception","message":"The error could not be described."}'

    return evaluate
