import { readFile } from 'node:fs/promises';
import { Option } from 'commander';
import { collectionName, type PackTask } from '../../core/dialogue/collect';
import { unrecorded } from '../../core/dialogue/parts';
import { isLoopback } from '../../core/environment/access';
import {
  clientAgent,
  samplingElsewhere,
  type EnvironmentPlan,
  type EpisodeCounts,
} from '../../core/environment/episode';
import { EnvironmentServer } from '../../core/environment/server';
import { TaskSplits } from '../../core/environment/splits';
import type { TrajectoryLog } from '../../core/trajectory/log';
import {
  wholeNumber,
  wrongUse,
  minutes,
  type CliContext,
  type CommandResult,
  type Install,
} from '../command';
import { openGrader } from '../grader';
import { namedKeys } from '../keys';
import { openLog } from '../log';
import { say } from '../output';
import {
  addDialogueOptions,
  limitOption,
  prepareDialogues,
  MODEL_WORDS,
  tasksOf,
  type DialogueOptions,
  type DialogueSetup,
  type PackOptions,
} from '../play';
import { usageOf } from '../usage';

interface Options extends DialogueOptions, PackOptions {
  readonly host: string;
  readonly port: number;
  readonly tokenFile?: string;
  readonly capacity: number;
  readonly idleMinutes: number;
  readonly data?: string;
  readonly agentName: string;
  readonly endWithInput?: boolean;
}

export const installServe: Install = (program, perform) => {
  const command = program
    .command('serve')
    .description('serve tasks as an environment (OpenEnv) to a trainer; Ctrl+C ends it')
    .requiredOption('--tasks <file...>', 'packs to play; each is a split')
    .option('--simulator <model>', `who plays the collaborator: rules, ${MODEL_WORDS}`, 'rules')
    .option('--host <address>', 'where to listen; any other than this machine needs a token', '127.0.0.1')
    .addOption(new Option('--port <n>', '0 is any free one').argParser(wholeNumber('--port')).default(8000))
    .option('--token-file <file>', 'holds what clients must send as a bearer token; or TANDEM_SERVE_TOKEN')
    .addOption(
      new Option('--capacity <n>', 'most episodes at once')
        .argParser(wholeNumber('--capacity', 1))
        .default(1024),
    )
    .addOption(
      new Option('--idle-minutes <n>', 'end an episode whose client says nothing for so long')
        .argParser(minutes('--idle-minutes'))
        .default(30),
    )
    .option('--data <folder>', 'log the episodes into this data folder')
    .addOption(limitOption())
    .option('--agent-name <name>', 'name of the agent in the log', 'openenv')
    .option(
      '--end-with-input',
      'end when standard input ends, as it does when the program that started this dies',
    );
  addDialogueOptions(command).action((options: Options) => perform((to) => serve(options, to)));
};

async function serve(options: Options, to: CliContext): Promise<CommandResult> {
  const token = await tokenOf(options);
  if (token === undefined && !isLoopback(options.host)) {
    throw wrongUse(
      `--host ${options.host} lets other machines in, who must send a token: set TANDEM_SERVE_TOKEN, or name a file with --token-file.`,
    );
  }
  const keyOf = namedKeys(options.keyEnv, [options.simulator]);
  const play = {
    tasks: await tasksOf(options, to),
    ...(await prepareDialogues(options, to, keyOf)),
  };
  const grader = await openGrader({ assets: to.assets, workers: options.jobs });
  const log = options.data === undefined ? undefined : await openLog(options.data);
  const agent = clientAgent(options.agentName);
  const { seed, mode, host, port, capacity } = options;
  const collection = collectionName('environment', { ...play, seed, agent, sampling: samplingElsewhere });
  const counts = { begun: 0, graded: 0 };
  try {
    await log?.claim(`collection-${collection}`, `The collection ${collection}`);
    const plan: EnvironmentPlan = {
      ...play,
      splits: new TaskSplits(playable(play)),
      seed,
      mode,
      grader,
      agent,
      collection,
      log: log ?? unrecorded,
      rollouts: nextRollouts(log, collection),
      counts,
    };
    const server = await EnvironmentServer.start({
      plan,
      ...{ host, port, token, capacity },
      idleMilliseconds: options.idleMinutes * 60_000,
      onTrouble: say,
    });
    to.onInterrupt('Stopping; open episodes are logged as abandoned. Press Ctrl+C again to leave at once.');
    say(`Serving ${plan.splits.size} tasks at ${server.address}; Ctrl+C ends it.`);
    await stopped(to.signal, options.endWithInput === true);
    await server.close();
    return {
      summary: { collection, data: options.data, ...counts },
      print: () => [inWords(counts), ...usageOf(play.simulator)].join('\n'),
    };
  } finally {
    await log?.close();
    await grader.close();
    await play.simulator.close?.();
  }
}

/** @throws {Fault} `usage` when the token is empty, or a header cannot hold it */
async function tokenOf({ tokenFile }: Options): Promise<string | undefined> {
  const token = tokenFile === undefined ? process.env.TANDEM_SERVE_TOKEN : await readFile(tokenFile, 'utf8');
  if (token === undefined) return undefined;
  const where = tokenFile ?? 'TANDEM_SERVE_TOKEN';
  if (/^[!-~]+$/.test(token.trim())) return token.trim();
  throw wrongUse(`${where} must hold the token: letters, digits and signs without spaces.`);
}

/** The rule-based simulator knows nothing of a task without facts, which would fail at the first question. */
function playable({
  tasks,
  simulator,
}: DialogueSetup & { readonly tasks: readonly PackTask[] }): readonly PackTask[] {
  if (simulator.kind !== 'rules') return tasks;
  const withFacts = tasks.filter(({ task }) => (task.facts ?? []).length > 0);
  const without = tasks.length - withFacts.length;
  if (withFacts.length === 0) {
    throw wrongUse(
      'None of these tasks has facts, from which the rules answer; name a model with --simulator.',
    );
  }
  if (without > 0)
    say(`${without} tasks are left out, because they have no facts from which the rules answer.`);
  return withFacts;
}

/** Returns the number of the next rollout of each task that the log has in this collection. */
function nextRollouts(log: TrajectoryLog | undefined, collection: string): Map<string, number> {
  const next = new Map<string, number>();
  for (const key of log?.collected(collection).keys() ?? []) {
    const at = key.lastIndexOf('#');
    const task = key.slice(0, at);
    next.set(task, Math.max(next.get(task) ?? 0, Number(key.slice(at + 1)) + 1));
  }
  return next;
}

/** Resolves at Ctrl+C, when the system asks the process to end, and with `withInput` when standard input ends. */
async function stopped(signal: AbortSignal, withInput: boolean): Promise<void> {
  let stop = (): void => undefined;
  await new Promise<void>((resolve) => {
    stop = resolve;
    if (signal.aborted) resolve();
    signal.addEventListener('abort', stop, { once: true });
    process.once('SIGTERM', stop);
    if (withInput) process.stdin.once('end', stop).once('error', stop).resume();
  });
  process.off('SIGTERM', stop);
}

const inWords = ({ begun, graded }: EpisodeCounts): string =>
  `${begun} episodes were played, and ${graded} of them have an answer with a grade.`;
