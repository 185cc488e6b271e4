import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../../fault';
import { rendering } from '../../dialogue/conversation';
import { Prompts } from '../../dialogue/prompts';
import { parseAgentMessage } from '../../dialogue/protocol';
import { exportTrajectories } from '../../trajectory/export/export';
import { doubtInWords } from '../../trajectory/export/selection';
import { ifThere } from '../../trajectory/files';
import { TrajectoryLog } from '../../trajectory/log';
import { isRole } from '../../trajectory/searchTree';
import type { LogSelection } from '../configuration';
import type { RowsOfRun } from '../methods';
import { runFiles, writeWhole } from '../runFolder';
import { chosenBy } from './logSelection';
import type { SelectionReport } from './report';

export interface PrepareOptions {
  /** `trajectories` by default. */
  readonly rows?: RowsOfRun;
  readonly prompts: string;
  /** Dialogues without a grade are taken, too. */
  readonly withUngraded?: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void;
}

/**
 * Writes `data/` of a run folder, with a dataset card and a report. A row holds the messages as the agent saw them
 * and, where the log has them, the token ids of prompts and turns and their log-probabilities. Rows of the collaborator
 * hold a reply, and what a simulator would have read before it.
 * @throws {Fault} `training/no-log`, `training/no-data`
 * @throws the signal's reason when it is aborted
 */
export async function prepareData(
  selection: LogSelection,
  folder: string,
  options: PrepareOptions,
): Promise<SelectionReport> {
  if ((await ifThere(() => stat(join(selection.log, 'log')))) === undefined) {
    const message = `There is no log in ${selection.log}; data.log names a data folder, by default .tandem in the workspace.`;
    throw new Fault('training/no-log', message);
  }
  const { rows } = options;
  const read = rows === 'replies' || rows === 'edits' ? 'simulator.md' : 'agent.md';
  const prompts = await Prompts.load(options.prompts, undefined, selection.opening, read);
  const log = await TrajectoryLog.open(selection.log, { signal: options.signal });
  try {
    const report = await writeRows(log, selection, prompts, folder, options);
    if (report.trajectories === 0) throw nothingLeft(report);
    await writeReport(folder, report);
    return report;
  } finally {
    await log.close();
  }
}

export async function writeReport(folder: string, report: SelectionReport): Promise<void> {
  await writeWhole(join(folder, runFiles.selection), report);
}

async function writeRows(
  log: TrajectoryLog,
  selection: LogSelection,
  prompts: Prompts,
  folder: string,
  { rows = 'trajectories', signal, onProgress, withUngraded }: PrepareOptions,
): Promise<SelectionReport> {
  const at = new Date().toISOString();
  const result = await exportTrajectories(log, join(folder, fileOf(rows)), {
    ...chosenBy(selection),
    ...rendering(rows, prompts),
    format: rows,
    visible: ({ agent }) => parseAgentMessage(agent.text).visible,
    ...{ signal, onProgress, withUngraded },
  });
  const { trajectories, tasks, successes, withTokenIds, keptLocal, otherPrompts, leftOut } = result;
  return {
    ...{ log: selection.log, at, trajectories, tasks, successes, left_out: leftOut },
    other_prompts: otherPrompts,
    with_token_ids: withTokenIds,
    kept_local: keptLocal,
  };
}

/** The field of `data` that names the rows. */
export const fieldOf = (rows: RowsOfRun): 'trajectories' | 'preferences' =>
  rows === 'edits' || isRole(rows) ? 'preferences' : 'trajectories';

const fileOf = (rows: RowsOfRun): string => runFiles[fieldOf(rows)];

function nothingLeft({ log, left_out }: SelectionReport): Fault {
  const reasons = Object.entries(left_out).map(([reason, count]) => `${count} ${reason}`);
  const why = reasons.length === 0 ? 'it is empty' : `left out are ${reasons.join(', ')}`;
  const { doubtful } = left_out;
  const remedy = doubtful === undefined ? '' : ` ${doubtInWords(doubtful, 'data.with_doubtful')}`;
  return new Fault('training/no-data', `The log in ${log} has no dialogue to train on: ${why}.${remedy}`);
}
