import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { inFlight } from '../../src/core/concurrency';
import { claimIn } from '../../src/core/trajectory/claim';
import { ifThere, writeAtomically } from '../../src/core/trajectory/files';
import { attempt, nameOf, type Cell } from './attempt';
import { allAttempts, type Attempt } from './attemptFile';
import { choiceOf, type Choice } from './choice';
import { creditOf, type Credit } from './credit';
import { offlineData, type OfflineData } from './offline';
import { Pace } from './pace';
import { common, type Method, type Setting } from './plan';
import { digestOf, type Surroundings } from './surroundings';

/** All results of a scoreboard. */
export interface Board {
  readonly offline: OfflineData;
  readonly choices: readonly Choice[];
  /** Attempts on the test split by method, one for each seed, in the order of the plan. */
  readonly final: readonly { readonly method: Method; readonly attempts: readonly Attempt[] }[];
  /** Undefined until it has been measured. */
  readonly credit: Credit | undefined;
  /** All attempts of this plan, and all of earlier plans in the same folder; the oldest first. */
  readonly attempts: readonly Attempt[];
  readonly earlier: readonly Attempt[];
  /** Number of plans that have played these test tasks so far. */
  readonly testUses: number;
}

export interface BoardOptions extends Surroundings {
  /** Called when everything except the credit is done, which may take as long again. */
  readonly onTable?: (board: Board) => Promise<void>;
}

/** Number of cells at one time; each trains on one thread. */
const AT_ONCE = 2;

/**
 * Collects the offline data, tries the settings of each method on the development split, trains the best one with every
 * seed, plays the test split, and judges the critics' rankings by Monte-Carlo credit. Every finished part is stored, so
 * that the same call continues wherever it was stopped.
 *
 * @throws {Fault} `study/incomplete-data`, `trajectory/claimed` when another process works on it
 * @throws the errors of the grader, and the signal's reason when it is aborted
 */
export async function scoreboard(to: BoardOptions): Promise<Board> {
  const claim = await claimIn(join(to.out, 'claims'), 'scoreboard', `The scoreboard in ${to.out}`);
  try {
    return await made(to);
  } finally {
    await claim.release();
  }
}

async function made(to: BoardOptions): Promise<Board> {
  const { plan, methods } = to;
  const offline = await collected(to);
  const trained = methods.filter(({ fields }) => fields !== null);
  const settingsOf = (method: Method): readonly Setting[] => method.settings.slice(0, plan.settings);
  // The order is not method by method: two settings of one method mostly share a critic, which the later one then finds
  // trained.
  const tries = plan.choiceSeeds.flatMap((seed) =>
    Array.from({ length: plan.settings }, (_, place) =>
      trained.flatMap((method) =>
        settingsOf(method)
          .slice(place, place + 1)
          .map((setting): Cell => ({ method, setting, seed, split: 'development' })),
      ),
    ).flat(),
  );
  const starts = methods.filter(({ fields }) => fields === null);
  const startTries = starts.map((method): Cell => ({
    method,
    setting: undefined,
    seed: plan.choiceSeeds[0]!,
    split: 'development',
  }));
  const pace = new Pace(
    tries.length + startTries.length + methods.length * plan.seeds.length,
    AT_ONCE,
    (told) => to.onProgress?.(told),
  );
  const tried = await played([...startTries, ...tries], offline, to, pace);
  const choices = trained.map((method) => choiceOf(method, settingsOf(method), tried));

  const testUses = await countTestUse(to, offline);
  const chosenOf = new Map(choices.map(({ method, chosen }) => [method.name, chosen]));
  // The order is seed by seed, so that after an early stop all methods have equally many seeds.
  const cells = plan.seeds.flatMap((seed) =>
    methods
      .filter(({ name, fields }) => fields === null || chosenOf.get(name) !== undefined)
      .map((method): Cell => ({ method, setting: chosenOf.get(method.name), seed, split: 'test' })),
  );
  const attempts = await played(cells, offline, to, pace);
  const final = methods.map((method) => ({
    method,
    attempts: attempts.filter((one) => one.method === method.name),
  }));
  const own = new Set([...tried, ...attempts].map(({ key }) => key));
  const all = await allAttempts(to.out);
  const table: Board = {
    ...{ offline, choices, final, testUses, credit: undefined },
    attempts: all.filter(({ key }) => own.has(key)),
    earlier: all.filter(({ key }) => !own.has(key)),
  };
  if (to.withoutCredit === true) return table;
  await to.onTable?.(table);
  return { ...table, credit: await creditOf(final, offline, to) };
}

async function collected(to: Surroundings): Promise<OfflineData> {
  const start = to.openAgent(to.start);
  const began = performance.now();
  try {
    return await offlineData(start, to, ({ done, already, total }) => {
      const seconds = (performance.now() - began) / 1000;
      const fresh = done - already;
      to.onProgress?.({
        ...{ done: 0, total: 0, what: 'offline data', where: `plays ${done}/${total}` },
        ...(fresh > 0 && { secondsLeft: ((total - done) / fresh) * seconds }),
      });
    });
  } finally {
    await start.close?.();
  }
}

async function played(
  cells: readonly Cell[],
  data: OfflineData,
  to: Surroundings,
  pace: Pace,
): Promise<Attempt[]> {
  const results = new Map<Cell, Attempt>();
  const play = (some: readonly Cell[], finished: (name: string, where: string) => void): Promise<void> =>
    inFlight(some, AT_ONCE, async (cell) => {
      to.signal?.throwIfAborted();
      const name = nameOf(cell);
      const one = await attempt(cell, data, to, (where) => pace.where(name, where));
      results.set(cell, one);
      finished(name, whereItEnded(one));
    });
  await play(cells, (name, where) => pace.finished(name, where));
  // A cell that failed by chance, e.g. because memory ran out for a moment, is tried once more, since nobody may be
  // watching.
  const failed = cells.filter((cell) => results.get(cell)!.state === 'failed');
  await play(failed, (name, where) => pace.where(name, `tried again, ${where}`));
  return cells.map((cell) => results.get(cell)!);
}

function whereItEnded({ state, message, sampled }: Attempt): string {
  const success = sampled?.figures.success?.mean;
  if (success !== undefined) return `done, success ${(100 * success).toFixed(1)} %`;
  return message === undefined ? state : `${state}: ${message}`;
}

const usesSchema = z.array(z.object({ plan: z.string(), test: z.string(), at: z.string() }));
type Uses = z.infer<typeof usesSchema>;

/**
 * Counts the plans that have played the test split. It is meant for one table; the page reports a second plan on the
 * same tasks. A larger draw of tasks begins with those of a smaller one, so that both count as the same.
 */
async function countTestUse(to: Surroundings, { digest }: OfflineData): Promise<number> {
  const { out, plan, methods, trainerCode } = to;
  const file = join(out, 'test-uses.json');
  const text = await ifThere(() => readFile(file, 'utf8'));
  const before: Uses = text === undefined ? [] : usesSchema.parse(JSON.parse(text));
  const own = {
    plan: digestOf(plan, common, methods, digest, trainerCode),
    test: digestOf('test', plan.test.seed, plan.difficulty),
  };
  const isNew = !before.some((use) => use.plan === own.plan && use.test === own.test);
  const uses = isNew ? [...before, { ...own, at: new Date().toISOString() }] : before;
  if (isNew)
    await writeAtomically(file, (handle) => handle.writeFile(`${JSON.stringify(uses, undefined, 1)}\n`));
  return uses.filter(({ test }) => test === own.test).length;
}
