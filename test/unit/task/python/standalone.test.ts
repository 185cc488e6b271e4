import { describe, expect, it } from 'vitest';
import { functionNamed } from '../../../../src/core/task/python/functions';
import { standalone } from '../../../../src/core/task/own';
import { file } from './shop';

describe('a function that is to stand alone', () => {
  it('takes what it needs of its file, and nothing else', () => {
    const code = standalone(file, functionNamed(file, 'parcel_price')!);
    expect(code).toContain(
      'from decimal import (\n    Decimal,\n    ROUND_HALF_UP as HALF,\n)\n\nLIMIT = 20',
    );
    expect(code).toContain('def base(zone):\n    return {1: 5, 2: 8}[zone]\n\n@cached(');
    expect(code).not.toMatch(/import math|unused|Shop/);
  });

  it('takes what helpers need in turn, from behind it too', () => {
    const source =
      'import math\n\ndef f(x):\n    return g(x)\n\ndef g(x):\n    return math.floor(x) + STEP\n\nSTEP: int = 1\n';
    expect(standalone(source, functionNamed(source, 'f')!)).toBe(
      'import math\n\ndef g(x):\n    return math.floor(x) + STEP\n\nSTEP: int = 1\n\ndef f(x):\n    return g(x)\n',
    );
  });
});
