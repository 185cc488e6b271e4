/**
 * Measures the grading of 300 answers, a tenth of which loop endlessly, with two workers, and the benign answers per
 * second. Baseline in the same run: one native CPython process for each answer, with a limit of one second per looping
 * test.
 *
 *   npm run build && node test/bench/run.mjs grading [--json] [--no-peer]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createGrader, type Grader } from '../../src/core/grading/grader';
import { makePairs, type Pair } from './grading-pairs';
import { gradeNatively } from './grading-peer';

const workers = 2;
/** Repetitions of the benign answers, so that the rate is that of a long run. */
const benignRounds = 4;

interface Row {
  readonly what: string;
  readonly answers: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly wrongScores: number;
}

async function main(): Promise<void> {
  const pairs = makePairs();
  const benign = pairs.filter(({ kind }) => kind !== 'loops' && kind !== 'huge');
  const cacheFolder = await mkdtemp(path.join(tmpdir(), 'tandem-bench-references-'));
  const open = (): Promise<Grader> =>
    createGrader({
      assets: path.resolve('dist'),
      workers,
      cache: { folder: cacheFolder, onNotice: console.error },
    });
  const rows: Row[] = [];
  try {
    const cold = await open();
    rows.push(await measure('Tandem, cold: starts, runs references', pairs, (all) => gradeAll(cold, all)));
    await cold.close();
    const cached = await open();
    rows.push(await measure('Tandem, reference outputs on disk', pairs, (all) => gradeAll(cached, all)));
    const many = Array.from({ length: benignRounds }, () => benign).flat();
    rows.push(await measure('Tandem, benign answers only', many, (all) => gradeAll(cached, all)));
    await cached.close();
  } finally {
    await rm(cacheFolder, { recursive: true, force: true });
  }
  if (!process.argv.includes('--no-peer')) {
    rows.push(await measure('one native process per answer', pairs, (all) => gradeNatively(all, workers)));
    rows.push(await measure('the same, benign only', benign, (all) => gradeNatively(all, workers)));
  }
  report(rows);
  if (rows.some(({ wrongScores }) => wrongScores > 0)) process.exitCode = 1;
}

async function gradeAll(grader: Grader, pairs: readonly Pair[]): Promise<(number | null)[]> {
  const grades = await Promise.all(
    pairs.map(({ task, answer }) => grader.grade(task, answer, { mode: 'fixed' })),
  );
  return grades.map(({ reward }) => reward);
}

async function measure(
  what: string,
  pairs: readonly Pair[],
  grade: (pairs: readonly Pair[]) => Promise<(number | null)[]>,
): Promise<Row> {
  const began = performance.now();
  const rewards = await grade(pairs);
  const seconds = (performance.now() - began) / 1000;
  const wrongScores = pairs.filter(({ reward }, index) => rewards[index] !== reward).length;
  return { what, answers: pairs.length, seconds, perSecond: pairs.length / seconds, wrongScores };
}

function report(rows: readonly Row[]): void {
  const [cold, cached, benign, peer, peerBenign] = rows;
  const ratios: Record<string, number> =
    peer === undefined || peerBenign === undefined
      ? {}
      : {
          coldToPeer: peer.seconds / cold!.seconds,
          cachedToPeer: peer.seconds / cached!.seconds,
          benignToPeer: benign!.perSecond / peerBenign.perSecond,
        };
  if (process.argv.includes('--json')) {
    console.log(
      JSON.stringify({ rows, summary: { workers, benignPerSecond: benign!.perSecond, ...ratios } }),
    );
    return;
  }
  console.table(
    rows.map(({ what, answers, seconds, perSecond, wrongScores }) => ({
      what,
      answers,
      seconds: seconds.toFixed(2),
      'answers/s': perSecond.toFixed(1),
      'wrong scores': wrongScores,
    })),
  );
  for (const [name, value] of Object.entries(ratios))
    console.log(`${name}: ${value.toFixed(1)} times as fast`);
}

await main();
