/** A file of Python with functions of many shapes. */
export const file = `import math
from decimal import (
    Decimal,
    ROUND_HALF_UP as HALF,
)

LIMIT = 20  # kilograms
unused = "def not_me(x):"


def base(zone):
    return {1: 5, 2: 8}[zone]


@cached(
    size=3,
)
async def parcel_price(
    weight_kg: float, zone=(1, ":"),
) -> float:
    # What it costs.
    """The price of a parcel.

    Heavy ones cost more.
    """
    text = '''
def inside_a_string(): pass
'''

    def surcharge():
        return 4.5
    total = base(zone) \\
        + (surcharge()
if weight_kg > LIMIT else 0)
    return Decimal(total).quantize(HALF)
    # the end


# about the class
class Shop:
    def price(self, x):
        return x
\tdef tabbed(self): return 1
`;
