/**
 * How much asking pays in the starter world: success of policies that apply what they hear without a fault and differ
 * only in what they ask. The range between them is what training can win.
 *
 *   node test/bench/run.mjs starter-world [--json]
 */
import { OPTIONS } from '../../src/core/task/starter/kinds';
import { DIFFICULTIES, KINDS, type Difficulty, type Kind } from '../../src/core/task/starter/world';
import type { StarterTask } from '../../src/core/task/starter/world';
import { firstTasks } from '../fixtures/starter-world';

const TRAINING_TASKS = 20_000;
const TEST_TASKS = 2000;
const HARD_TO_THINK_OF: readonly Kind[] = ['strictness', 'empty', 'rounding', 'order', 'unit'];

interface Policy {
  readonly name: string;
  readonly questions: number;
  readonly neverAsks?: readonly Kind[];
}

const policies: readonly Policy[] = [
  { name: 'knows the kinds and guesses', questions: 0 },
  { name: 'likeliest first', questions: 3 },
  { name: 'likeliest first', questions: 4 },
  { name: 'likeliest first', questions: 5 },
  { name: 'likeliest first', questions: KINDS.length },
  {
    name: 'likeliest first, never strictness or rounding',
    questions: 5,
    neverAsks: ['strictness', 'rounding'],
  },
  {
    name: `likeliest first, never ${HARD_TO_THINK_OF.join(', ')}`,
    questions: 5,
    neverAsks: HARD_TO_THINK_OF,
  },
];

const kindsOf = ({ decisions }: StarterTask): Set<Kind> => new Set(decisions.map(({ kind }) => kind));

/** The decisions of every training task, by trade. */
function experience(difficulty: Difficulty): Map<string, Set<Kind>[]> {
  const seen = new Map<string, Set<Kind>[]>();
  for (const task of firstTasks(TRAINING_TASKS, { split: 'train', seed: 7, difficulty })) {
    seen.set(task.domain, [...(seen.get(task.domain) ?? []), kindsOf(task)]);
  }
  return seen;
}

/** What is asked: hints first, then what is most frequent in tasks that agree with all that is known by now. */
function askedBy(policy: Policy, task: StarterTask, seen: readonly Set<Kind>[]): Set<Kind> {
  const has = kindsOf(task);
  const known = new Map(task.decisions.filter(({ cued }) => cued).map(({ kind }) => [kind, true]));
  const asked = new Set<Kind>();
  let alike = seen;
  while (asked.size < policy.questions) {
    alike = alike.filter((kinds) => [...known].every(([kind, present]) => kinds.has(kind) === present));
    const chance = (kind: Kind): number =>
      known.get(kind) === true ? Infinity : alike.filter((kinds) => kinds.has(kind)).length;
    const [next] = KINDS.filter((kind) => !asked.has(kind) && policy.neverAsks?.includes(kind) !== true)
      .map((kind) => ({ kind, chance: chance(kind) }))
      .filter((question) => question.chance > 0)
      .toSorted((a, b) => b.chance - a.chance);
    if (next === undefined) break;
    asked.add(next.kind);
    known.set(next.kind, has.has(next.kind));
  }
  return asked;
}

/** The chance of success: what was not asked is guessed if it is known to be there, else left out. */
function success({ name }: Policy, task: StarterTask, asked: ReadonlySet<Kind>): number {
  return task.decisions
    .filter(({ kind }) => !asked.has(kind))
    .reduce((chance, { kind, cued }) => {
      // Left out, strictness and order still mean one of their two values.
      const isGuessed = name.includes('guesses') || cued || kind === 'strictness' || kind === 'order';
      return isGuessed ? chance / OPTIONS[kind].length : 0;
    }, 1);
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

const rows = (Object.keys(DIFFICULTIES) as Difficulty[]).flatMap((difficulty) => {
  const seen = experience(difficulty);
  const tasks = firstTasks(TEST_TASKS, { split: 'test', seed: 7, difficulty });
  return policies.map((policy) => {
    const asked = tasks.map((task) => askedBy(policy, task, seen.get(task.domain) ?? []));
    return {
      difficulty,
      policy: policy.name,
      questions: mean(asked.map(({ size }) => size)),
      ofAtMost: policy.questions,
      success: mean(tasks.map((task, i) => success(policy, task, asked[i]!))),
    };
  });
});

if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify({ rows })}\n`);
else {
  for (const { difficulty, policy, questions, ofAtMost, success: rate } of rows) {
    process.stdout.write(
      `${difficulty.padEnd(9)} ${(100 * rate).toFixed(1).padStart(5)} %  ${questions.toFixed(2)} of ${ofAtMost} questions  ${policy}\n`,
    );
  }
}
