"""
A test in two interpreters: the source's answers questions, and the values leave it as data; the rest of the test is
evaluated on the data, where no code of the answer ran.
"""

from json.encoder import encode_basestring_ascii as quoted

from comparison import Evaluation
from data import MAX_CHARS, packed, unpacked
from errors import outcome_of_error
from kinds import Incomparable
from outcome import outcome_of_incomparable, outcome_of_value
from questions import ASKING, Questions


def told(questions, seen, numpy):
    """What the source says to questions, one after the other; the last may have gone wrong."""
    left, results = MAX_CHARS, []
    for question in questions:
        try:
            variables = [unpacked(value, numpy) for value in question['values']]
            names = {**seen, **dict(zip(question['names'], variables))} if variables else seen
            value = eval(compile(question['text'], '<string>', 'eval', dont_inherit=True), names)
            data = quoted(packed(value, numpy, left))
        except Incomparable as reason:
            results.append('{"outcome":' + outcome_of_incomparable(reason) + '}')
            break
        except BaseException as error:
            results.append('{"outcome":' + outcome_of_error(error) + '}')
            break
        left -= len(data)
        results.append('{"data":' + data + '}')
    return '{"kind":"told","results":[' + ','.join(results) + ']}'


class Unanswered(BaseException):
    """The expression asks what is not among the answers."""


class Exchange:
    """An expression with questions that are answered by data."""

    def __init__(self, call, level, answers, names, seen, numpy):
        """answers: dictionaries of number, values of the variables and data, in the order of the questions."""
        self.questions = Questions(call, level, names)
        self.answers, self.numpy = answers, numpy
        self.at = 0
        self.evaluation = Evaluation({**seen, ASKING: self.answer}, numpy)

    def outcome(self):
        try:
            return outcome_of_value(self.evaluation.value(self.questions.tree), self.numpy)
        except Incomparable as reason:
            return outcome_of_incomparable(reason)
        except Unanswered:
            return self.needed

    def answer(self, number, *variables):
        values = [packed(value, self.numpy) for value in variables]
        if self.at < len(self.answers):
            given = self.answers[self.at]
            if given['number'] == number and given['values'] == values:
                self.at += 1
                return unpacked(given['data'], self.numpy)
        self.needed = '{"kind":"need","at":%d,"question":{"number":%d,"text":%s,"names":[%s],"values":[%s]}}' % (
            self.at,
            number,
            quoted(self.questions.texts[number]),
            ','.join(map(quoted, self.questions.variables[number])),
            ','.join(map(quoted, values)),
        )
        raise Unanswered
