/**
 * Grades hostile answers: none may get a point or become not gradable. Each run makes new draws; the line of a failure
 * names the seed that repeats it. Exits with 1 when an attack succeeds.
 *
 *   npm run build && node test/bench/run.mjs hostile [--seed NUMBER] [--rounds NUMBER] [--runner wasm|native]
 *
 * With `native`, TANDEM_PYTHON names a Python with numpy; the default is the first python3 on PATH.
 */
import { randomInt } from 'node:crypto';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createGrader } from '../../../src/core/grading/grader';
import { systemPython } from '../../../src/core/grading/native/native';
import { hostileAnswers, hostileClasses } from './hostile';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    runner: { type: 'string', default: 'wasm' },
  },
});
const first = numberOf('seed', values.seed ?? String(randomInt(2 ** 31)));
const rounds = numberOf('rounds', values.rounds);
const runner = values.runner === 'native' ? 'native' : 'wasm';
if (values.runner !== runner) {
  console.error(`--runner must be wasm or native, here ${JSON.stringify(values.runner)}.`);
  process.exit(2);
}
const assets = path.resolve('dist');
const native = runner === 'native' ? systemPython(assets, process.env.TANDEM_PYTHON) : undefined;
const grader = await createGrader(native === undefined ? { assets } : { assets, native });
let graded = 0;
let undeserved = 0;
for (let seed = first; seed < first + rounds; seed++) {
  await Promise.all(
    hostileAnswers(seed, runner).map(async ({ kind, task, answer }) => {
      const { reward, notGradable } = await grader.grade(task, answer, { mode: 'fixed' });
      graded++;
      if (reward === 0) return;
      undeserved++;
      console.error(
        `--seed ${seed} --rounds 1 --runner ${runner}: ${kind}, ${task.id}: ${notGradable ?? `reward ${reward}`}\n${answer}\n`,
      );
    }),
  );
}
await grader.close();
console.info(
  `${graded} answers of ${hostileClasses(runner).length} classes on ${runner}, seeds ${first} to ${first + rounds - 1}: ${undeserved} got what they do not deserve.`,
);
if (undeserved > 0) process.exitCode = 1;

function numberOf(option: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  console.error(`--${option} must be a whole number, here ${JSON.stringify(text)}.`);
  process.exit(2);
}
