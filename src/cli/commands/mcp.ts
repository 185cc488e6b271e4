import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { Fault } from '../../core/fault';
import { openPlayer } from '../../core/model/spec';
import { isPack } from '../../core/task/pack';
import type { OpenPlay, PlayRequest, Workplace } from '../../core/tools/tool';
import { parseConfiguration } from '../../core/training/configuration';
import { Runs } from '../../core/training/runs';
import { startRun } from '../../core/training/start';
import type { CliContext, CommandResult, Install } from '../command';
import { cachedClip, openPages, openShippedTrainer, withLog, Opened } from '../resources';
import { namedKeys, type KeyOf } from '../keys';
import { addPlayRules, PLAYER_WORDS, SIMULATOR_WORDS, type PlayRules, openPlayers } from '../play';
import { preparing } from '../runWords';

interface Options extends PlayRules {
  readonly tasks?: readonly string[];
  readonly agent: string;
}

export const installMcp: Install = (program, perform) => {
  const command = program
    .command('mcp')
    .description(
      'serve Tandem to another agent by the Model Context Protocol, on stdin and stdout until stdin ends; docs/agents.md',
    )
    .option('--tasks <file...>', 'packs that may be played (default: those in this folder)')
    .option('--agent <model>', `who plays when a call names no agent: ${PLAYER_WORDS}`, 'starter')
    .option('--simulator <model>', `the simulator when a call names none: ${SIMULATOR_WORDS}`, 'rules');
  addPlayRules(command, {}).action(perform(serve));
};

async function serve(options: Options, to: CliContext): Promise<CommandResult> {
  // Keys go to the servers of the options only, whatever models a call names.
  const keyOf = namedKeys(options.keyEnv, [options.agent, options.simulator]);
  const { serveTools } = await import('../mcpServer');
  await serveTools(workplaceOf(options, to, keyOf), to.signal);
  // The protocol has stdout for itself: no line is printed, not even an empty one.
  return { summary: {}, print: () => Readable.from([]) as AsyncIterable<string> };
}

/** The working folder, with the options as settings. */
function workplaceOf(options: Options, to: CliContext, keyOf: KeyOf): Workplace {
  const folder = process.cwd();
  const { tasks, data } = options;
  return {
    folder,
    dataFolder: path.resolve(data),
    packs: () =>
      tasks === undefined ? packsIn(folder) : Promise.resolve(tasks.map((file) => path.resolve(file))),
    openPlay: (request) => openPlay(options, request, to, keyOf),
    withLog: (use) => withLog(data, to.signal, use),
    startRun: async ({ configuration, ...base }, { signal, report }) =>
      startRun(new Runs(data), {
        configuration: await parseConfiguration(configuration, base),
        trainer: await openShippedTrainer({ assets: to.assets, signal }),
        prompts: path.join(to.assets, 'prompts'),
        signal,
        onProgress: (what) => report(preparing[what]),
      }),
  };
}

const TEMPERATURES = { collection: 1, evaluation: 0 };

async function openPlay(
  options: Options,
  { purpose, agents, simulator = options.simulator }: PlayRequest,
  to: CliContext,
  keyOf: KeyOf,
): Promise<OpenPlay> {
  const { mode, temperature = TEMPERATURES[purpose] } = options;
  const opened = new Opened();
  const named = agents.length === 0 ? [options.agent] : agents;
  const how = { open: openPlayer, keyOf };
  return {
    ...(await openPlayers({ ...options, simulator, temperature }, named, how, to, opened)),
    pages: opened.add(openPages(to)),
    clip: opened.add(mode === 'paper' ? cachedClip(to) : undefined),
    close: () => opened.close(),
  };
}

/** They hold no tasks of the user. */
const PASSED_OVER: ReadonlySet<string> = new Set(['node_modules', '.tandem', '.git']);

/** As the Tasks view of the editor finds them, by path. */
async function packsIn(folder: string): Promise<string[]> {
  const packs: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory() && !PASSED_OVER.has(entry.name)) packs.push(...(await packsIn(file)));
    else if (entry.isFile() && entry.name.endsWith('.jsonl') && (await mayBePack(file))) packs.push(file);
  }
  return packs.sort();
}

/** A file that cannot be read counts, so that it is reported where packs are listed. */
async function mayBePack(file: string): Promise<boolean> {
  try {
    return await isPack(file);
  } catch (error) {
    if (error instanceof Fault) return true;
    throw error;
  }
}
