import * as vscode from 'vscode';
import type { MethodName } from '../../../core/training/methods';
import { select } from '../../../core/trajectory/export/selection';
import type { TrajectoryLog } from '../../../core/trajectory/log';
import { filled, type Form, type FormContext } from './configuration';

const { t } = vscode.l10n;

/** A little more than the most from which distillation was measured (docs/benchmarks/few-dialogues.md). */
const MAX_FEW_DIALOGUES = 250;
/** With more, many tasks have pairs of a better and a worse dialogue, from which other methods learn. */
const MAX_DIALOGUES_PER_TASK = 1.5;

export interface SuggestedMethod {
  readonly method: MethodName;
  readonly reason: string;
}

/**
 * The method that a new form of an agent starts with on few dialogues, about one of each task.
 * @returns undefined where a method was chosen, a run is duplicated, or the dialogues are others
 */
export async function suggestedMethod(
  { values, copied }: Form,
  log: TrajectoryLog,
  context: FormContext,
): Promise<SuggestedMethod | undefined> {
  if (copied !== undefined || values.method !== undefined || (values.role ?? 'agent') !== 'agent')
    return undefined;
  const method = 'distill';
  const { parseSelection } = await import('../../../core/training/configuration');
  const { chosenBy } = await import('../../../core/training/data/prepare');
  const { data } = filled({ values: { ...values, method } }, context).configuration;
  const selection = parseSelection(data as Readonly<Record<string, unknown>>, { from: '', folder: '' });
  if (selection === undefined) return undefined;
  const chosen = chosenBy(selection);
  const answered = { ...chosen.filter, state: 'answered' } as const;
  const outside =
    chosen.withEvaluations === true ? 0 : log.count({ ...answered, source: 'evaluation' }).total;
  // Listing a large log would take long.
  if (log.count(answered).total - outside > MAX_FEW_DIALOGUES) return undefined;
  const { selected } = select(log, chosen, false);
  const tasks = new Set(selected.map(({ summary }) => summary.taskId)).size;
  if (tasks === 0 || selected.length > MAX_DIALOGUES_PER_TASK * tasks) return undefined;
  return {
    method,
    reason: t(
      'Distillation is selected: it learns from one dialogue of each task, in minutes and without tests. Where tasks have tests, SWEET-RL by Forced answers gained as much or more, in ten times the time.',
    ),
  };
}
