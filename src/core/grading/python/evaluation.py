"""Evaluates the calls of one job and says what came out, as JSON text that TypeScript compares.

Shared by the WASI interpreter and the native one, so that a value has the same text in both. Runs in the interpreter
of the untrusted code, which never sees an expected value: the worst that code can do here is to lie about itself.

    evaluate = load(source, split=False, seed='…', own=['f'], imported=['math'], numpy=None)
    evaluate(index, call)      # the outcome of one call, ASCII JSON: see outcomeSchema in outcome.ts
"""

import identity  # before others see the built-ins
import event_loop  # noqa: F401
import random
import sys

from errors import SOURCE_NAME, misses, outcome_of_error
from exchange import Exchange, told
from expression import Expression
from names import names_of_test, namespaces
from questions import Names

settrace, setprofile, seed_random = sys.settrace, sys.setprofile, random.seed


def load(source, split, seed, own, imported, numpy=None):
    """
    Compiles the source without running any of it; the result evaluates single calls on it. A call is an expression, or
    one of the dictionaries {"ask": questions}, which the source is to answer, and {"test": expression, "level": number,
    "told": answers}, which is evaluated without asking the source; exchange.py says what they are.

    own: names that the reference defines or imports; a call means the source's, even if a built-in has the same name
    imported: names that the reference imports; a test means the same modules by them
    """
    code, failure = None, None
    try:
        code = compile(source, SOURCE_NAME, 'exec', dont_inherit=True)
    except BaseException as error:
        failure = outcome_of_error(error)
    of_source = Names(own, imported)

    def evaluate(index, call):
        if code is None:
            return failure
        try:
            misses.names.clear()
            identity.forget_identities()
            # The same seed for a reference and an answer: what they draw at random is equal too.
            seed_random('%s/%d' % (seed, index))
            try:
                scope, names = namespaces(split)
                exec(code, scope, names)
                seen = names_of_test(scope, names, own)
                if type(call) is str:
                    return Expression(call, of_source, seen, numpy).outcome()
                if 'ask' in call:
                    return told(call['ask'], seen, numpy)
                return Exchange(call['test'], call['level'], call['told'], of_source, seen, numpy).outcome()
            finally:
                settrace(None)
                setprofile(None)
        except BaseException as error:
            try:
                return outcome_of_error(error)
            except BaseException:
                return '{"kind":"error","type":"Exception","message":"The error could not be described."}'

    return evaluate
