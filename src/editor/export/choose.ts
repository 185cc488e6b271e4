import * as vscode from 'vscode';
import type { ExportFormat } from '../../core/trajectory/export/export';
import { pickOne, pickSeveral, runSteps, taking } from '../steps';
import { isFiltered, type ListFilter } from '../trajectories/filter';
import type { ExportChoice } from './preview';

const { t } = vscode.l10n;

const formats: readonly (vscode.QuickPickItem & { readonly format: ExportFormat['format'] })[] = [
  {
    format: 'trajectories',
    label: t('Trajectories'),
    detail: t('One row per dialogue in the published format: task, dialogue, answer, reward'),
  },
  {
    format: 'chat',
    label: t('Fine-tuning rows'),
    detail: t('One row per dialogue: the messages as the agent saw them'),
  },
  {
    format: 'preferences',
    label: t('Preference rows'),
    detail: t('One row per pair of dialogues of a task: the better and the worse one'),
  },
  {
    format: 'choices',
    label: t('Choices'),
    detail: t('One row per choice between two candidates: the chosen message and the other one'),
  },
];

/**
 * Asks what to export.
 * @param filter what the list shows now
 * @param words the same to be read
 * @returns undefined when the person went back
 */
export async function chooseExport(filter: ListFilter, words: string): Promise<ExportChoice | undefined> {
  const only = { label: t('Only what the list shows'), description: words, picked: true };
  const successes = { label: t('Only those that pass all tests') };
  const leaked = {
    label: t('Include leaked dialogues'),
    description: t('a reply gives the reference away'),
  };
  const evaluations = {
    label: t('Include evaluation dialogues'),
    description: t('training on them spoils the next evaluation'),
  };
  const editorModels = {
    label: t('Include VS Code-model dialogues'),
    description: t('many vendors forbid training on it'),
  };
  const doubtful = {
    label: t('Include doubtful dialogues'),
    description: t('lines lost from the log may have deleted them or marked a leak'),
  };
  const offered: vscode.QuickPickItem[] = [
    ...(isFiltered(filter) ? [only] : []),
    successes,
    leaked,
    evaluations,
    editorModels,
    doubtful,
  ];
  const title = t('Export Trajectories');
  let format: ExportFormat['format'] = 'trajectories';
  let picked: readonly vscode.QuickPickItem[] = [];
  const whatRows = t('Choose what a row is. Nothing is written before you have seen a preview.');
  const which = t('Finished dialogues; “Include …” only where ticked');
  const isAnswered = await runSteps([
    taking(
      (place) => pickOne({ title, placeholder: whatRows, items: formats, ...place }),
      (item) => (format = item.format),
    ),
    taking(
      (place) => pickSeveral({ title, placeholder: which, items: offered, ...place }),
      (items) => (picked = items),
    ),
  ]);
  if (!isAnswered) return undefined;
  return {
    format,
    filter: picked.includes(only) ? filter : {},
    onlySuccess: picked.includes(successes),
    withLeaked: picked.includes(leaked),
    withEvaluations: picked.includes(evaluations),
    withEditorModels: picked.includes(editorModels),
    withDoubtful: picked.includes(doubtful),
  };
}
