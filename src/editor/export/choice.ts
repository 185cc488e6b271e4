import * as vscode from 'vscode';
import { formatOf, type FormatId, FORMAT_IDS } from '../../core/trajectory/export/formats';
import type { ExportPreview } from '../../core/trajectory/export/export';
import { findingInWords } from '../../core/trajectory/findings/words';
import { filterWords, type ListFilter, isFiltered } from '../dialogue/filter';
import { grouped } from '../../core/text';
import { cell, fenced } from '../../core/markdown';
import { pickOne, pickSeveral, runSteps, taking } from '../inputSteps';

const { t } = vscode.l10n;

/** Which dialogues are exported: the row that selects them, and what stands beside it. */
const selections = {
  onlySuccess: [t('Only those that pass all tests'), ''],
  onlyAccepted: [t('Only accepted dialogues'), t('a person has accepted them')],
  withLeaked: [t('Include leaked dialogues'), t('a reply gives the reference away')],
  withEvaluations: [t('Include evaluation dialogues'), t('training on them spoils the next evaluation')],
  withEditorModels: [t('Include VS Code-model dialogues'), t('many vendors forbid training on it')],
  withRedo: [
    t('Include dialogues marked for redo'),
    t('a person who reviewed them wants to have them redone'),
  ],
  withDoubtful: [
    t('Include doubtful dialogues'),
    t('the log is damaged; these may have been deleted or marked as leaks'),
  ],
} as const;

type Selection = keyof typeof selections;

const SELECTIONS = Object.keys(selections) as Selection[];

export interface ExportChoice extends Readonly<Record<Selection, boolean>> {
  readonly format: FormatId;
  readonly filter: ListFilter;
}

const MAX_TEXT_CHARS = 400;
const MAX_NUMBERS = 8;

/** @param folder of the exported log, where the window has several */
export function previewDocument(
  preview: ExportPreview,
  choice: ExportChoice,
  folder: string | undefined,
): string {
  return `${[
    `# ${t('Export preview: nothing is written yet')}`,
    ...(folder === undefined ? [] : [t('Of the log of {0}.', cell(folder))]),
    countsOf(preview, choice),
    chosen(choice),
    `## ${t('Left out')}`,
    leftOut(preview),
    `## ${t('Before you share it')}`,
    ...sharing(preview, choice),
    `## ${t('First rows')}`,
    t('Long texts are cut here, not in the file.'),
    ...preview.first.map((row) => fenced(JSON.stringify(row, shortened, 2), 'json')),
    ...(preview.rows === 0 ? [t('There is none.')] : []),
  ].join('\n\n')}\n`;
}

function countsOf(
  { rows, trajectories, tasks, successes, leaked, ownCode, otherPrompts, signals }: ExportPreview,
  { format }: ExportChoice,
): string {
  return [
    t(
      '**{0} rows** from {1} dialogues of {2} tasks, as {3}.',
      ...[rows, trajectories, tasks].map(grouped),
      formatOf(format).is,
    ),
    ...Object.entries(signals).map(([name, count]) => t('{0}: {1}', name, grouped(count))),
    leaked === 0
      ? t('{0} pass all tests. No reply leaks the reference.', grouped(successes))
      : t(
          '{0} pass all tests. In {1} a reply gives the reference away.',
          grouped(successes),
          grouped(leaked),
        ),
    ...(ownCode === 0
      ? []
      : [
          t(
            '{0} are about own code. The code after the developer’s edits is left out: it stays on this machine.',
            grouped(ownCode),
          ),
        ]),
    ...(otherPrompts === 0
      ? []
      : [
          t(
            'In {0} the agent saw another agent.md than these rows hold: name its folder in the setting “Prompt Folder”, then export again.',
            grouped(otherPrompts),
          ),
        ]),
  ].join('\n');
}

function chosen(choice: ExportChoice): string {
  const words = filterWords(choice.filter, t);
  const lines = SELECTIONS.filter((name) => choice[name]).map((name) =>
    name === 'withEditorModels'
      ? t('Include VS Code-model dialogues: read the vendor’s terms before you train on the rows')
      : selections[name][0],
  );
  return [t('Filter: {0}', words === '' ? t('none') : words), ...lines].map((line) => `- ${line}`).join('\n');
}

function leftOut({ leftOut: counts }: ExportPreview): string {
  const rows = Object.entries(counts).map(
    ([reason, count]) =>
      `| ${grouped(count)} | ${reason === 'local only' ? t('The developer chose “Keep on this machine only”') : reason} |`,
  );
  return rows.length === 0
    ? t('Nothing.')
    : [
        ...[`| ${t('Dialogues')} | ${t('Why')} |`, '|---:|---|', ...rows],
        ...(counts.doubtful === undefined
          ? []
          : [
              '',
              t(
                'Lines were lost from the log that may have deleted the doubtful dialogues, marked a leak in them or withdrawn a consent. Look through them in the list; then select “Include doubtful dialogues”, or accept the loss with “tandem check --repair --accept-loss”.',
              ),
            ]),
      ].join('\n');
}

function sharing({ consents, findings }: ExportPreview, { format }: ExportChoice): string[] {
  const people =
    consents.length === 0
      ? t('No text in these rows was written by a person.')
      : [
          t(
            'These rows contain text written by people, under these pseudonyms. This is what they agreed to:',
          ),
          '',
          `| ${t('Pseudonym')} | ${t('Consent')} |`,
          '|---|---|',
          ...consents.map(([pseudonym, purposes]) => `| ${cell(pseudonym)} | ${cell(purposes)} |`),
        ].join('\n');
  return [
    people,
    findings.length === 0
      ? t('No secret and no e-mail address was found in the rows.')
      : [
          t('Found in the rows; you choose what to do about it before anything is written:'),
          '',
          ...findings.map((one) => `- ${cell(findingInWords(one))}`),
        ].join('\n'),
    formatOf(format).holdsTask === true
      ? t('The rows contain the full text of the dialogues, the hidden reference and the tests of each task.')
      : t(
          'The rows contain the text of the dialogues, and neither the hidden reference nor the tests of a task.',
        ),
  ];
}

/** A replacer for `JSON.stringify` that cuts long texts and long lists of numbers. */
function shortened(_: string, value: unknown): unknown {
  if (typeof value === 'string' && value.length > MAX_TEXT_CHARS)
    return `${value.slice(0, MAX_TEXT_CHARS)}… (${t('{0} characters more', grouped(value.length - MAX_TEXT_CHARS))})`;
  if (Array.isArray(value) && value.length > MAX_NUMBERS && value.every((one) => typeof one === 'number')) {
    const most: unknown[] = value.slice(0, MAX_NUMBERS);
    return [...most, `… (${t('{0} more', grouped(value.length - MAX_NUMBERS))})`];
  }
  return value;
}

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
  feedback: [
    t('Feedback for the trainer'),
    t('One row per thumb, choice and verdict, and per turn before an answer that was taken or rejected'),
  ],
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
  atif: [
    t('Agent trajectories (ATIF)'),
    t('One row per dialogue: its messages as steps, with tokens, times and the grade'),
  ],
  sts: [
    t('Session traces (STS)'),
    t('A header line for each dialogue, then a line for each message, for the trace viewer'),
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
  const rows = SELECTIONS.map((name) => ({
    name,
    label: selections[name][0],
    description: selections[name][1],
  }));
  const offered: vscode.QuickPickItem[] = [...(isFiltered(filter) ? [only] : []), ...rows];
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
  const selected = Object.fromEntries(rows.map((row) => [row.name, picked.includes(row)]));
  return {
    format,
    filter: picked.includes(only) ? filter : {},
    ...(selected as Readonly<Record<Selection, boolean>>),
  };
}
