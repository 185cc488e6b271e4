import { basename } from 'node:path';
import { cell, fenced, markdownTable } from '../../markdown';
import { printable } from '../../text';
import { isProgram } from '../../task/task';
import { LOG_VERSION, type ConsentLevel } from '../event';
import { Consents, type Consent } from '../consent';
import { developersOf, type Trajectory } from '../trajectory';
import { extensionOf, formatOf, type FormatId } from './formats';
import { holdsOwnCode } from './ownCode';
import { measureOf, type ExportedGrade } from './rows';
import type { LeftOut, Selection } from './selection';

export class CardFacts {
  readonly agents = new Map<string, number>();
  readonly collaborators = new Map<string, number>();
  readonly prompts = new Map<string, number>();
  readonly licences = new Set<string>();
  readonly tasks = new Set<string>();
  readonly developers = new Set<string>();
  unlicensed = 0;
  trajectories = 0;
  /** Of functions. */
  successes = 0;
  /** Of functions. */
  rewards = 0;
  /** Of functions. */
  graded = 0;
  pages = 0;
  /** Of web pages: those of different measures or renderers have no common mean. */
  readonly scores = new Map<string, number[]>();
  leaked = 0;
  withTokenIds = 0;
  keptLocal = 0;
  /** Trajectories whose log has own code after a person's edits; it is only in rows that stay on this machine. */
  ownCode = 0;
  /** Trajectories with an agent that saw other instructions than are written. */
  otherPrompts = 0;

  constructor(
    private readonly consents: Consents,
    private readonly sawAnotherPrompt: (trajectory: Trajectory) => boolean = () => false,
  ) {}

  add(trajectory: Trajectory, grade: ExportedGrade | undefined): void {
    const { started, turns, task } = trajectory;
    this.trajectories += 1;
    count(this.agents, trajectory.agent);
    for (const developer of developersOf(trajectory)) this.developers.add(developer);
    count(this.collaborators, `${started.collaborator.kind} ${started.collaborator.name}`);
    for (const [name, version] of Object.entries(started.prompts)) count(this.prompts, `${name} ${version}`);
    if (task.license === undefined) this.unlicensed += 1;
    else this.licences.add(task.license);
    this.tasks.add(task.id);
    if (turns.some(({ leak }) => leak?.leaked)) this.leaked += 1;
    if (turns.every(({ agent }) => agent.tokens?.ids)) this.withTokenIds += 1;
    if (trajectory.outcome?.code !== undefined) this.ownCode += 1;
    if (this.consents.whyNot(trajectory, false) === 'local only' || holdsOwnCode(trajectory))
      this.keptLocal += 1;
    if (this.sawAnotherPrompt(trajectory)) this.otherPrompts += 1;
    if (!isProgram(task)) this.pages += 1;
    if (!grade) return;
    const measure = measureOf({ trajectory, grade });
    if (measure !== undefined) {
      this.scores.set(measure, [...(this.scores.get(measure) ?? []), grade.reward]);
      return;
    }
    this.graded += 1;
    this.rewards += grade.reward;
    if (grade.success === true) this.successes += 1;
  }
}

const KEPT_LOCAL = 'kept on the machine they were played on';

/** An export never holds dialogues that people keep on their machine; other rows with this card may. */
export const tellsOfKeptLocal = (card: string): boolean =>
  card
    .split('\n')
    .some((line) => line.startsWith(`| ${KEPT_LOCAL} | `) && !line.startsWith(`| ${KEPT_LOCAL} | 0 |`));

export interface Card {
  readonly file: string;
  readonly format: FormatId;
  readonly rows: number;
  readonly facts: CardFacts;
  readonly leftOut: LeftOut;
  readonly selection: Selection;
  readonly consents: readonly Consent[];
}

/** Markdown with the YAML front matter that the Hugging Face hub reads. */
export function datasetCard(card: Card): string {
  const { file, facts, format, rows } = card;
  const name = basename(file);
  return [
    frontMatter(card),
    `# ${printable(name)}`,
    `Dialogues between an agent and a collaborator on ${facts.pages === 0 ? 'programming tasks' : facts.pages === facts.trajectories ? 'web pages' : 'programming tasks and web pages'} with hidden information, exported by Tandem as ${formatOf(format).is}.`,
    ...readersSection(card),
    '## Counts',
    table([
      ['rows', rows],
      ['trajectories', facts.trajectories],
      ['tasks', facts.tasks.size],
      ...(facts.pages === 0 ? [] : [['trajectories of web pages', facts.pages] as const]),
      ['graded', facts.graded],
      ['successes (all tests passed)', facts.successes],
      ['mean reward', facts.graded === 0 ? '–' : (facts.rewards / facts.graded).toFixed(3)],
      ...[...facts.scores].map(
        ([measure, scores]) =>
          [
            `mean score of web pages (${measure}; graded: ${scores.length})`,
            (scores.reduce((sum, score) => sum + score, 0) / scores.length).toFixed(3),
          ] as const,
      ),
      ['with a reply that gives the reference away', facts.leaked],
      ['with the sampled token ids of every turn', facts.withTokenIds],
      [KEPT_LOCAL, facts.keptLocal],
      ...(facts.otherPrompts === 0
        ? []
        : [['played with another agent.md than is written here', facts.otherPrompts] as const]),
    ]),
    '## Selection',
    `Rewards are those of the grading mode \`${card.selection.mode ?? 'fixed'}\`. ${selectionSentence(card.selection)}`,
    leftOutSection(card.leftOut),
    '## Agents',
    table([...facts.agents]),
    '## Collaborators',
    table([...facts.collaborators]),
    consentSection(card),
    '## Versions',
    table([['trajectory log', LOG_VERSION], ...facts.prompts]),
    licenceSection(facts),
    '',
  ].join('\n\n');
}

function frontMatter({ file, format, facts, rows }: Card): string {
  const [licence] = facts.licences;
  const single = facts.licences.size === 1 && facts.unlicensed === 0 ? licence : undefined;
  return [
    '---',
    `license: ${JSON.stringify(printable(single?.toLowerCase() ?? 'other'))}`,
    'task_categories:',
    '  - text-generation',
    'tags:',
    '  - code',
    '  - multi-turn',
    '  - tandem',
    'size_categories:',
    `  - ${JSON.stringify(sizeCategory(rows))}`,
    // The hub reads rows; a file of one object is none.
    ...(extensionOf(format) === 'json'
      ? []
      : [
          'configs:',
          '  - config_name: default',
          `    data_files: ${JSON.stringify(printable(basename(file)))}`,
        ]),
    '---',
  ].join('\n');
}

function sizeCategory(rows: number): string {
  if (rows < 1_000) return 'n<1K';
  if (rows < 10_000) return '1K<n<10K';
  return rows < 100_000 ? '10K<n<100K' : '100K<n<1M';
}

function readersSection({ file, format }: Card): string[] {
  const { readers } = formatOf(format);
  if (readers.length === 0) return [];
  const name = printable(basename(file));
  return [
    '## Reading it',
    ...readers.flatMap(({ tool, language, lines }) => [`${tool}:`, fenced(lines(name), language)]),
  ];
}

function selectionSentence({ filter = {}, minReward, ...selection }: Selection): string {
  // The card names the filter's text, not the names found by it.
  const { named: _, agents, ...others } = filter;
  const shown = { ...others, agents: agents && [...agents] };
  const limits = Object.entries(shown).flatMap(([field, value]) =>
    value === undefined ? [] : [`${field} ${[value].flat().map(String).map(code).join(', ')}`],
  );
  if (minReward !== undefined) limits.push(`reward at least ${minReward}`);
  for (const [option, chosen, other] of CHOICES) {
    const said = selection[option] === true ? chosen : other;
    if (said !== undefined) limits.push(said);
  }
  return `Filters: ${limits.join(', ')}.`;
}

/** What the card says where an option is chosen, and where it is not. */
const CHOICES = [
  ['onlySuccess', 'only successes'],
  ['onlyAccepted', 'only accepted ones'],
  ['withLeaked', 'leaked ones included', 'leaked ones left out'],
  ['withEvaluations', 'evaluations included', 'evaluations left out'],
  ['withEditorModels', 'models of the editor included', 'models of the editor left out'],
  ['withRedo', 'those to be redone included'],
  ['withDoubtful', 'doubtful ones included'],
] as const satisfies readonly (readonly [keyof Selection, string, string?])[];

function leftOutSection(leftOut: LeftOut): string {
  const counts = Object.entries(leftOut);
  if (counts.length === 0) return 'Nothing was left out.';
  return `Left out:\n\n${table(counts)}`;
}

function consentSection({ facts, consents }: Card): string {
  if (facts.developers.size === 0) return 'No person took part.';
  const lines = consentsOf(facts, consents);
  return `## Consent\n\nPeople took part under these pseudonyms, with their consent to this purpose:\n\n${table(lines)}`;
}

/** With the purpose and the level that each developer consented to. */
export function consentsOf(
  { developers }: CardFacts,
  consents: readonly Consent[],
): readonly (readonly [pseudonym: string, consent: string])[] {
  const allowed = new Consents(consents);
  return [...developers].map((pseudonym) => {
    const consent = allowed.of(pseudonym);
    if (consent === undefined) return [pseudonym, LEVELS.local];
    const { purpose, at } = consent;
    return [pseudonym, `${purpose}: ${LEVELS[allowed.level(pseudonym)!]} (${at.slice(0, 10)})`];
  });
}

const LEVELS: Readonly<Record<ConsentLevel, string>> = {
  local: 'kept on the machine it was played on',
  export: 'may be exported',
  'export-with-edits': 'may be exported with edits and timing',
};

function licenceSection({ licences, unlicensed }: CardFacts): string {
  const named = licences.size > 0 ? `Licenses of the tasks: ${[...licences].map(code).join(', ')}. ` : '';
  const unnamed = unlicensed > 0 ? `${unlicensed} trajectories are of tasks that name no license.` : '';
  return `## Licence\n\n${named}${unnamed}`.trimEnd();
}

const table = (rows: readonly (readonly [string, string | number])[]): string =>
  markdownTable(
    ['', ''],
    rows.map((row) => row.map((value) => cell(printable(String(value))))),
  );

function code(text: string): string {
  return `\`${printable(text).replaceAll('`', "'")}\``;
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
