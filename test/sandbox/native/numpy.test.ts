import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { NativeRunner } from '../../../src/core/grading/native/native';
import { canonicalOf, displayOf, displays, openRunner, outcomes } from '../native-runner';

describe('numpy on the native runner', () => {
  let opened: Awaited<ReturnType<typeof openRunner>>;
  let runner: NativeRunner;

  beforeAll(async () => {
    opened = await openRunner(['numpy']);
    if ('runner' in opened) runner = opened.runner;
  });
  beforeEach((context) => {
    if ('missing' in opened) context.skip(`${opened.missing} Or set TANDEM_PYTHON to one that has it.`);
  });
  afterAll(async () => {
    if ('runner' in opened) await opened.runner.close();
  });

  const canonical = async (...values: string[]) =>
    (await outcomes(runner, 'import numpy as np', values)).map(canonicalOf);

  it('compares scalars as the Python values that they equal', async () => {
    const [one, ...same] = await canonical(
      '1',
      'np.int64(1)',
      'np.uint8(1)',
      'np.float64(1.0)',
      'np.float32(1)',
      'np.float16(1)',
      'np.bool_(True)',
      'np.complex128(1)',
    );
    expect(new Set(same)).toEqual(new Set([one]));
    const [half, half64, text, text64] = await canonical('0.5', 'np.float64(0.5)', '"a"', 'np.str_("a")');
    expect([half64, text64]).toEqual([half, text]);
  });

  it('compares arrays by shape and elements, whatever the type of the elements', async () => {
    const [a, floats, copy, order] = await canonical(
      'np.array([[1, 2], [3, 4]])',
      'np.array([[1.0, 2.0], [3.0, 4.0]])',
      'np.array([[1, 9, 2], [3, 9, 4]])[:, ::2]',
      'np.asfortranarray([[1, 2], [3, 4]])',
    );
    expect([floats, copy, order]).toEqual([a, a, a]);
    const different = await canonical(
      'np.array([[1, 2], [3, 5]])',
      'np.array([[1, 2, 3, 4]])',
      'np.array([1, 2, 3, 4])',
      '[[1, 2], [3, 4]]',
      'np.zeros((0, 2))',
      'np.zeros((2, 0))',
    );
    expect(new Set([a, ...different]).size).toBe(1 + different.length);
  });

  it('finds arrays and scalars inside containers', async () => {
    const [a, b] = await canonical(
      '{"mean": np.float64(2.0), "rows": [np.array([1, 2])]}',
      '{"rows": [np.array([1.0, 2.0])], "mean": 2}',
    );
    expect(a).toBe(b);
    expect(a).not.toBeNull();
  });

  it('lets NaN equal nothing', async () => {
    expect(await canonical('np.nan', 'np.array([1.0, np.nan])')).toEqual([null, null]);
  });

  it('shows arrays and scalars as their values', async () => {
    const values = ['np.array([[1, 2], [3, 4]])', '[np.float64(0.5)]', 'np.zeros((1000, 1000))'];
    expect(await displays(runner, 'import numpy as np', values)).toEqual([
      'array([[1, 2], [3, 4]])',
      '[0.5]',
      '<array of shape (1000, 1000)>',
    ]);
  });

  it('draws the same numbers for a reference and an answer, in every process', async () => {
    const source =
      'import numpy as np\ndef f(): return [np.random.rand(3), np.random.default_rng().random(3), np.random.RandomState().rand(3), np.random.seed(), np.random.rand(2)]';
    const [first] = await outcomes(runner, source, ['f()']);
    const other = await openRunner(['numpy']);
    if ('missing' in other) throw new Error(other.missing);
    const [second] = await outcomes(other.runner, source + '\n', ['f()']);
    await other.runner.close();
    expect(canonicalOf(second!)).toBe(canonicalOf(first!));
  });

  it('has the clock that everything has', async () => {
    const calls = [
      'str(np.datetime64("now"))',
      'str(np.datetime64("today"))',
      'str(np.array(["now"], dtype="M8[s]")[0])',
    ];
    expect(await displays(runner, 'import numpy as np', calls)).toEqual([
      "'2025-01-01T12:00:00'",
      // Times in the sandbox are in UTC.
      "'2025-01-01'",
      "'2025-01-01T12:00:00'",
    ]);
  });

  it('refuses an array larger than the memory', async () => {
    const [outcome] = await outcomes(runner, 'import numpy as np', ['np.ones((1 << 20, 1 << 12))']);
    expect(displayOf(outcome!)).toMatch(/MemoryError/);
  });

  it('lets numpy read and write no file', async () => {
    const calls = [
      'np.fromfile("/etc/passwd")',
      'np.loadtxt("/etc/passwd")',
      'np.save("/tmp/answer.npy", [1])',
    ];
    for (const said of await displays(runner, 'import numpy as np', calls)) {
      // The folder is there, read-only, when it leads to the libraries.
      expect(said).toMatch(
        /^(PermissionError|FileNotFoundError|OSError: \[Errno 30\] Read-only file system)/,
      );
    }
  });

  it('has the parts of numpy that load late', async () => {
    const calls = [
      'bool(np.linalg.det(np.eye(3)) == 1)',
      'np.fft.fft([1, 0, 0, 0]).real.tolist()',
      'float(np.polynomial.Polynomial([1, 2])(3))',
      'np.random.default_rng(1).integers(0, 10, 3).shape',
    ];
    expect(await displays(runner, 'import numpy as np', calls)).toEqual([
      'True',
      '[1.0, 1.0, 1.0, 1.0]',
      '7.0',
      '(3,)',
    ]);
  });
});
