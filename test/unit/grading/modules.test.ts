import { expect, it } from 'vitest';
import { importsElsewhere } from '../../../src/core/grading/modules';

it.each([
  ['try:\n    import numpy as np\nexcept ImportError:\n    np = None', true],
  ['import math, pandas as pd', true],
  ['from scipy.stats import norm', true],
  ['from math import floor\nimport collections.abc', false],
  ['text = "import numpy"', false],
  ['from mine import numpy', false],
])('knows whether a source imports what only other Pythons have: %s', (source, expected) => {
  expect(importsElsewhere(source)).toBe(expected);
});
