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
  /** Distinct trajectories in those rows. */
  readonly trajectories: number;
  readonly tasks: number;
  readonly successes: number;
  /** Trajectories in which a reply gives the reference away. */
  readonly leaked: number;
  /** Trajectories whose agent saw other instructions than are written. */
  readonly otherPrompts: number;
  readonly leftOut: LeftOut;
  /** Each developer whose words are in the rows, with the purpose and level that the developer consented to. */
  readonly consents: readonly (readonly [pseudonym: string, consent: string])[];
  /** Secrets and e-mail addresses in the rows, masked. */
  readonly findings: readonly Finding[];
  /** Digest of all rows, for the option `previewed` of the export. */
  readonly digest: string;
}

/**
 * Makes all rows of an export, keeps the first ones and writes nothing. The counts equal those of `exportTrajectories`
 * with the same options on the same log.
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
