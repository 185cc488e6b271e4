import { stat, mkdtemp, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Fault } from '../../fault';
import { rendering } from '../../dialogue/conversation';
import { Prompts } from '../../dialogue/prompts';
import { parseAgentMessage } from '../../dialogue/protocol';
import { exportTrajectories, type ExportOptions, type LeaveOut } from '../../trajectory/export/export';
import { doubtInWords, OWN_CODE_IN_WORDS, UNCOVERED } from '../../trajectory/export/selection';
import { ifThere } from '../../trajectory/files';
import { TrajectoryLog, type TrajectoryFilter } from '../../trajectory/log';
import { isRole } from '../../trajectory/searchTree';
import { type LogSelection, EXCLUDED_MODELS } from '../configuration';
import type { FeedbackOfRun, RowsOfRun } from '../methods';
import { isFolder, runFiles, writeWhole } from '../runFolder';
import type { SelectionReport } from './report';
import { refinedModels } from '../../dialogue/refinement/refineSpec';
import { mixedModels } from '../../model/mixtureSpec';
import { isProgram } from '../../task/task';
import { EDITOR_MODEL, writersOf } from '../../trajectory/modelTerms';
import type { Trajectory } from '../../trajectory/trajectory';
import { tmpdir } from 'node:os';

export interface PrepareOptions {
  /** `trajectories` by default. */
  readonly rows?: RowsOfRun;
  readonly prompts: string;
  /** Dialogues without a grade are taken, too. */
  readonly withUngraded?: boolean;
  readonly feedback?: FeedbackOfRun;
  /** Leaves out more than the configuration does. */
  readonly leaveOut?: LeaveOut;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void;
}

/**
 * Writes `data/` of a run folder, with a dataset card and a report. A row holds the messages as the agent saw them
 * and, where the log has them, the token ids of prompts and turns and their log-probabilities. Rows of the collaborator
 * hold a reply, and what a simulator would have read before it.
 * @throws {Fault} `training/no-log`, `training/no-data`
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
    const rows = await writeRows(log, selection, prompts, folder, options);
    const report = await withFeedback(rows, log, selection, prompts, folder, options);
    const isEnough = report.feedback !== undefined && options.feedback?.isEnough === true;
    if (report.trajectories === 0 && !isEnough) throw nothingLeft(report);
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
  { rows = 'trajectories', signal, onProgress, withUngraded, leaveOut }: PrepareOptions,
): Promise<SelectionReport> {
  const at = new Date().toISOString();
  const chosen = chosenBy(selection);
  const result = await exportTrajectories(log, join(folder, fileOf(rows)), {
    ...chosen,
    leaveOut: (trajectory) => chosen.leaveOut?.(trajectory) ?? leaveOut?.(trajectory),
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

/** Writes the rows of feedback, if there are any. */
async function withFeedback(
  report: SelectionReport,
  log: TrajectoryLog,
  selection: LogSelection,
  prompts: Prompts,
  folder: string,
  { feedback, signal }: PrepareOptions,
): Promise<SelectionReport> {
  if (feedback === undefined) return report;
  const { format, signals } = feedback;
  const file = join(folder, runFiles.feedback);
  const options = { ...chosenBy(selection), ...rendering(format, prompts), format, signals, signal };
  const result = await exportTrajectories(log, file, options);
  const left_out = { ...report.left_out };
  for (const reason of UNCOVERED) {
    const count = result.leftOut[reason];
    if (count !== undefined) left_out[reason] = count;
  }
  if (result.rows > 0) {
    // A dialogue of both files counts twice.
    const kept_local = (report.kept_local ?? 0) + result.keptLocal;
    return { ...report, left_out, kept_local, feedback: result.signals };
  }
  for (const empty of [file, result.card]) await rm(empty);
  return { ...report, left_out };
}

/** The field of `data` that names the rows. */
export const fieldOf = (rows: RowsOfRun): 'trajectories' | 'preferences' =>
  rows === 'edits' || isRole(rows) ? 'preferences' : 'trajectories';

const fileOf = (rows: RowsOfRun): string => runFiles[fieldOf(rows)];

function nothingLeft({ log, left_out }: SelectionReport): Fault {
  const reasons = Object.entries(left_out).map(([reason, count]) => `${count} ${reason}`);
  const why = reasons.length === 0 ? 'it is empty' : `left out are ${reasons.join(', ')}`;
  const { doubtful } = left_out;
  const remedies = [
    ...(doubtful === undefined ? [] : [doubtInWords(doubtful, 'data.with_doubtful')]),
    ...(left_out['about own code'] === undefined ? [] : [OWN_CODE_IN_WORDS]),
  ];
  const sentence = `The log in ${log} has no dialogue to train on: ${why}.`;
  return new Fault('training/no-data', [sentence, ...remedies].join(' '));
}

type Chosen = Pick<
  ExportOptions,
  | 'leaveOut'
  | 'staysHere'
  | 'filter'
  | 'mode'
  | 'minReward'
  | 'withLeaked'
  | 'withEvaluations'
  | 'withEditorModels'
  | 'withRedo'
  | 'withDoubtful'
  | 'withOwnCode'
>;

export function chosenBy(selection: LogSelection): Chosen {
  return {
    leaveOut: forbiddenBy(selection),
    staysHere: true,
    filter: filterOf(selection),
    mode: selection.mode,
    minReward: selection.minimum_reward,
    withLeaked: selection.with_leaked,
    withRedo: selection.with_redo,
    withDoubtful: selection.with_doubtful,
    withOwnCode: selection.with_own_code,
    withEvaluations: selection.with_evaluations,
    withEditorModels: !excludedModels(selection).some((pattern) => fits(pattern, EDITOR_MODEL)),
  };
}

function filterOf({ filter = {} }: LogSelection): TrajectoryFilter {
  const { collaborator_kind, ...rest } = filter;
  return { ...rest, collaboratorKind: collaborator_kind };
}

/** Excludes trajectories with text of an excluded model, or a reward of another measure. */
function forbiddenBy(selection: LogSelection): LeaveOut {
  const excluded = excludedModels(selection);
  return (trajectory) => {
    const otherwise = measuredOtherwise(trajectory, selection);
    if (otherwise !== undefined) return otherwise;
    const isExcluded = (model: string): boolean => excluded.some((pattern) => fits(pattern, model));
    return modelsOf(trajectory).some(isExcluded) ? 'model terms' : undefined;
  };
}

/** As `why_unwanted` of the trainer's `data/measures.py`. */
function measuredOtherwise(
  { task, grades }: Trajectory,
  { mode = 'fixed', measure, renderer }: LogSelection,
): ReturnType<LeaveOut> {
  const page = grades.findLast(({ grade }) => grade.mode === mode)?.grade.page;
  const ofPage = page === undefined ? [] : [page.measure, `${page.measure} ${page.version}`];
  const names = isProgram(task) ? ['tests'] : ofPage;
  if (measure !== undefined && !names.includes(measure)) return 'of another measure';
  const isDrawnOtherwise = page !== undefined && renderer !== undefined && page.renderer !== renderer;
  return isDrawnOtherwise ? 'drawn by another renderer' : undefined;
}

const excludedModels = ({ exclude_models = EXCLUDED_MODELS }: LogSelection): readonly string[] =>
  exclude_models;

function modelsOf(trajectory: Trajectory): string[] {
  const { started, agent, collaborator } = trajectory;
  const names = [started.agent, agent, started.collaborator.name, collaborator.name];
  return [...names, ...writersOf(trajectory)].flatMap((name) => [
    name,
    ...refinedModels(name).flatMap(mixedModels),
  ]);
}

/** `*` stands for any characters. Taking the first match of each piece is enough. */
function fits(pattern: string, name: string): boolean {
  const [first, ...others] = pattern.split('*') as [string, ...string[]];
  const last = others.pop();
  if (last === undefined) return name === pattern;
  let at = first.length;
  if (!name.startsWith(first)) return false;
  for (const piece of others) {
    const found = name.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return name.endsWith(last) && name.length - last.length >= at;
}

interface RowsOfLogsOptions extends Pick<PrepareOptions, 'prompts' | 'signal'> {
  readonly onLine: (line: string) => void;
}

/**
 * Calls `work` with each data folder replaced by a file of its rows: those that a run would train on, and those with
 * leaks. The files are removed when `work` ends.
 * @throws {Fault} `training/no-log`, `training/no-data`
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
