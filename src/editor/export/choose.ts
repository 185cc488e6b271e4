import * as vscode from 'vscode';
import { FORMAT_IDS, formatOf, type FormatId } from '../../core/trajectory/export/formats';
import { pickOne, pickSeveral, runSteps, taking } from '../inputSteps';
import { isFiltered, type ListFilter } from '../dialogue/filter';
import type { ExportChoice } from './preview';

const { t } = vscode.l10n;

const words: Readonly<Record<FormatId, readonly [title: string, row: string]>> = {
  trajectories: [
    t('Dialogues'),
    t('One row per dialogue in the published format: task, dialogue, answer, reward'),
  ],
  chat: [t('Fine-tuning rows'), t('One row per dialogue: the messages as the agent saw them')],
  preferences: [
    t('Preference rows'),
    t('One row per pair of dialogues of a task: the better and the worse one'),
  ],
  choices: [
    t('Choices'),
    t('One row per choice between two candidates: the chosen message and the other one'),
  ],
  unpaired: [t('Thumbs'), t('One row per thumb: the message, and whether the thumb is up')],
  stepwise: [t('Verdicts on a critic'), t('One row per run of turns with verdicts: each turn helped or not')],
  replies: [
    t('Replies of the collaborator'),
    t('One row per reply of a person: the prompt of a simulator, with the hidden information, and the reply'),
  ],
  edits: [
    t('Edited suggestions'),
    t('One row per suggested reply that a person edited: the prompt of a simulator, and both replies'),
  ],
  generator: [
    t('Outputs of the generator'),
    t('One row per pair in a search tree: a good and a bad draft of an answer'),
  ],
  verifier: [
    t('Outputs of the verifier'),
    t('One row per pair in a search tree: a good and a bad question or choice'),
  ],
  refiner: [
    t('Outputs of the refiner'),
    t('One row per pair in a search tree: a good and a bad message after the reply'),
  ],
  'llamafactory-sft': [
    t('LLaMA-Factory: fine-tuning'),
    t('One row per dialogue, and dataset_info.json beside the file'),
  ],
  'llamafactory-ranking': [
    t('LLaMA-Factory: ranking'),
    t('One row per choice between two candidates, and dataset_info.json beside the file'),
  ],
  'axolotl-sft': [
    t('Axolotl: fine-tuning'),
    t('One row per dialogue; the card has the lines of its configuration'),
  ],
  'axolotl-dpo': [
    t('Axolotl: DPO'),
    t('One row per choice between two candidates; the card has the lines of its configuration'),
  ],
  inspect: [t('Inspect AI log'), t('One sample per dialogue: messages, score, tokens, and what people said')],
};

const formats: readonly (vscode.QuickPickItem & { readonly format: FormatId })[] = FORMAT_IDS.map(
  (format) => ({
    format,
    label: words[format][0],
    description: formatOf(format)
      .readers.map(({ tool }) => tool)
      .filter((tool) => !words[format][0].includes(tool))
      .join(', '),
    detail: words[format][1],
  }),
);

/** @param shown the list's filter in words */
export async function chooseExport(filter: ListFilter, shown: string): Promise<ExportChoice | undefined> {
  const only = { label: t('Only what the list shows'), description: shown, picked: true };
  const successes = { label: t('Only those that pass all tests') };
  const accepted = { label: t('Only accepted dialogues'), description: t('a person has accepted them') };
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
  const redo = {
    label: t('Include dialogues marked for redo'),
    description: t('a person who reviewed them wants to have them redone'),
  };
  const doubtful = {
    label: t('Include doubtful dialogues'),
    description: t('the log is damaged; these may have been deleted or marked as leaks'),
  };
  const offered: vscode.QuickPickItem[] = [
    ...(isFiltered(filter) ? [only] : []),
    successes,
    accepted,
    leaked,
    evaluations,
    editorModels,
    redo,
    doubtful,
  ];
  const title = t('Export Dialogues');
  let format: FormatId = 'trajectories';
  let picked: readonly vscode.QuickPickItem[] = [];
  const whatRows = t('Choose what a row is. Nothing is written before you have seen a preview.');
  const findable = { matchOnDescription: true, matchOnDetail: true };
  const which = t('All finished dialogues, but the kinds under “Include …” only if selected');
  const isAnswered = await runSteps([
    taking(
      (place) => pickOne({ title, placeholder: whatRows, items: formats, ...findable, ...place }),
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
    onlyAccepted: picked.includes(accepted),
    withLeaked: picked.includes(leaked),
    withEvaluations: picked.includes(evaluations),
    withEditorModels: picked.includes(editorModels),
    withRedo: picked.includes(redo),
    withDoubtful: picked.includes(doubtful),
  };
}
