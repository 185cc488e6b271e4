import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { prepareData, type PrepareOptions } from '../data/prepare';
import { runFiles } from '../runFolder';

interface RowsOfLogsOptions extends Pick<PrepareOptions, 'prompts' | 'signal'> {
  readonly onLine: (line: string) => void;
}

/**
 * Calls `work` with each data folder replaced by a file of its rows: those that a run would train on, and those with
 * leaks. The files are removed when `work` ends.
 * @throws {Fault} `training/no-log`, `training/no-data`
 * @throws the signal's reason when it is aborted
 */
export async function withRowsOfLogs<T>(
  places: readonly string[],
  options: RowsOfLogsOptions,
  work: (files: readonly string[]) => Promise<T>,
): Promise<T> {
  const temporary = await mkdtemp(join(tmpdir(), 'tandem-score-'));
  try {
    const files: string[] = [];
    for (const [index, place] of places.entries()) {
      const isFile = !(await isFolder(place));
      files.push(isFile ? place : await rowsOfLog(place, join(temporary, String(index)), options));
    }
    return await work(files);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function rowsOfLog(
  log: string,
  folder: string,
  { prompts, signal, onLine }: RowsOfLogsOptions,
): Promise<string> {
  const selection = { log: resolve(log), with_leaked: true };
  const { left_out } = await prepareData(selection, folder, { prompts, signal });
  const reasons = Object.entries(left_out).map(([reason, count]) => `${count} ${reason}`);
  if (reasons.length > 0) onLine(`Left out of the log in ${log}: ${reasons.join(', ')}.`);
  return join(folder, runFiles.trajectories);
}

/** False for a missing place; its reader reports it. */
const isFolder = (place: string): Promise<boolean> =>
  stat(place).then(
    (found) => found.isDirectory(),
    () => false,
  );
