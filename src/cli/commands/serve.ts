import path from 'node:path';
import { Option, type Command } from 'commander';
import { readText } from '../../core/regularFile';
import { isLoopback, type ListenPlace } from '../../core/serving/listener';
import {
  wholeNumber,
  wrongUse,
  minutes,
  type CliContext,
  type CommandResult,
  type Install,
  untilStopped,
} from '../command';
import {
  addDialogueOptions,
  addPageOptions,
  addSamplingOptions,
  limitOption,
  MODEL_WORDS,
  SIMULATOR_WORDS,
  prepareDialogues,
  tasksOf,
  type DialogueOptions,
  type DialogueSetup,
  type PackOptions,
  modelOptions,
  usageOf,
} from '../play';
import { collectionName, rendererOf, type PackTask } from '../../core/dialogue/collect';
import { unrecorded } from '../../core/dialogue/dialogueParts';
import {
  clientAgent,
  clientSimulator,
  samplingElsewhere,
  type EnvironmentPlan,
} from '../../core/environment/episode';
import { specificationOf } from '../../core/dialogue/specification/specification';
import { EnvironmentServer } from '../../core/environment/server';
import { TaskSplits } from '../../core/environment/splits';
import { remembering } from '../../core/grading/grader';
import { factsOf, isProgram } from '../../core/task/task';
import { PERSON } from '../../core/trajectory/event';
import type { TrajectoryLog } from '../../core/trajectory/log';
import { openGrader, openLog, Opened, openDrawing, type PageOptions } from '../resources';
import { namedKeys } from '../keys';
import { servePlay } from '../seat/servePlay';
import { say } from '../terminal';
import { isShipped } from '../../core/model/shippedModels';
import { LocalModel } from '../../core/model/local/model';
import type { Model, SamplingSettings } from '../../core/model/model';
import { openModel } from '../../core/model/spec';
import { eachSamplingNumber, samplingEntries, type SamplingName } from '../../core/samplingSettings';
import { ModelServer } from '../../core/modelServer/server';

interface Options extends Partial<EnvironmentOptions> {
  readonly model?: string;
  readonly modelName?: string;
  readonly play?: boolean;
  readonly address?: string;
  readonly host: string;
  readonly port: number;
  readonly tokenFile?: string;
  readonly endWithInput?: boolean;
}

export const installServe: Install = (program, perform) => {
  const ofModel = new Option(
    '--model <model>',
    'serve a model instead: starter, starter-pages, starter-questions or local:<folder>',
  );
  const ofPlay = new Option(
    '--play',
    'let people reply to an agent in a browser: prints a link with a token; dialogues go into --data (default: .tandem)',
  );
  const command = program
    .command('serve')
    .description(
      'serve tasks as an environment (OpenEnv) to a trainer, or to people with a browser, or a model that runs here by OpenAI’s API; Ctrl+C ends it',
    )
    .option('--tasks <file...>', 'serve an environment: packs to play; each is a split')
    .addOption(ofModel)
    .addOption(ofPlay)
    .option('--address <url>', 'of --play: where people open the page, if a proxy stands in front of it')
    .option('--model-name <name>', 'the name that clients use (default: starter, or the folder’s name)')
    .option('--host <address>', 'where to listen; any other than this machine needs a token', '127.0.0.1')
    .option('--port <n>', '0 is any free one', wholeNumber('--port'), 8000)
    .option('--token-file <file>', 'file with the bearer token that clients must send; or TANDEM_SERVE_TOKEN')
    .option(
      '--end-with-input',
      'end when standard input ends, as it does when the program that started this dies',
    )
    .optionsGroup('Of an environment:')
    .option('--simulator <model>', `the simulator: ${SIMULATOR_WORDS}`, 'rules')
    .addOption(
      new Option(
        '--agent <model>',
        `clients play the collaborator, in place of the simulator, and this agent asks and answers: ${MODEL_WORDS} (with --play by default: starter; ${PERSON}: other people, by a second link)`,
      ).conflicts(['simulator', 'valueAgent']),
    )
    .option('--value-agent <model>', `values candidate turns at POST /values: ${MODEL_WORDS}`)
    .option('--capacity <n>', 'maximum number of episodes at once', wholeNumber('--capacity', 1), 1024)
    .option(
      '--idle-minutes <n>',
      'end an episode after its client has been silent for this long',
      minutes('--idle-minutes'),
      30,
    )
    .option('--data <folder>', 'log the episodes into this data folder')
    .addOption(limitOption())
    .option('--agent-name <name>', 'name of the client in the log', 'openenv');
  addPageOptions(command);
  addSamplingOptions(command, { temperature: 1 });
  addDialogueOptions(command).action(
    perform((options: Options, to: CliContext) => serve(options, command, to)),
  );
  const names = command.options.map((option) => option.attributeName());
  ofModel.conflicts(names.filter((name) => !OF_MODELS.has(name)));
  ofPlay.conflicts([...OF_ENVIRONMENTS]);
};

const OF_MODELS = new Set(['model', 'modelName', 'host', 'port', 'tokenFile', 'endWithInput', 'json']);
/** Options that a page for people does not have. */
const OF_ENVIRONMENTS = new Set<string>([
  ...['model', 'simulator', 'valueAgent', 'capacity', 'idleMinutes', 'agentName', 'browser', 'clip'],
]);
const OF_AGENT = new Set<string>([...samplingEntries.map(([name]) => name), 'maxTokens']);

async function serve(options: Options, command: Command, to: CliContext): Promise<CommandResult> {
  const { model, modelName, tasks, agent } = options;
  if (model !== undefined) return serveModel(model, options, await placeOf(options), to);
  if (modelName !== undefined) throw wrongUse('--model-name needs --model.');
  if (tasks === undefined)
    throw wrongUse('Say what to serve: tasks with --tasks <file...>, or a model with --model <model>.');
  if (options.play === true) {
    // Each of the other options has a default.
    const own = options as EnvironmentOptions;
    const { agent: chosen = 'starter', data = '.tandem' } = options;
    return servePlay(
      { ...own, ...{ tasks, data, agent: chosen, sampling: samplingOf(own) } },
      // Without a token of the person who starts it, each start has one of its own.
      { host: options.host, port: options.port, token: await tokenOf(options) },
      to,
    );
  }
  if (options.address !== undefined) throw wrongUse('--address needs --play.');
  const ofAgent = command.options.find((option) => {
    const name = option.attributeName();
    return OF_AGENT.has(name) && command.getOptionValueSource(name) === 'cli';
  });
  if (agent === undefined && ofAgent !== undefined)
    throw wrongUse(`${ofAgent.long} is of an agent that plays here; name one with --agent, or leave it out.`);
  // Each of the other options has a default.
  return serveEnvironment({ ...(options as EnvironmentOptions), tasks }, await placeOf(options), to);
}

/** @throws {Fault} `usage` when other machines could connect without a token */
async function placeOf(options: Options): Promise<ListenPlace> {
  const { host, port } = options;
  const token = await tokenOf(options);
  if (token === undefined && !isLoopback(host)) {
    throw wrongUse(
      `--host ${host} lets other machines in, who must send a token: set TANDEM_SERVE_TOKEN, or name a file with --token-file.`,
    );
  }
  return { host, port, token };
}

/** @throws {Fault} `usage` when the token is empty, or a header cannot hold it */
async function tokenOf({ tokenFile }: Options): Promise<string | undefined> {
  const token =
    tokenFile === undefined ? process.env.TANDEM_SERVE_TOKEN : await readText(tokenFile, 64 * 1024);
  if (token === undefined) return undefined;
  const where = tokenFile ?? 'TANDEM_SERVE_TOKEN';
  if (/^[!-~]+$/.test(token.trim())) return token.trim();
  throw wrongUse(`${where} must hold the token: letters, digits and signs without spaces.`);
}

interface EnvironmentOptions
  extends DialogueOptions, PackOptions, PageOptions, Readonly<Partial<Record<SamplingName, number>>> {
  readonly agent?: string;
  readonly temperature: number;
  readonly maxTokens: number;
  readonly valueAgent?: string;
  readonly capacity: number;
  readonly idleMinutes: number;
  readonly data?: string;
  readonly agentName: string;
  readonly endWithInput?: boolean;
}

const samplingOf = (options: EnvironmentOptions): SamplingSettings => ({
  ...eachSamplingNumber((name) => options[name]),
  ...{ temperature: options.temperature, maxTokens: options.maxTokens },
});

async function serveEnvironment(
  options: EnvironmentOptions,
  place: ListenPlace,
  to: CliContext,
): Promise<CommandResult> {
  await using opened = new Opened();
  const specs = [options.simulator, options.agent, options.valueAgent];
  const keyOf = namedKeys(
    options.keyEnv,
    specs.filter((spec) => spec !== undefined),
  );
  const open = (spec: string | undefined): Model | undefined =>
    opened.add(spec === undefined ? undefined : openModel(spec, modelOptions(to, keyOf)));
  const agentHere = open(options.agent);
  const play = {
    tasks: await tasksOf(options, to),
    ...(await prepareDialogues(options, to, keyOf)),
    ...(agentHere && { simulator: clientSimulator(options.agentName) }),
  };
  if (agentHere !== undefined && !play.tasks.every(({ task }) => isProgram(task)))
    throw wrongUse('With --agent only functions are played: the collaborator of a web page reads pictures.');
  opened.add(play.simulator);
  const hasPages = !play.tasks.every(({ task }) => isProgram(task));
  const drawing = openDrawing(hasPages, options, to, opened);
  const grader = opened.add(remembering(await openGrader({ assets: to.assets, workers: options.jobs })));
  const log = options.data === undefined ? undefined : opened.add(await openLog(options.data, to.signal));
  const agent = agentHere ?? clientAgent(options.agentName);
  const valueAgent = open(options.valueAgent);
  const { seed, mode, capacity } = options;
  const sampling = agentHere === undefined ? samplingElsewhere : samplingOf(options);
  const renderer = await rendererOf({ ...play, pages: drawing.pages, mode });
  const collection = collectionName('environment', { ...play, seed, agent, renderer, sampling });
  const counts = { begun: 0, graded: 0 };
  await log?.claim(`collection-${collection}`, `The collection ${collection}`);
  const plan: EnvironmentPlan = {
    ...play,
    ...drawing,
    seat: agentHere === undefined ? 'agent' : 'collaborator',
    splits: new TaskSplits(playable(play)),
    ...{ sampling, seed, mode, grader, agent, valueAgent, collection, counts },
    log: log ?? unrecorded,
    rollouts: nextRollouts(log, collection),
  };
  const server = await EnvironmentServer.start({
    ...{ plan, ...place, capacity },
    idleMilliseconds: options.idleMinutes * 60_000,
    onTrouble: say,
  });
  to.onInterrupt('Stopping; open episodes are logged as abandoned. Press Ctrl+C again to leave at once.');
  say(`Serving ${plan.splits.size} tasks at ${server.address}; Ctrl+C ends it.`);
  await untilStopped(to.signal, options.endWithInput);
  await server.close();
  return {
    summary: { collection, data: options.data, ...counts },
    print: () =>
      [
        `${counts.begun} episodes were played, and ${counts.graded} of them have an answer with a grade.`,
        ...[play.simulator, agentHere, valueAgent].flatMap((model) => (model ? usageOf(model) : [])),
      ].join('\n'),
  };
}

/** A simulator that reads facts or a specification has no replies without, which would fail at the first question. */
function playable({
  tasks,
  simulator,
}: DialogueSetup & { readonly tasks: readonly PackTask[] }): readonly PackTask[] {
  const { kind, readsSpecification } = simulator;
  if (kind !== 'rules' && !readsSpecification) return tasks;
  const played = tasks.filter(({ task }) =>
    readsSpecification ? specificationOf(task) !== undefined : !isProgram(task) || factsOf(task).length > 0,
  );
  if (played.length === 0)
    throw wrongUse(
      readsSpecification
        ? 'None of these tasks has facts or a specification, by which this simulator replies; let tandem specify write some.'
        : 'None of these tasks has facts, from which the rules answer; name a model with --simulator.',
    );
  const without = tasks.length - played.length;
  const why = readsSpecification
    ? 'neither facts nor a specification'
    : 'no facts from which the rules answer';
  if (without > 0) say(`${without} tasks are left out, because they have ${why}.`);
  return played;
}

/** Continues after the rollouts that the log has in this collection. */
function nextRollouts(log: TrajectoryLog | undefined, collection: string): Map<string, number> {
  const next = new Map<string, number>();
  for (const key of log?.collected(collection).keys() ?? []) {
    const at = key.lastIndexOf('#');
    const task = key.slice(0, at);
    next.set(task, Math.max(next.get(task) ?? 0, Number(key.slice(at + 1)) + 1));
  }
  return next;
}

async function serveModel(
  spec: string,
  { modelName, endWithInput }: Options,
  place: ListenPlace,
  to: CliContext,
): Promise<CommandResult> {
  const model = openModel(spec, modelOptions(to));
  try {
    if (!(model instanceof LocalModel))
      throw wrongUse(
        `--model takes starter, starter-pages, starter-questions or local:<folder>, a model that runs on this machine, not "${spec}".`,
      );
    const { folder } = await model.describe();
    const id = modelName ?? (isShipped(spec) ? spec : path.basename(folder));
    const server = await ModelServer.start({ model, id, ...place });
    to.onInterrupt('Stopping; open requests get an error. Press Ctrl+C again to leave at once.');
    const agent = `openai:${id}@${server.address}/v1`;
    say(`Serving ${spec} at ${server.address}/v1; other commands call it ${agent}; Ctrl+C ends it.`);
    await untilStopped(to.signal, endWithInput);
    await server.close();
    return {
      summary: { model: spec, name: id, ...model.counts },
      print: () => ['Nothing is served any more.', ...usageOf(model)].join('\n'),
    };
  } finally {
    await model.close?.();
  }
}
