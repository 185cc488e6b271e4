import { Command, CommanderError } from 'commander';
import { Fault, messageOf, type FaultCode } from '../core/fault';
import type { Install, CommandResult, CliContext, Perform } from './command';
import { installCollect } from './commands/collect';
import { installConvert, installOnnx } from './commands/convert';
import { installCurve } from './commands/curve';
import { installDoctor } from './commands/doctor';
import { installDownload } from './commands/download';
import { installEvaluate } from './commands/evaluate';
import { installExport } from './commands/export';
import { installFork } from './commands/fork';
import { installGrade } from './commands/grade';
import { installCheck, installErase, installImport } from './commands/log';
import { installLoop } from './commands/loop';
import { installMcp } from './commands/mcp';
import { installAgreement, installAssign, installLeaderboard } from './commands/people';
import { installPublish } from './commands/publish';
import { installResume, installRuns, installStop, installTrack } from './commands/runs';
import { installRollouts, installScore } from './commands/score';
import { installServe } from './commands/serve';
import { installSimgap } from './commands/simgap';
import { installSpecify } from './commands/specify';
import { installTasks, installWorld } from './commands/tasks';
import { installTrain } from './commands/train';
import { print, printJson, printLines, printRows, say } from './terminal';

const DONE = 0;
const FAILED = 1;
const WRONG_USE = 2;

const JSON_OPTION = ['--json', 'print one JSON object on stdout and nothing else'] as const;

const installs = [
  installTasks,
  installWorld,
  installSpecify,
  installDownload,
  installGrade,
  installCollect,
  installFork,
  installEvaluate,
  installImport,
  installExport,
  installPublish,
  installCheck,
  installErase,
  installLeaderboard,
  installAssign,
  installAgreement,
  installSimgap,
  installServe,
  installLoop,
  installTrain,
  installCurve,
  installRuns,
  installTrack,
  installStop,
  installResume,
  installScore,
  installRollouts,
  installOnnx,
  installConvert,
  installDoctor,
  installMcp,
];

/** Unusable input; the exit code is 2. */
const USAGE: ReadonlySet<FaultCode> = new Set<FaultCode>([
  'usage',
  'publish/no-repository',
  'publish/nothing',
  'model/bad-spec',
  'model/bad-address',
  'model/bad-script',
  'dialogue/no-turn',
  'dialogue/prompt',
  'loop/too-few-tasks',
  'training/bad-configuration',
  'training/unknown-run',
  'training/no-log',
  'trajectory/no-log',
  'trajectory/repaired-there',
  'training/no-data',
  'training/done',
  'training/running',
  'training/lost',
  'training/not-running',
  'training/cannot-score',
  'training/cannot-track',
  'training/cannot-export',
  'training/cannot-convert',
]);

/** They continue after a stop when they are run again. */
const RESUMABLE = new Set([
  ...['collect', 'evaluate', 'loop', 'curve', 'scoreboard', 'few-dialogues', 'import', 'download', 'publish'],
  ...['rollouts', '--answer-now'],
]);

/** `tandem`, or the studies in `experiments/`, which print and exit in the same way. */
export interface Program {
  readonly name: string;
  readonly description: string;
  readonly installs: readonly Install[];
  /** Written by `npm run build`. */
  readonly assets: string;
}

export const tandem: Omit<Program, 'assets'> = {
  name: 'tandem',
  description: 'Play, grade, log and evaluate collaborative programming dialogues, and train on them.',
  installs,
};

/** Returns the exit code: 0 done, 1 failed, 2 wrong use. */
export async function main(args: readonly string[], program: Program): Promise<number> {
  const interrupt = new AbortController();
  let sentence = 'Stopping; what is logged stays. Press Ctrl+C again to leave at once.';
  const onInterrupt = (): void => {
    if (interrupt.signal.aborted) process.exit(130);
    say(`\n${sentence}`);
    interrupt.abort();
  };
  process.on('SIGINT', onInterrupt);
  // EPIPE means that the reader has closed the pipe, as `head` does.
  process.stdout.on('error', (error: NodeJS.ErrnoException) =>
    process.exit(error.code === 'EPIPE' ? DONE : FAILED),
  );
  try {
    return await run(args, program, {
      assets: program.assets,
      signal: interrupt.signal,
      onInterrupt: (meaning) => (sentence = meaning),
    });
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}

async function run(args: readonly string[], of: Program, surroundings: CliContext): Promise<number> {
  let code = DONE;
  const perform: Perform =
    (action) =>
    async (...given) => {
      // Commander adds the command itself.
      const outcome = await action(...(given.slice(0, -1) as unknown as typeof given), surroundings);
      try {
        if (args.includes('--json')) await printOutcome(outcome);
        else await printText(outcome.print());
      } finally {
        await outcome.close?.();
      }
      if (outcome.failed === true) code = FAILED;
    };
  try {
    await programOf(of, perform).parseAsync([...args], { from: 'user' });
    return code;
  } catch (error) {
    return explain(error, args, surroundings.signal);
  }
}

function programOf({ name, description, installs: all }: Program, perform: Perform): Command {
  const program = new Command(name)
    .description(description)
    .option(...JSON_OPTION)
    .exitOverride()
    .configureOutput({ outputError: (text) => say(text.trimEnd()) })
    .showHelpAfterError(`(${name} --help lists all commands)`);
  for (const install of all) install(program, perform);
  for (const command of program.commands) command.exitOverride().option(...JSON_OPTION);
  return program;
}

async function printText(text: string | AsyncIterable<string>): Promise<void> {
  if (typeof text === 'string') print(text);
  else await printLines(text);
}

async function printOutcome({ rows, summary }: CommandResult): Promise<void> {
  if (rows === undefined) printJson({ summary });
  else if (Array.isArray(rows)) printJson({ rows, summary });
  else await printRows(rows as AsyncIterable<unknown>, { summary });
}

/** One sentence on stderr, and with `--json` also an object on stdout; returns the exit code. */
function explain(error: unknown, args: readonly string[], signal: AbortSignal): number {
  const { code, message, exit } = reading(error, args, signal);
  if (exit === DONE) return DONE;
  // Commander has already said what was wrong with the command line.
  if (!(error instanceof CommanderError)) say(message);
  if (args.includes('--json')) printJson({ error: { code, message } });
  return exit;
}

function reading(
  error: unknown,
  args: readonly string[],
  signal: AbortSignal,
): { code: string; message: string; exit: number } {
  const message = messageOf(error);
  if (error instanceof CommanderError) {
    return { code: 'usage', message, exit: error.exitCode === 0 ? DONE : WRONG_USE };
  }
  if (signal.aborted) {
    const goesOn = args.some((arg) => RESUMABLE.has(arg)) ? ' The same command goes on from here.' : '';
    return { code: 'stopped', message: `Stopped.${goesOn}`, exit: FAILED };
  }
  if (error instanceof Fault) {
    return { code: error.code, message, exit: USAGE.has(error.code) ? WRONG_USE : FAILED };
  }
  if (isSystemError(error)) {
    return {
      code: 'system',
      message: `The system refused: ${message}. Check the path and its permissions.`,
      exit: FAILED,
    };
  }
  const trace = error instanceof Error ? (error.stack ?? message) : message;
  return { code: 'bug', message: `This is a fault in Tandem, please report it: ${trace}`, exit: FAILED };
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && 'code' in error;
}
