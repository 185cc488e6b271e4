import { FORMATS } from '../../core/trajectory/export/card';
import type { ExportFormat } from '../../core/trajectory/export/export';
import type { ExportPreview } from '../../core/trajectory/export/preview';
import { findingInWords } from '../../core/trajectory/findings/words';
import { filterWords, type ListFilter } from '../trajectories/filter';
import { grouped } from '../trajectories/words';

/** What a person chose to export. */
export interface ExportChoice {
  readonly format: ExportFormat['format'];
  readonly filter: ListFilter;
  readonly onlySuccess: boolean;
  readonly withLeaked: boolean;
  readonly withEvaluations: boolean;
  readonly withEditorModels: boolean;
}

const LONGEST_TEXT = 400;
const MOST_NUMBERS = 8;

/** What an export would write, as Markdown: the counts, what is left out and why, whose words, and the first rows. */
export function previewDocument(preview: ExportPreview, choice: ExportChoice): string {
  return `${[
    '# Export preview: nothing is written yet',
    countsOf(preview, choice),
    chosen(choice),
    '## Left out',
    leftOut(preview),
    '## Before you share it',
    ...sharing(preview),
    '## First rows',
    'Long texts are cut here, not in the file.',
    ...preview.first.map((row) => fenced(JSON.stringify(row, shortened, 2))),
    ...(preview.rows === 0 ? ['There is none.'] : []),
  ].join('\n\n')}\n`;
}

function countsOf({ rows, trajectories, tasks, successes, leaked }: ExportPreview, { format }: ExportChoice) {
  return [
    `**${grouped(rows)} rows** from ${grouped(trajectories)} trajectories of ${grouped(tasks)} tasks, as ${FORMATS[format] ?? format}.`,
    `${grouped(successes)} pass all tests. In ${grouped(leaked)} a reply gives the reference away.`,
  ].join('\n');
}

function chosen({
  filter,
  onlySuccess,
  withLeaked,
  withEvaluations,
  withEditorModels,
}: ExportChoice): string {
  const words = filterWords(filter);
  return [
    `- Filter: ${words === '' ? 'none' : words}`,
    ...(onlySuccess ? ['- Only those that pass all tests'] : []),
    ...(withLeaked ? ['- Also those with a leak'] : []),
    ...(withEvaluations ? ['- Also those played to evaluate an agent'] : []),
    ...(withEditorModels
      ? [
          '- Also those in which a model of the editor wrote: read its vendor’s terms before you train on the rows',
        ]
      : []),
  ].join('\n');
}

function leftOut({ leftOut: counts }: ExportPreview): string {
  const rows = Object.entries(counts).map(([reason, count]) => `| ${grouped(count)} | ${reason} |`);
  return rows.length === 0 ? 'Nothing.' : ['| Trajectories | Why |', '|---:|---|', ...rows].join('\n');
}

/** What whoever writes the file should know before it leaves this machine. */
function sharing({ consents, findings }: ExportPreview): string[] {
  const people =
    consents.length === 0
      ? 'No person’s words are in these rows.'
      : [
          'People’s words are in these rows, under these pseudonyms. This is what they agreed to:',
          '',
          '| Pseudonym | Consent |',
          '|---|---|',
          ...consents.map(([pseudonym, purposes]) => `| ${cell(pseudonym)} | ${cell(purposes)} |`),
        ].join('\n');
  return [
    people,
    findings.length === 0
      ? 'No secret and no e-mail address was found in the rows.'
      : [
          'Found in the rows; what is done about it is asked before anything is written:',
          '',
          ...findings.map((one) => `- ${cell(findingInWords(one))}`),
        ].join('\n'),
    'The rows hold every word of the dialogues, the hidden reference and the tests of each task.',
  ];
}

/** For `JSON.stringify`: long texts and long lists of numbers are cut. */
function shortened(_: string, value: unknown): unknown {
  if (typeof value === 'string' && value.length > LONGEST_TEXT) {
    return `${value.slice(0, LONGEST_TEXT)}… (${grouped(value.length - LONGEST_TEXT)} characters more)`;
  }
  if (Array.isArray(value) && value.length > MOST_NUMBERS && value.every((one) => typeof one === 'number')) {
    const most: unknown[] = value.slice(0, MOST_NUMBERS);
    return [...most, `… (${grouped(value.length - MOST_NUMBERS)} more)`];
  }
  return value;
}

const cell = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll(/[\\|<`*_[\]]/g, '\\$&');

/** A fence longer than any run of backticks in the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const marks = '`'.repeat(longest + 1);
  return `${marks}json\n${text}\n${marks}`;
}
