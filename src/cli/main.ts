import { Command, CommanderError } from 'commander';
import { Fault } from '../core/fault';
import type { Outcome, Surroundings } from './command';
import { installCollect } from './commands/collect';
import { installDownload } from './commands/download';
import { installErase } from './commands/erase';
import { installEvaluate } from './commands/evaluate';
import { installExport } from './commands/export';
import { installGrade } from './commands/grade';
import { installImport } from './commands/import';
import { installTasks } from './commands/tasks';

const DONE = 0;
const FAILED = 1;
const WRONG_USE = 2;

/** Faults that say the command was given something it cannot work with. */
const USAGE = new Set(['usage', 'model/bad-spec', 'model/bad-address', 'model/bad-script']);

/** Runs one command line and returns its exit code: 0 done, 1 failed, 2 wrong use. */
export async function main(args: readonly string[]): Promise<number> {
  const interrupt = new AbortController();
  const onInterrupt = (): void => {
    if (interrupt.signal.aborted) process.exit(130);
    process.stderr.write('\nStopping; what is logged stays. Press Ctrl+C again to leave at once.\n');
    interrupt.abort();
  };
  process.on('SIGINT', onInterrupt);
  try {
    return await run(args, { assets: __dirname, signal: interrupt.signal });
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}

async function run(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const json = args.includes('--json');
  let code = DONE;
  const program = new Command('tandem')
    .description('Play, grade, log and evaluate collaborative programming dialogues.')
    .option('--json', 'print one JSON object on stdout and nothing else')
    .exitOverride()
    .showHelpAfterError('(tandem --help shows what there is)');
  const perform = async (action: (to: Surroundings) => Promise<Outcome>): Promise<void> => {
    const outcome = await action(surroundings);
    process.stdout.write(json ? `${asJson(outcome)}\n` : `${outcome.print()}\n`);
    if (outcome.failed === true) code = FAILED;
  };
  for (const install of [
    installTasks,
    installDownload,
    installGrade,
    installCollect,
    installEvaluate,
    installImport,
    installExport,
    installErase,
  ]) {
    install(program, perform);
  }
  for (const command of program.commands) {
    command.exitOverride().option('--json', 'print one JSON object on stdout and nothing else');
  }
  try {
    await program.parseAsync([...args], { from: 'user' });
    return code;
  } catch (error) {
    return explain(error, surroundings, json);
  }
}

function asJson({ rows, summary }: Outcome): string {
  return JSON.stringify(rows === undefined ? { summary } : { rows, summary });
}

function explain(error: unknown, { signal }: Surroundings, json: boolean): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : WRONG_USE;
  if (signal.aborted) {
    process.stderr.write('Stopped. The same command goes on from here.\n');
    return FAILED;
  }
  if (!(error instanceof Fault)) throw error;
  process.stderr.write(`${error.message}\n`);
  if (json)
    process.stdout.write(`${JSON.stringify({ error: { code: error.code, message: error.message } })}\n`);
  return USAGE.has(error.code) ? WRONG_USE : FAILED;
}
