import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { Fault } from '../../fault';
import { MB, readText } from '../../regularFile';
import { writeAtomically, ifThere } from '../files';
import type { Finding } from '../findings/scanner';
import type { TrajectoryLog } from '../log';
import { datasetCard, consentsOf } from './card';
import { SeenColumns, withReals } from './columns';
import { formatOf, type FormatId, datasetName } from './formats';
import { RowGathering } from './gathering';
import { HEADER_LENGTH, InspectHeader, type InspectSample } from './inspect';
import type { ExportOptions, LeftOut, Signal } from './selection';
import { isTooDeep } from '../../json';
import type { StsRow } from './sts';

export type { Finding } from '../findings/scanner';
export type { ChatMessageLike } from './rows';
export {
  PAIRINGS,
  type ExportFormat,
  type ExportOptions,
  type FindingsPolicy,
  type LeaveOut,
  type LeftOut,
  type LeftOutReason,
  type Pairing,
  type Render,
  type Selection,
} from './selection';

interface ExportContent {
  readonly rows: number;
  readonly trajectories: number;
  readonly tasks: number;
  readonly successes: number;
  readonly withTokenIds: number;
  readonly keptLocal: number;
  /** With own code in the log, which an export leaves out. */
  readonly ownCode: number;
  /** 0 without the option `sawAnotherPrompt`, which finds agents that saw other instructions than are written. */
  readonly otherPrompts: number;
  readonly leftOut: LeftOut;
  /** Rows of feedback by what they are about; empty in other formats. */
  readonly signals: Partial<Record<Signal, number>>;
  /** Secrets and e-mail addresses in the rows, or in dialogues that were left out because of them. */
  readonly findings: readonly Finding[];
}

export interface ExportResult extends ExportContent {
  readonly file: string;
  readonly card: string;
  /** LLaMA-Factory's list of datasets, in the formats that it reads. */
  readonly datasetInfo?: string;
}

/**
 * Writes the log's finished trajectories as JSON lines, or one log of Inspect AI, into `file`, and a dataset card
 * beside it as `<file>.md`. The file appears only when it is complete, and replaces one with the same name. It contains
 * only what people allow to leave this machine.
 *
 * Nothing is written if it throws:
 * @throws {Fault} `trajectory/export-name` if the format's reader would not know the file
 * @throws {Fault} `trajectory/dataset-info` if LLaMA-Factory could not find the export
 * @throws {Fault} `trajectory/export-changed` if the rows differ from the preview
 * @throws {ExportRefused} if there are findings and the policy is `refuse`
 * @throws the signal's reason if it is aborted
 */
export async function exportTrajectories(
  log: TrajectoryLog,
  file: string,
  options: ExportOptions,
): Promise<ExportResult> {
  const { findings: policy = 'refuse' } = options;
  refuseOtherName(file, options.format);
  const enter = await datasetInfoOf(file, options.format);
  let gathering = new RowGathering(log, options);
  await writeAtomically(file, async (handle) => {
    const late = await writeRows(gathering, writerOf(options.format, handle));
    if (late.length > 0) {
      await handle.truncate(0);
      gathering = new RowGathering(log, options);
      await writeRows(gathering, writerOf(options.format, handle, late));
    }
    if (options.previewed !== undefined && options.previewed !== (await shownDigest(gathering, log, options)))
      throw new Fault(
        'trajectory/export-changed',
        'The log has changed since the preview; nothing was written.',
      );
    if (policy === 'refuse' && gathering.findings.length > 0) throw new ExportRefused(gathering.findings);
  });
  const { facts, rowCount: rows, leftOut } = gathering;
  const card = `${file}.md`;
  const described = { file, format: options.format, rows, facts, leftOut, selection: options };
  const text = datasetCard({ ...described, consents: log.consents });
  await writeAtomically(card, text);
  const datasetInfo = await enter?.();
  return { ...contentOf(gathering), file, card, ...(datasetInfo !== undefined && { datasetInfo }) };
}

/** Bytes of the beginning of a file that a reader takes the columns from: `datasets` reads 10 MiB. */
const COLUMNS_FROM_BYTES = 9 * 1024 * 1024;

/** @returns the rows that must stand first, if later ones have columns that the beginning of the file has not */
async function writeRows(gathering: RowGathering, writer: RowWriter): Promise<string[]> {
  const columns = new SeenColumns();
  const first: string[] = [];
  let isLate = false;
  for await (const row of gathering.rows()) {
    const at = writer.bytes;
    const text = await writer.write(row);
    if (text === undefined || !columns.add(row)) continue;
    first.push(text);
    isLate ||= at > COLUMNS_FROM_BYTES;
  }
  await writer.end();
  return isLate ? first : [];
}

function refuseOtherName(file: string, format: FormatId): void {
  const { extension, readers } = formatOf(format);
  if (extension === undefined || file.endsWith(`.${extension}`)) return;
  throw new Fault(
    'trajectory/export-name',
    `${readers[0]?.tool ?? 'The reader'} reads files whose names end with .${extension}, and ${basename(file)} does not; nothing was written.`,
  );
}

/** Of the rows in a preview, which include rows with findings. */
async function shownDigest(
  { digest }: RowGathering,
  log: TrajectoryLog,
  options: ExportOptions,
): Promise<string> {
  if (options.findings !== 'leave-out') return digest;
  return (await previewExport(log, { ...options, findings: 'write' }, 0)).digest;
}

export class ExportRefused extends Fault {
  constructor(readonly findings: readonly Finding[]) {
    super(
      'trajectory/export-refused',
      `Secrets or e-mail addresses in what would be exported: ${findings.length}; nothing was written.`,
    );
  }
}

function contentOf({ facts, rowCount, leftOut, findings, signals }: RowGathering): ExportContent {
  const { trajectories, tasks, successes, withTokenIds, keptLocal, ownCode, otherPrompts } = facts;
  return {
    ...{ rows: rowCount, trajectories, tasks: tasks.size, successes, withTokenIds, keptLocal },
    ...{ ownCode, otherPrompts, leftOut, signals, findings },
  };
}

/** Trajectories are written as they are, so that importing them gives back the same. */
function writerOf(format: FormatId, handle: FileHandle, first: readonly string[] = []): RowWriter {
  if (format === 'inspect') return new InspectWriter(handle);
  if (format === 'sts') return new SessionWriter(handle);
  return format === 'trajectories' ? new RowWriter(handle, first) : new WholeCharacterWriter(handle, first);
}

const FLUSH_LENGTH = 1024 * 1024;

class RowWriter {
  protected text = '';
  bytes = 0;
  private readonly first: Set<string>;

  /** @param first rows that are written before the others, as `write` gave them */
  constructor(
    protected readonly handle: FileHandle,
    first: readonly string[] = [],
  ) {
    this.first = new Set(first);
    this.text = first.join('');
  }

  /** Returns the text; undefined where the order of rows does not matter. */
  async write(row: object): Promise<string | undefined> {
    const text = `${withReals(this.json(row))}\n`;
    if (this.first.delete(text)) return text;
    this.text += text;
    if (this.text.length > FLUSH_LENGTH) await this.flush();
    return text;
  }

  async end(): Promise<void> {
    await this.flush();
    if (this.first.size > 0)
      throw new Fault('trajectory/export-changed', 'The log has changed meanwhile; nothing was written.');
  }

  protected json(row: object): string {
    return JSON.stringify(row);
  }

  protected async flush(): Promise<void> {
    const bytes = Buffer.from(this.text);
    for (let from = 0; from < bytes.length;) {
      const { bytesWritten } = await this.handle.write(bytes, from, bytes.length - from, this.bytes);
      from += bytesWritten;
      this.bytes += bytesWritten;
    }
    this.text = '';
  }
}

/**
 * Writes rows for other people's tools. Half of a character, which a cut text may end with, becomes U+FFFD: `datasets`
 * and Inspect AI refuse a whole file for one.
 */
class WholeCharacterWriter extends RowWriter {
  protected override json(row: object): string {
    const text = super.json(row);
    if (!/\\ud[89a-f]/.test(text)) return text;
    return JSON.stringify(row, (_, value: unknown) =>
      typeof value === 'string' ? value.toWellFormed() : value,
    );
  }
}

/** Writes a session as its header and its messages, in a line each; no one reads their columns. */
class SessionWriter extends WholeCharacterWriter {
  protected override json(row: object): string {
    const { header, messages } = row as StsRow;
    return [header, ...messages].map((line) => super.json(line)).join('\n');
  }

  override async write(row: object): Promise<undefined> {
    await super.write(row);
  }
}

/** Writes samples as one log of Inspect AI; the place of the header is left free until the counts are known. */
class InspectWriter extends WholeCharacterWriter {
  protected override text = ' '.repeat(HEADER_LENGTH);
  private readonly header = new InspectHeader();
  private comma = '';

  override async write(row: InspectSample): Promise<undefined> {
    this.header.add(row);
    this.text += this.comma;
    this.comma = ',';
    await super.write(row);
  }

  override async end(): Promise<void> {
    this.text += ']}\n';
    await super.end();
    await this.handle.write(this.header.text(), 0);
  }
}

const entries = z.record(z.string(), z.looseObject({ file_name: z.string().optional() }));

const COLUMNS: Partial<Record<FormatId, readonly string[]>> = {
  'llamafactory-sft': ['messages'],
  'llamafactory-ranking': ['messages', 'chosen', 'rejected'],
};

/**
 * Enters an export into the `dataset_info.json` of its folder, by which LLaMA-Factory finds it. Other entries stay. It
 * is read before anything is written, so that an export that cannot be entered is refused.
 *
 * @returns a function that writes the file and returns its path; undefined for the formats of other tools
 * @throws {Fault} `trajectory/dataset-info` if the file cannot be read, or has an entry of that name for another file
 */
async function datasetInfoOf(file: string, format: FormatId): Promise<(() => Promise<string>) | undefined> {
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
    await writeAtomically(info, `${text}\n`);
    return info;
  };
}

async function read(info: string): Promise<z.infer<typeof entries>> {
  const text = await ifThere(() => readText(info, 16 * MB));
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

export interface ExportPreview extends ExportContent {
  readonly first: readonly object[];
  /** With a reply that gives the reference away. */
  readonly leaked: number;
  readonly consents: readonly (readonly [pseudonym: string, consent: string])[];
  /** For the option `previewed` of the export. */
  readonly digest: string;
}

/**
 * Writes nothing. The counts equal those of `exportTrajectories` with the same options on the same log.
 * @param most maximum number of rows kept
 * @throws the signal's reason if it is aborted
 */
export async function previewExport(
  log: TrajectoryLog,
  options: ExportOptions,
  most: number,
): Promise<ExportPreview> {
  const gathering = new RowGathering(log, options);
  const first: object[] = [];
  for await (const row of gathering.rows()) if (first.length < most) first.push(row);
  const { facts, digest } = gathering;
  const consents = consentsOf(facts, log.consents);
  return { ...contentOf(gathering), first, leaked: facts.leaked, consents, digest };
}
