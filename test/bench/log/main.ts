/*
 * Measures the trajectory log with 100,000 trajectories: opening without and with its index, pages of the list, memory.
 * The baseline is `JSON.parse` of every line. Each figure is the median of several fresh processes.
 *
 *   node test/bench/run.mjs log [--trajectories N] [--repeat N]
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { courseOf, groupsOf } from '../../../src/core/evaluation/statistics';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import { generateLog } from './generate';

type Figures = Record<string, number>;

const measures: Record<string, (folder: string) => Promise<Figures>> = {
  /** Opens the log without index; closing saves the index. */
  async cold(folder) {
    await rm(join(folder, 'index'), { recursive: true, force: true });
    const begun = performance.now();
    const log = await TrajectoryLog.open(folder);
    const openMs = performance.now() - begun;
    const cpu = processorTime();
    const first = timed(() => log.list({ offset: 0, limit: 100 }));
    const figures = {
      'open, no index (ms)': openMs,
      'processor time (ms)': cpu,
      'first page after it (ms)': first,
      ...memory(),
    };
    await log.close();
    return figures;
  },
  async indexed(folder) {
    const begun = performance.now();
    const log = await TrajectoryLog.open(folder);
    const openMs = performance.now() - begun;
    const { total } = log.list({ offset: 0, limit: 0 });
    const figures: Figures = {
      'open, with index (ms)': openMs,
      'page: first 100 (ms)': timed(() => log.list({ offset: 0, limit: 100 })),
      'page: last 100 (ms)': timed(() => log.list({ offset: total - 100, limit: 100 })),
      'page: agent, success, not leaked (ms)': timed(() =>
        log.list({
          filter: { agent: 'openai:llama-3.1-8b-1@http://127.0.0.1:8000/v1', success: true, leaked: false },
          offset: 1000,
          limit: 100,
        }),
      ),
      'page: outcome, rating, date (ms)': timed(() =>
        log.list({
          filter: { outcome: 'failure', stars: 0, since: '2026-01-01T00:10:00Z', until: '2026-01-02' },
          offset: 0,
          limit: 100,
        }),
      ),
      'count, with the rate per task (ms)': timed(() => log.count()),
      'agents to choose from (ms)': timed(() => log.valuesOf('agent', { outcome: 'success' })),
      'statistics (ms)': timed(() => statistics(log)),
      'page: by text (ms)': timed(() => log.list({ filter: { text: 'abc' }, offset: 0, limit: 100 })),
      'rollouts of a collection (ms)': timed(() => log.collected('collection-2')),
    };
    const { id } = log.list({ offset: total >> 1, limit: 1 }).rows[0]!;
    const reading = performance.now();
    await log.trajectory(id);
    figures['one trajectory (ms)'] = performance.now() - reading;
    Object.assign(figures, memory());
    await log.close();
    return figures;
  },
  /** The baseline: parses every line and keeps the events of each episode by id. */
  naive(folder) {
    const begun = performance.now();
    const episodes = new Map<string, { turns: number; state: string }>();
    const logFolder = join(folder, 'log');
    for (const name of readdirSync(logFolder).sort()) {
      for (const line of readFileSync(join(logFolder, name), 'utf8').split('\n')) {
        if (line === '') continue;
        const event = JSON.parse(line) as { event: string; episode?: string };
        if (event.episode === undefined) continue;
        const episode = episodes.get(event.episode) ?? { turns: 0, state: 'open' };
        episodes.set(event.episode, episode);
        if (event.event === 'agent-turn') episode.turns += 1;
        if (event.event === 'answered') episode.state = 'answered';
      }
    }
    const ms = performance.now() - begun;
    return Promise.resolve({
      'JSON.parse of every line (ms)': ms,
      'processor time (ms)': processorTime(),
      ...memory(),
    });
  },
};

function statistics(log: TrajectoryLog): unknown {
  const rows = log.outlines();
  const groups = (['agent', 'pack', 'collaborator'] as const).map((by) => groupsOf(rows, by));
  return [courseOf(rows), ...groups];
}

/**
 * Returns the processor time that some work took, in milliseconds: other processes hardly change it. The memory that
 * earlier work left behind is collected before, because threads of this process would do so meanwhile.
 */
function timed(work: () => unknown): number {
  globalThis.gc?.();
  const begun = processorTime();
  work();
  return processorTime() - begun;
}

/** Returns the CPU milliseconds of this process, which approximate the wall time on an idle machine. */
function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Returns the resident memory at its peak and after garbage collection. */
function memory(): Figures {
  const peak = process.resourceUsage().maxRSS / 1024;
  globalThis.gc?.();
  return { 'memory, peak (MB)': peak, 'memory, at rest (MB)': process.memoryUsage.rss() / 1024 / 1024 };
}

function inFreshProcess(measure: string, folder: string, repeat: number): Figures {
  const runs = Array.from({ length: repeat }, () => {
    const output = execFileSync(process.execPath, [...process.execArgv, process.argv[1]!, measure, folder]);
    return JSON.parse(output.toString()) as Figures;
  });
  return Object.fromEntries(
    Object.keys(runs[0]!).map((name) => {
      const sorted = runs.map((run) => run[name]!).sort((a, b) => a - b);
      return [name, sorted[sorted.length >> 1]!];
    }),
  );
}

async function main(): Promise<void> {
  const [measure, measured] = process.argv.slice(2);
  if (measure !== undefined && measure in measures) {
    console.log(JSON.stringify(await measures[measure]!(measured!)));
    return;
  }
  const { values } = parseArgs({
    options: {
      trajectories: { type: 'string', default: '100000' },
      repeat: { type: 'string', default: '5' },
    },
  });
  const folder = await mkdtemp(join(tmpdir(), 'tandem-log-bench-'));
  try {
    const bytes = await generateLog(folder, Number(values.trajectories));
    console.log(`${values.trajectories} trajectories, ${(bytes / 1e6).toFixed(0)} MB`);
    const results: Record<string, Figures> = {};
    for (const name of ['naive', 'cold', 'indexed']) {
      results[name] = inFreshProcess(name, folder, Number(values.repeat));
      for (const [what, figure] of Object.entries(results[name])) {
        console.log(`${name.padEnd(8)} ${what.padEnd(40)} ${figure.toFixed(1)}`);
      }
    }
    const naive = results.naive!['JSON.parse of every line (ms)']!;
    const ratio = (ms: number): string => (naive / ms).toFixed(1);
    console.log(
      `open without index: ${ratio(results.cold!['open, no index (ms)']!)} times as fast as the peer`,
    );
    console.log(`open with index: ${ratio(results.indexed!['open, with index (ms)']!)} times as fast`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

await main();
