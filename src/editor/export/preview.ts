import * as vscode from 'vscode';
import { formatOf, type FormatId } from '../../core/trajectory/export/formats';
import type { ExportPreview } from '../../core/trajectory/export/export';
import { findingInWords } from '../../core/trajectory/findings/words';
import { filterWords, type ListFilter } from '../dialogue/filter';
import { grouped } from '../../core/text';
import { cell, fenced } from '../../core/markdown';

const { t } = vscode.l10n;

export interface ExportChoice {
  readonly format: FormatId;
  readonly filter: ListFilter;
  readonly onlySuccess: boolean;
  readonly onlyAccepted: boolean;
  readonly withLeaked: boolean;
  readonly withEvaluations: boolean;
  readonly withEditorModels: boolean;
  readonly withRedo: boolean;
  readonly withDoubtful: boolean;
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
    ...preview.first.map((row) => fenced(JSON.stringify(row, shortened(), 2), 'json')),
    ...(preview.rows === 0 ? [t('There is none.')] : []),
  ].join('\n\n')}\n`;
}

function countsOf(
  { rows, trajectories, tasks, successes, leaked, otherPrompts }: ExportPreview,
  { format }: ExportChoice,
): string {
  return [
    t(
      '**{0} rows** from {1} dialogues of {2} tasks, as {3}.',
      ...[rows, trajectories, tasks].map(grouped),
      formatOf(format).is,
    ),
    leaked === 0
      ? t('{0} pass all tests. No reply leaks the reference.', grouped(successes))
      : t(
          '{0} pass all tests. In {1} a reply gives the reference away.',
          grouped(successes),
          grouped(leaked),
        ),
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
  const { filter, onlySuccess, onlyAccepted } = choice;
  const { withLeaked, withEvaluations, withEditorModels, withRedo, withDoubtful } = choice;
  const words = filterWords(filter, t);
  return [
    t('Filter: {0}', words === '' ? t('none') : words),
    ...(onlySuccess ? [t('Only those that pass all tests')] : []),
    ...(onlyAccepted ? [t('Only accepted dialogues')] : []),
    ...(withLeaked ? [t('Include leaked dialogues')] : []),
    ...(withEvaluations ? [t('Include evaluation dialogues')] : []),
    ...(withEditorModels
      ? [t('Include VS Code-model dialogues: read the vendor’s terms before you train on the rows')]
      : []),
    ...(withRedo ? [t('Include dialogues marked for redo')] : []),
    ...(withDoubtful ? [t('Include doubtful dialogues')] : []),
  ]
    .map((line) => `- ${line}`)
    .join('\n');
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
        ...(counts.doubtful === undefined ? [] : ['', doubtWords()]),
      ].join('\n');
}

const doubtWords = (): string =>
  t(
    'Lines were lost from the log that may have deleted the doubtful dialogues, marked a leak in them or withdrawn a consent. Look through them in the list; then select “Include doubtful dialogues”, or accept the loss with “tandem check --repair --accept-loss”.',
  );

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

/** Returns a replacer for `JSON.stringify` that cuts long texts and long lists of numbers. */
const shortened =
  () =>
  (_: string, value: unknown): unknown => {
    if (typeof value === 'string' && value.length > MAX_TEXT_CHARS) {
      return `${value.slice(0, MAX_TEXT_CHARS)}… (${t('{0} characters more', grouped(value.length - MAX_TEXT_CHARS))})`;
    }
    if (Array.isArray(value) && value.length > MAX_NUMBERS && value.every((one) => typeof one === 'number')) {
      const most: unknown[] = value.slice(0, MAX_NUMBERS);
      return [...most, `… (${t('{0} more', grouped(value.length - MAX_NUMBERS))})`];
    }
    return value;
  };
