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
import { TrajectoryLog, type TrajectoryFilter } from '../../../src/core/trajectory/log';
import { taskTitle } from '../../../src/core/task/title';
import { isFiltered, namedFilter, type ListFilter } from '../../../src/editor/trajectories/filter';
import { groupsOf as listGroupsOf } from '../../../src/editor/trajectories/grouping';
import { generateLog, opinions } from './generate';

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
  /**
   * Searches transcripts for absent words, words of some dialogues and a word of all, each up to one screen of results.
   */
  async searched(folder) {
    const log = await TrajectoryLog.open(folder);
    const figures: Figures = {};
    for (const [name, query] of [
      ['no hit', 'lighthouse'],
      ['three words', 'rounded negative zone'],
      ['in every dialogue', 'value'],
    ] as const) {
      const begun = performance.now();
      let longest = 0;
      let last = begun;
      const ticking = setInterval(() => {
        longest = Math.max(longest, performance.now() - last);
        last = performance.now();
      }, 1);
      let rows = 0;
      for await (const _ of log.search(query)) if ((rows += 1) === 200) break;
      clearInterval(ticking);
      figures[`search: ${name}, ${rows} found (ms)`] = performance.now() - begun;
      figures[`search: ${name}, longest without a break (ms)`] = longest;
    }
    await log.close();
    return { ...figures, ...memory() };
  },
  /** Has three people label, review and rate a fifth of the dialogues, the first time, and filters by it. */
  async said(folder) {
    const log = await TrajectoryLog.open(folder);
    const figures: Figures = {};
    const begun = processorTime();
    if (log.valuesOf('tags').length === 0)
      await log.appendAll(opinions(log.list({ offset: 0, limit: Infinity }).rows.map(({ id }) => id)));
    figures['labels, reviews, ratings added, or none (ms)'] = processorTime() - begun;
    for (const [name, filter] of Object.entries({
      'first 100': {},
      tag: { tag: 'odd' },
      review: { review: 'redo' },
      'two raters': { raters: 2 },
    } satisfies Record<string, TrajectoryFilter>))
      figures[`page: ${name} (ms)`] = timed(() => log.list({ filter, offset: 0, limit: 100 }));
    figures['tags to choose from (ms)'] = timed(() => log.valuesOf('tags'));
    await log.close();
    return figures;
  },
  /**
   * Narrows the list by texts of every kind, each time in a log that was just opened and listed: one page of it, and all
   * that the tree view asks for, whose titles of tasks are known.
   */
  async texts(folder) {
    const titles = await titlesOf(folder);
    const figures: Figures = {};
    const inLog = async (name: string, ask: (log: TrajectoryLog) => unknown): Promise<void> => {
      const log = await TrajectoryLog.open(folder);
      log.list(firstPage);
      figures[name] = timed(() => ask(log));
      await log.close();
    };
    const page = (filter: TrajectoryFilter) => (log: TrajectoryLog) => log.list({ filter, ...firstPage });
    await inLog(CHEAPEST, page({ stars: 1 }));
    for (const [name, text] of Object.entries(TEXTS)) {
      await inLog(`page: text, ${name} (ms)`, page({ text, named: namesWith(text, titles) }));
      await inLog(`tree: text, ${name} (ms)`, (log) => shownInTree(log, { text }, titles));
    }
    await inLog('tree: no filter (ms)', (log) => shownInTree(log, {}, titles));
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

/** A page with the cheapest filter, to which pages narrowed by a text are compared. */
const CHEAPEST = 'page: rating (ms)';

const firstPage = { offset: 0, limit: 100 };

const TEXTS = {
  'in no place': 'lighthouse',
  'part of ids': 'abc',
  'part of ids and a pseudonym': 'ada',
  'a title of tasks': 'task 00',
  'ids of tasks, part of ids': '0012',
  'an agent': '8b-2',
  'all agents': 'llama',
  'a tag': 'leaky',
  'in notes': 'rounded',
  'part of a word in notes': 'ound',
  'in a title': 'title 4321',
  'a digit of nearly everything': '1',
};

/** Returns the title of each task by its id, as the tree view reads them when it needs them the first time. */
async function titlesOf(folder: string): Promise<Map<string, { readonly title: string }>> {
  const log = await TrajectoryLog.open(folder);
  const titles = new Map<string, { readonly title: string }>();
  for await (const { task } of log.trajectories([...log.oneOfEachTask().values()]))
    titles.set(task.id, { title: taskTitle(task) });
  await log.close();
  return titles;
}

/** Returns the tasks whose titles have a text. */
function namesWith(text: string, titles: ReadonlyMap<string, { readonly title: string }>): Set<string> {
  return new Set([...titles].filter(([, { title }]) => title.toLowerCase().includes(text)).map(([id]) => id));
}

/** Asks the log for what the tree view shows under a filter: the headline, the groups and the first page of each. */
function shownInTree(
  log: TrajectoryLog,
  chosen: ListFilter,
  titles: ReadonlyMap<string, { readonly title: string }>,
): void {
  const namer = { calledBy: (name: string) => name, runOf: () => undefined };
  if (chosen.text !== undefined) log.namesOf('task').every((task) => titles.has(task));
  const filter = namedFilter(chosen, titles, log, namer);
  const { groups } = listGroupsOf(
    log,
    filter,
    'source',
    String,
    100,
    namer,
    (words: unknown) => words as string,
  );
  for (const group of groups) log.list({ filter: group.filter, ...firstPage });
  if (isFiltered(chosen)) log.list({ offset: 0, limit: 0 });
}

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
    for (const name of ['naive', 'cold', 'indexed', 'searched', 'said', 'texts']) {
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
    const { [CHEAPEST]: other = NaN, ...texts } = results.texts!;
    const [slowest, ms] = Object.entries(texts)
      .filter(([name]) => name.startsWith('page: text'))
      .reduce((most, each) => (each[1] > most[1] ? each : most));
    console.log(`${slowest}: ${(ms / other).toFixed(1)} times as long as ${CHEAPEST}`);
    console.log(`open with index: ${ratio(results.indexed!['open, with index (ms)']!)} times as fast`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

await main();
