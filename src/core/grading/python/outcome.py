"""What came out of a call, as JSON text; see outcomeSchema in outcome.ts."""

from canonical import canonical_text
from display import DISPLAY_LIMIT, display, shortened
from json.encoder import encode_basestring_ascii as quoted
from kinds import Incomparable


def outcome_of_value(value, numpy):
    try:
        canonical = quoted(canonical_text(value, numpy))
    except Incomparable:
        canonical = 'null'
    return '{"kind":"value","canonical":%s,"none":%s,"display":%s}' % (
        canonical,
        'true' if value is None else 'false',
        quoted(shortened(display(value, numpy), 2 * DISPLAY_LIMIT)),
    )


def outcome_of_incomparable(reason):
    text = quoted('a comparison with ' + str(reason))
    return '{"kind":"value","canonical":null,"none":false,"display":%s}' % text
