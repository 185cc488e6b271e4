import type { Finding } from '../findings/scanner';
import type { TrajectoryLog } from '../log';
import { consentsOf } from './card';
import { RowGathering } from './gathering';
import type { ExportOptions } from './options';
import type { LeftOut } from './selection';

export interface ExportPreview {
  /** The first rows, as they would be written. */
  readonly first: readonly object[];
  readonly rows: number;
  readonly trajectories: number;
  readonly tasks: number;
  readonly successes: number;
  /** With a reply that gives the reference away. */
  readonly leaked: number;
  /** With an agent that saw other instructions than are written. */
  readonly otherPrompts: number;
  readonly leftOut: LeftOut;
  readonly consents: readonly (readonly [pseudonym: string, consent: string])[];
  readonly findings: readonly Finding[];
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
  const { facts, rowCount: rows, leftOut, findings, digest } = gathering;
  const { trajectories, tasks, successes, leaked, otherPrompts } = facts;
  return {
    ...{ first, rows, trajectories, tasks: tasks.size, successes, leaked, otherPrompts },
    ...{ leftOut, findings, digest },
    consents: consentsOf(facts, log.consents),
  };
}
