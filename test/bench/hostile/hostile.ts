import type { Draw, HostileClass } from './class';
import { mulberry32 } from '../../../src/core/random';
import type { ProgramTask } from '../../../src/core/task/task';
import { arrays } from './arrays';
import { forgeries } from './forgeries';
import { objects } from './objects';
import { ATTACKERS, operators } from './operators';
import { patches } from './patches';
import { posers } from './posers';

export interface HostileAnswer {
  readonly kind: string;
  readonly task: ProgramTask;
  readonly answer: string;
}

/** `native`: the references import numpy, so the machine's Python grades; this includes classes that need numpy. */
export type HostileRunner = 'wasm' | 'native';

export function hostileClasses(runner: HostileRunner): readonly HostileClass[] {
  const everywhere = [...objects, ...patches, ...forgeries, ...posers, ...operators];
  return runner === 'wasm' ? everywhere : [...everywhere, ...arrays];
}

/**
 * Returns fewer classes that still reveal a change of the evaluation: on the native runner objects, patches and those
 * that need numpy, on the other runner all, but with only one attacker for each operator, in turn.
 */
export function quickClasses(runner: HostileRunner): readonly HostileClass[] {
  const all = hostileClasses(runner);
  if (runner === 'native') return all.filter(({ objects: isObject, numpy }) => isObject ?? numpy);
  const left = new Set(
    operators.filter((_, index) => index % ATTACKERS !== Math.floor(index / ATTACKERS) % ATTACKERS),
  );
  return all.filter((one) => !left.has(one));
}

/** Makes one answer of each class for each kind of task; equal seeds give equal answers. */
export function hostileAnswers(
  seed: number,
  runner: HostileRunner,
  classes = hostileClasses(runner),
): HostileAnswer[] {
  const random = mulberry32(seed);
  const number = (): number => 10_000 + Math.floor(random() * 90_000);
  // No reference returns a number that an answer can draw.
  const secret = (): number => 1_000_000 + number();
  let names = 0;
  const draw: Draw = {
    number,
    name: () => `${String.fromCharCode(97 + Math.floor(random() * 26))}${number()}_${names++}`,
    pick: (values) => values[Math.floor(random() * values.length)]!,
  };
  const tasksFor = ({ test, numpy, objects: isObject }: HostileClass): ProgramTask[] => {
    if (test !== undefined) return [decidingTask(secret(), test)];
    if (numpy === true) return [arrayTask(secret()), arrayTruthTask(secret())];
    const tasks = [valueTask(secret()), equalityTask(secret())];
    return isObject === true ? [...tasks, orderTask(secret())] : tasks;
  };
  return classes.flatMap((kind) =>
    tasksFor(kind).map((task) => ({
      kind: kind.name,
      task: runner === 'wasm' ? task : { ...task, reference: `import numpy as np\n${task.reference}` },
      answer: kind.code(draw),
    })),
  );
}

function taskOf(id: string, reference: string, calls: readonly string[]): ProgramTask {
  const testCases = calls.map((call, index) => ({ name: `test${index + 1}`, call }));
  return { id, description: 'Write f(x).', reference, testCases, hiddenInformation: reference };
}

function valueTask(secret: number): ProgramTask {
  const reference = `def f(x):\n    return [${secret} * x, {"x": ${secret}}]`;
  return taskOf('tests of values', reference, ['f(1)', 'f(2)']);
}

function equalityTask(secret: number): ProgramTask {
  const calls = [`f(1) == ${secret + 1}`, `${2 * secret + 1} == f(2)`, `f(3) != ${3 * secret + 1}`];
  return taskOf('tests of equality', `def f(x):\n    return ${secret} * x + 1`, calls);
}

function orderTask(secret: number): ProgramTask {
  const calls = [
    `f(1) in (${secret}, ${secret + 1})`,
    `${secret} < f(1) < ${secret + 2}`,
    `not f(2) != ${2 * secret + 1}`,
    `f(2) >= ${2 * secret + 1} and f(2) <= ${2 * secret + 1}`,
    `isinstance(f(1), int) and f(1) == ${secret + 1}`,
  ];
  return taskOf('tests of order', `def f(x):\n    return ${secret} * x + 1`, calls);
}

function decidingTask(secret: number, test: string): ProgramTask {
  const reference = `import math\ndef f(x):\n    return ${secret} * x`;
  return taskOf(`a test: ${test}`, reference, [test.replaceAll('SECRET', String(secret))]);
}

function arrayTask(secret: number): ProgramTask {
  return taskOf('tests of arrays', `def f(x):\n    return np.array([${secret} * x, x])`, [
    'f(1)',
    'f(2)',
    'f(3)[0]',
  ]);
}

function arrayTruthTask(secret: number): ProgramTask {
  const calls = [
    `np.array_equal(f(1), [${secret}, 1])`,
    `np.allclose(f(2), [${2 * secret}, 2])`,
    `(f(3) == np.array([${3 * secret}, 3])).all()`,
    `f(1).sum() == ${secret + 1} and len(f(1)) == 2`,
    `isinstance(f(1), np.ndarray) and f(1)[0] == ${secret}`,
    `abs(f(1)[0] - ${secret}) < 1e-9`,
  ];
  return taskOf(
    'tests that decide about arrays',
    `def f(x):\n    return np.array([${secret} * x, x])`,
    calls,
  );
}
