import type { TrajectoryLog } from '../log';
import { CardFacts, consentsOf } from './card';
import { rowsOf, type ExportOptions } from './export';
import { select, type LeftOut } from './selection';

/** What an export would write. */
export interface ExportPreview {
  /** The first rows, as they would stand in the file. */
  readonly first: readonly object[];
  readonly rows: number;
  /** Different trajectories in those rows. */
  readonly trajectories: number;
  readonly tasks: number;
  readonly successes: number;
  /** Of the trajectories: those in which a reply gives the reference away. */
  readonly leaked: number;
  readonly leftOut: LeftOut;
  /** Each developer whose words are in the rows, with the purposes that were consented to. */
  readonly consents: readonly (readonly [pseudonym: string, purposes: string])[];
}

/**
 * Makes all rows of an export, keeps the first of them and writes nothing. The counts are those of `exportTrajectories`
 * with the same options on the same log.
 * @param most how many rows are kept
 * @throws the signal's reason when it is aborted
 */
export async function previewExport(
  log: TrajectoryLog,
  options: ExportOptions,
  most: number,
): Promise<ExportPreview> {
  const { selected, leftOut } = select(log, options, options.format !== 'chat');
  const facts = new CardFacts();
  const first: object[] = [];
  let rows = 0;
  for await (const row of rowsOf(log, selected, options, facts, leftOut)) {
    options.signal?.throwIfAborted();
    if (first.length < most) first.push(row);
    rows += 1;
  }
  const { trajectories, tasks, successes, leaked } = facts;
  return {
    first,
    rows,
    trajectories,
    tasks: tasks.size,
    successes,
    leaked,
    leftOut,
    consents: consentsOf(facts, log.consents),
  };
}
