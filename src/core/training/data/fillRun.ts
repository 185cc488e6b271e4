import { mkdir } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import * as z from 'zod';
import { SHORT, shortPrompt } from '../../dialogue/prompts';
import { copyRegular } from '../../regularFile';
import { ifThere } from '../../trajectory/files';
import { readConfiguration, type RunConfiguration } from '../configuration';
import { feedbackOfRun, methodIn, needsGrades, rowsOfRun } from '../methods';
import { readWhole, ROW_FILES, runFiles, writeWhole } from '../runFolder';
import { writeInherited } from './lineage';
import { fieldOf, prepareData, type PrepareOptions } from './prepare';
import type { SelectionReport } from './report';

/** The file of rows as `run.json` names it. */
const asWritten = (field: 'trajectories' | 'preferences' | 'feedback'): string =>
  runFiles[field].replaceAll('\\', '/');

export interface FillOptions extends Omit<PrepareOptions, 'rows' | 'withUngraded'> {
  readonly configuration: RunConfiguration;
}

/**
 * Writes rows of the log, copies of rows of other runs and of packs, the short prompt, and a note of dialogues
 * inherited from other runs; `run.json` last.
 * @returns the report on the log's rows; undefined when the configuration names no log
 * @throws {Fault} `training/no-log`, `training/no-data`
 */
export async function fillRun(folder: string, options: FillOptions): Promise<SelectionReport | undefined> {
  const { forTrainer, selection } = options.configuration;
  await writeInherited(folder, forTrainer);
  const rows = await withOwnPacks(await withOwnRows(forTrainer.data, folder), folder);
  let data = await withOwnOpening(rows, folder, options.prompts);
  let report: SelectionReport | undefined;
  if (selection !== undefined) {
    const kind = rowsOfRun(forTrainer);
    const withUngraded = !needsGrades(methodIn(forTrainer));
    const feedback = feedbackOfRun(forTrainer);
    report = await prepareData(selection, folder, { ...options, rows: kind, withUngraded, feedback });
    if (report.trajectories > 0) data = withRows(data, fieldOf(kind), asWritten(fieldOf(kind)));
    if (report.feedback !== undefined) data = withRows(data, 'preferences', asWritten('feedback'));
  }
  await writeConfiguration(folder, { ...forTrainer, data });
  return report;
}

/** The path is relative, so that the folder can be moved. The trainer refuses a field that is no list. */
function withRows(
  data: Readonly<Record<string, unknown>>,
  field: 'trajectories' | 'preferences',
  rows: string,
): Readonly<Record<string, unknown>> {
  const { [field]: others = [] } = data;
  return { ...data, [field]: Array.isArray(others) ? [rows, ...(others as unknown[])] : others };
}

/** Another run may be deleted while this one still reads its rows. */
async function withOwnRows(
  data: Readonly<Record<string, unknown>>,
  folder: string,
): Promise<Readonly<Record<string, unknown>>> {
  const others = dirname(folder) + sep;
  const own = async (name: string, file: unknown, index: number): Promise<unknown> => {
    if (typeof file !== 'string' || !file.startsWith(others)) return file;
    return copied(file, folder, `data/${name}-${index + 1}.jsonl`);
  };
  const entries = Object.entries(data).map(async ([name, value]) => {
    const isFiles = ROW_FILES.includes(name) && Array.isArray(value);
    return [name, isFiles ? await Promise.all(value.map((file, index) => own(name, file, index))) : value];
  });
  return Object.fromEntries(await Promise.all(entries)) as Readonly<Record<string, unknown>>;
}

/** The run is resumed with the tasks with which it began. */
async function withOwnPacks(
  data: Readonly<Record<string, unknown>>,
  folder: string,
): Promise<Readonly<Record<string, unknown>>> {
  const { tasks } = data;
  if (!Array.isArray(tasks)) return data;
  const own = async (file: unknown, index: number): Promise<unknown> => {
    if (typeof file !== 'string') return file;
    return copied(file, folder, `data/tasks/${index + 1}-${basename(file)}`);
  };
  return { ...data, tasks: await Promise.all(tasks.map(own)) };
}

/** The next version of Tandem may change the shipped prompt for small models. */
async function withOwnOpening(
  data: Readonly<Record<string, unknown>>,
  folder: string,
  prompts: string,
): Promise<Readonly<Record<string, unknown>>> {
  if (data.opening !== SHORT) return data;
  const copy = 'data/agent.md';
  await mkdir(join(folder, 'data'), { recursive: true });
  await copyRegular(shortPrompt(prompts), join(folder, copy));
  return { ...data, opening: copy };
}

/** The path of the copy, or of a file that is missing: the trainer reports it. */
async function copied(file: string, folder: string, copy: string): Promise<string> {
  const target = join(folder, copy);
  await mkdir(dirname(target), { recursive: true });
  return (await ifThere(() => copyRegular(file, target).then(() => copy))) ?? file;
}

export async function writeConfiguration(folder: string, configuration: object): Promise<void> {
  await writeWhole(join(folder, runFiles.configuration), configuration);
}

const olderSchema = z.object({ data: z.object({ log: z.string() }) });
const begunSchema = z.looseObject({
  configuration: z.looseObject({ data: z.looseObject({ trajectories: z.array(z.string()) }) }),
});

/**
 * Older trainers read the log itself, the current one reads rows. The configuration with which the run began is
 * changed to name the rows; its digest of the data must still match.
 * @throws {Fault} `training/bad-configuration`, `training/no-log`, `training/no-data`
 */
export async function fillOlderRun(folder: string, prompts: string): Promise<void> {
  const file = join(folder, runFiles.configuration);
  if ((await readWhole(file, olderSchema)) === undefined) return;
  const begun = await readWhole(join(folder, runFiles.begun), begunSchema);
  if (begun !== undefined) {
    const { data } = begun.configuration;
    const rows = asWritten('trajectories');
    data.trajectories = [rows, ...data.trajectories.filter((name) => name !== rows)];
    await writeWhole(join(folder, runFiles.begun), begun);
  }
  await fillRun(folder, { configuration: await readConfiguration(file), prompts });
}
