import type { FileHandle } from 'node:fs/promises';
import { Fault } from '../../fault';
import { writeAtomically } from '../files';
import type { Finding } from '../findings/scanner';
import type { TrajectoryLog } from '../log';
import { datasetCard } from './card';
import { Gathering } from './gathering';
import type { ExportOptions } from './options';
import { previewExport } from './preview';
import type { LeftOut } from './selection';

export type { Finding } from '../findings/scanner';
export type { ExportFormat, ExportOptions, FindingsPolicy, LeaveOut, Render } from './options';
export { PAIRINGS, type Pairing } from './pairs';
export type { ChatMessageLike } from './rows';
export type { LeftOut, LeftOutReason, Selection } from './selection';

/** What an export holds, or would hold. */
export interface ExportContent {
  readonly rows: number;
  /** Different trajectories in those rows. */
  readonly trajectories: number;
  readonly tasks: number;
  readonly successes: number;
  /** Of the trajectories: those whose every turn has the token ids that were sampled. */
  readonly withTokenIds: number;
  /** Of the trajectories: those in which a person took part who keeps them on this machine. */
  readonly keptLocal: number;
  readonly leftOut: LeftOut;
  /** Secrets and e-mail addresses in the rows, or in what is left out because of them. */
  readonly findings: readonly Finding[];
}

export interface ExportResult extends ExportContent {
  readonly file: string;
  /** The dataset card beside it. */
  readonly card: string;
}

/**
 * Writes the log's finished trajectories as JSON lines into `file`, and a dataset card beside it as `<file>.md`. The
 * file appears only when it is whole; one of that name is replaced. Only what people allow to leave this machine is in
 * it. What is left out is counted in the result.
 *
 * @throws {Fault} `trajectory/export-changed` when the rows are not those of the preview; nothing is written then
 * @throws {ExportRefused} when there are findings and they are to be refused; nothing is written then
 * @throws the signal's reason when it is aborted; nothing is written then
 */
export async function exportTrajectories(
  log: TrajectoryLog,
  file: string,
  options: ExportOptions,
): Promise<ExportResult> {
  const { findings: policy = 'refuse' } = options;
  const gathering = new Gathering(log, options);
  await writeAtomically(file, async (handle) => {
    const writer = new RowWriter(handle);
    for await (const row of gathering.rows()) await writer.write(row);
    await writer.flush();
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
  await writeAtomically(card, (handle) => handle.writeFile(text));
  return { ...contentOf(gathering), file, card };
}

/** Of the rows as a preview has them, which also has those that hold findings. */
async function shownDigest(
  { digest }: Gathering,
  log: TrajectoryLog,
  options: ExportOptions,
): Promise<string> {
  if (options.findings !== 'leave-out') return digest;
  return (await previewExport(log, { ...options, findings: 'write' }, 0)).digest;
}

/** There are secrets or e-mail addresses in what would be exported, and nothing was written. */
export class ExportRefused extends Fault {
  constructor(readonly findings: readonly Finding[]) {
    const many =
      findings.length === 1
        ? 'is 1 secret or e-mail address'
        : `are ${findings.length} secrets or e-mail addresses`;
    super('trajectory/export-refused', `There ${many} in what would be exported; nothing was written.`);
  }
}

function contentOf({ facts, rowCount, leftOut, findings }: Gathering): ExportContent {
  const { trajectories, tasks, successes, withTokenIds, keptLocal } = facts;
  return {
    ...{ rows: rowCount, trajectories, tasks: tasks.size, successes, withTokenIds, keptLocal },
    ...{ leftOut, findings },
  };
}

const FLUSH_LENGTH = 1024 * 1024;

/** Writes rows as JSON lines, many at a time. */
class RowWriter {
  private text = '';

  constructor(private readonly handle: FileHandle) {}

  async write(row: object): Promise<void> {
    this.text += `${JSON.stringify(row)}\n`;
    if (this.text.length > FLUSH_LENGTH) await this.flush();
  }

  async flush(): Promise<void> {
    await this.handle.writeFile(this.text);
    this.text = '';
  }
}
