import { readFile } from 'node:fs/promises';
import { Option, type Command } from 'commander';
import { isLoopback } from '../../core/serving/access';
import {
  wholeNumber,
  wrongUse,
  minutes,
  type CliContext,
  type CommandResult,
  type Install,
  type ServedAt,
} from '../command';
import { addDialogueOptions, limitOption, MODEL_WORDS } from '../play';
import { serveEnvironment, type EnvironmentOptions } from '../serveEnvironment';
import { serveModel } from '../serveModel';

interface Options extends Partial<EnvironmentOptions> {
  readonly model?: string;
  readonly modelName?: string;
  readonly host: string;
  readonly port: number;
  readonly tokenFile?: string;
  readonly endWithInput?: boolean;
}

export const installServe: Install = (program, perform) => {
  const command = program
    .command('serve')
    .description(
      'serve tasks as an environment (OpenEnv) to a trainer, or a model that runs here by OpenAI’s API; Ctrl+C ends it',
    )
    .option('--tasks <file...>', 'serve an environment: packs to play; each is a split')
    .option('--model <model>', 'serve a model instead: starter or local:<folder>')
    .option('--model-name <name>', 'by which clients ask for it (default: starter, or the folder’s name)')
    .option('--host <address>', 'where to listen; any other than this machine needs a token', '127.0.0.1')
    .addOption(new Option('--port <n>', '0 is any free one').argParser(wholeNumber('--port')).default(8000))
    .option('--token-file <file>', 'holds what clients must send as a bearer token; or TANDEM_SERVE_TOKEN')
    .option(
      '--end-with-input',
      'end when standard input ends, as it does when the program that started this dies',
    )
    .optionsGroup('Of an environment:')
    .option('--simulator <model>', `who plays the collaborator: rules, ${MODEL_WORDS}`, 'rules')
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
    .option('--agent-name <name>', 'name of the agent in the log', 'openenv');
  addDialogueOptions(command).action((options: Options) => perform((to) => serve(options, command, to)));
};

/** Options of both, by their names in code. */
const OF_BOTH = new Set(['host', 'port', 'tokenFile', 'endWithInput', 'json']);
const OF_MODELS = new Set(['model', 'modelName']);

async function serve(options: Options, command: Command, to: CliContext): Promise<CommandResult> {
  const { model, modelName, tasks } = options;
  const given = command.options.filter(
    (option) => command.getOptionValueSource(option.attributeName()) === 'cli',
  );
  if (model !== undefined) {
    const foreign = given.find(
      (option) => !OF_BOTH.has(option.attributeName()) && !OF_MODELS.has(option.attributeName()),
    );
    if (foreign !== undefined)
      throw wrongUse(
        `${foreign.long} is for an environment, and --model serves a model. Leave one of the two out, and start two servers for both.`,
      );
    return serveModel({ model, name: modelName, ...(await placeOf(options)) }, to);
  }
  if (modelName !== undefined) throw wrongUse('--model-name needs --model.');
  if (tasks === undefined)
    throw wrongUse('Say what to serve: tasks with --tasks <file...>, or a model with --model <model>.');
  // Each of the other options has a default.
  return serveEnvironment({ ...(options as EnvironmentOptions), tasks, ...(await placeOf(options)) }, to);
}

/** @throws {Fault} `usage` when other machines could come in without a token */
async function placeOf(options: Options): Promise<ServedAt> {
  const { host, port } = options;
  const token = await tokenOf(options);
  if (token === undefined && !isLoopback(host)) {
    throw wrongUse(
      `--host ${host} lets other machines in, who must send a token: set TANDEM_SERVE_TOKEN, or name a file with --token-file.`,
    );
  }
  return { host, port, token, endWithInput: options.endWithInput === true };
}

/** @throws {Fault} `usage` when the token is empty, or a header cannot hold it */
async function tokenOf({ tokenFile }: Options): Promise<string | undefined> {
  const token = tokenFile === undefined ? process.env.TANDEM_SERVE_TOKEN : await readFile(tokenFile, 'utf8');
  if (token === undefined) return undefined;
  const where = tokenFile ?? 'TANDEM_SERVE_TOKEN';
  if (/^[!-~]+$/.test(token.trim())) return token.trim();
  throw wrongUse(`${where} must hold the token: letters, digits and signs without spaces.`);
}
