/**
 * Computes the value of asking in the starter world: the success of policies that apply all replies correctly and
 * differ only in their questions. The range between them is the possible gain of training.
 *
 *   node test/bench/run.mjs starter-world [--json]
 */
import { OPTIONS } from '../../src/core/task/starter/kinds';
import { DIFFICULTIES, KINDS, type Difficulty, type DecisionKind } from '../../src/core/task/starter/world';
import type { StarterTask } from '../../src/core/task/starter/world';
import { firstTasks } from '../fixtures/starter-world';

const TRAINING_TASKS = 20_000;
const TEST_TASKS = 2000;
const HARD_TO_THINK_OF: readonly DecisionKind[] = ['strictness', 'empty', 'rounding', 'order', 'unit'];

interface Policy {
  readonly name: string;
  readonly questions: number;
  readonly neverAsks?: readonly DecisionKind[];
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

const kindsOf = ({ decisions }: StarterTask): Set<DecisionKind> => new Set(decisions.map(({ kind }) => kind));

/** Returns the decisions of every training task, by trade. */
function experience(difficulty: Difficulty): Map<string, Set<DecisionKind>[]> {
  const seen = new Map<string, Set<DecisionKind>[]>();
  for (const task of firstTasks(TRAINING_TASKS, { split: 'train', seed: 7, difficulty })) {
    seen.set(task.domain, [...(seen.get(task.domain) ?? []), kindsOf(task)]);
  }
  return seen;
}

/** Chooses the questions: hints first, then the most frequent decisions in tasks that agree with all known answers. */
function askedBy(policy: Policy, task: StarterTask, seen: readonly Set<DecisionKind>[]): Set<DecisionKind> {
  const has = kindsOf(task);
  const known = new Map(task.decisions.filter(({ cued }) => cued).map(({ kind }) => [kind, true]));
  const asked = new Set<DecisionKind>();
  let alike = seen;
  while (asked.size < policy.questions) {
    alike = alike.filter((kinds) => [...known].every(([kind, present]) => kinds.has(kind) === present));
    const chance = (kind: DecisionKind): number =>
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

/** Returns the probability of success; decisions that were not asked are guessed if known to exist, else left out. */
function success({ name }: Policy, task: StarterTask, asked: ReadonlySet<DecisionKind>): number {
  return task.decisions
    .filter(({ kind }) => !asked.has(kind))
    .reduce((chance, { kind, cued }) => {
      // If left out, strictness and order still have one of their two values.
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
