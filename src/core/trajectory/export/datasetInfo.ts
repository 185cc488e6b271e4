import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { Fault } from '../../fault';
import { isTooDeep } from '../../nesting';
import { ifThere, writeAtomically } from '../files';
import { datasetName, type FormatId } from './formats';

const entries = z.record(z.string(), z.looseObject({ file_name: z.string().optional() }));

const COLUMNS: Partial<Record<FormatId, readonly string[]>> = {
  'llamafactory-sft': ['messages'],
  'llamafactory-ranking': ['messages', 'chosen', 'rejected'],
};

/**
 * Enters an export into the `dataset_info.json` of its folder, by which LLaMA-Factory finds it. Other entries stay as
 * they are. It is read before anything is written, so that an export that cannot be entered is refused.
 *
 * @returns a function that writes the file and returns its path; undefined for the formats of other tools
 * @throws {Fault} `trajectory/dataset-info` if the file cannot be read, or has an entry of that name for another file
 */
export async function datasetInfoOf(
  file: string,
  format: FormatId,
): Promise<(() => Promise<string>) | undefined> {
  const columns = COLUMNS[format];
  if (columns === undefined) return undefined;
  const info = join(dirname(file), 'dataset_info.json');
  const name = datasetName(basename(file));
  const entered = (await read(info))[name]?.file_name;
  if (entered !== undefined && entered !== basename(file))
    throw refusal(`${info} has a dataset ${name} already, of the file ${entered}`);
  const entry = {
    file_name: basename(file),
    formatting: 'sharegpt',
    ...(columns.includes('chosen') && { ranking: true }),
    columns: Object.fromEntries(columns.map((column) => [column, column])),
    tags: {
      ...{ role_tag: 'role', content_tag: 'content' },
      ...{ user_tag: 'user', assistant_tag: 'assistant', system_tag: 'system' },
    },
  };
  return async () => {
    const text = JSON.stringify({ ...(await read(info)), [name]: entry }, null, 2);
    await writeAtomically(info, (handle) => handle.writeFile(`${text}\n`));
    return info;
  };
}

async function read(info: string): Promise<z.infer<typeof entries>> {
  const text = await ifThere(() => readFile(info, 'utf8'));
  if (text === undefined) return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isTooDeep(value)) throw new Error('It is nested too deeply.');
    return entries.parse(value);
  } catch (error) {
    throw refusal(`${info} is not a list of datasets of LLaMA-Factory`, error);
  }
}

const refusal = (why: string, cause?: unknown): Fault =>
  new Fault('trajectory/dataset-info', `${why}; nothing was written. Export into another folder.`, { cause });
