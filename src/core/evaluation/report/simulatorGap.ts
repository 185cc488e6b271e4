import type { Gap, GapFigure, SimulatorGap } from '../people/simulatorGap';
import { printable } from '../../text';
import {
  field,
  inEnglish,
  t,
  tableInMarkdown,
  tableOf,
  type Field,
  type Sentence,
  type Table,
  type Words,
} from './table';

/** Reading of a difference with an interval on one side of zero. */
type Reading = Readonly<Record<'more' | 'less', Sentence>>;

interface Described {
  readonly name: GapFigure;
  readonly title: Words;
  readonly note: Words;
  /** Of what makes it easier for an agent than people do. */
  readonly kindness?: Reading;
}

const described: readonly Described[] = [
  { name: 'words', title: t('Words'), note: t('Length of a reply') },
  {
    name: 'answers',
    title: t('Answers'),
    note: t('Share of the facts asked about that the reply states; only tasks with facts'),
    kindness: {
      more: t('Too kind: it answers more of what the agent asks than people do.'),
      less: t('Stricter than people: it answers less of what the agent asks.'),
    },
  },
  {
    name: 'noPreference',
    title: t('No preference'),
    note: t('Share of replies that state no preference, or do not know'),
  },
  {
    name: 'leaks',
    title: t('Leaks'),
    note: t('Share of replies that give the reference away'),
    kindness: {
      more: t('Too kind: it leaks the reference more often than people do.'),
      less: t('Stricter than people: it leaks the reference less often.'),
    },
  },
  {
    name: 'volunteers',
    title: t('Volunteers'),
    note: t('Share of replies that state a fact that was never asked about; only tasks with facts'),
    kindness: {
      more: t('Too kind: it volunteers facts more often than people do.'),
      less: t('Stricter than people: it volunteers facts less often.'),
    },
  },
  {
    name: 'success',
    title: t('Success'),
    note: t('Of the same agents on the same tasks, as far as the log has both; n: tasks'),
  },
];

const columns = <Of>(shareUnit: string, cell: (of: Of, name: GapFigure) => ReturnType<Field<Of>['cell']>) =>
  described.map(({ name, title, note }) =>
    field<Of>(name, title, (of) => cell(of, name), {
      ...(name === 'words'
        ? { unit: 'words', digits: 1, isSigned: shareUnit === 'points' }
        : { unit: shareUnit }),
      ...{ note, isCounted: true, isOptional: true },
    }),
  );

/** People and the simulator, and the difference between them. */
export const gapTables = ({
  simulator,
  figures,
}: SimulatorGap): readonly [sides: Table, difference: Table] => [
  tableOf(
    { name: t('People and the simulator'), head: t('Replies by') },
    columns<'people' | 'simulator'>('fraction', (side, name) => {
      const gap = figures[name];
      return gap === undefined ? null : { ...gap[side], of: gap.difference.tasks };
    }),
    ['people', 'simulator'],
    (side) => ({ name: side === 'people' ? t('people') : simulator }),
  ),
  tableOf(
    { name: t('Difference'), head: t('Replies by') },
    columns<typeof figures>('points', (of, name) => differenceCell(of[name])),
    [figures],
    () => ({ name: t('simulator − people') }),
  ),
];

function differenceCell(gap: Gap | undefined): ReturnType<Field<unknown>['cell']> {
  if (gap === undefined) return null;
  const { difference: value, interval, tasks: of } = gap.difference;
  return { value: value!, ...(interval && { interval }), of };
}

/** On which side the simulator is kinder or stricter than people, where the interval of the difference excludes zero. */
export function gapFindings({ figures }: SimulatorGap): Sentence[] {
  const judged = described.flatMap(({ name, kindness }) => {
    const interval = figures[name]?.difference.interval;
    return kindness && interval ? [{ kindness, interval }] : [];
  });
  if (judged.length === 0)
    return [t('Too few dialogues to tell whether it is too kind: intervals need six.')];
  const found = judged.flatMap(({ kindness, interval }) =>
    interval.low > 0 ? [kindness.more] : interval.high < 0 ? [kindness.less] : [],
  );
  return found.length > 0 ? found : [t('No clear difference in what it answers, leaks and volunteers.')];
}

export function gapNotes({ people, replies, dialogues, suggested, failures }: SimulatorGap): Sentence[] {
  const failed = failures.reduce((sum, failure) => sum + failure.replies.length, 0);
  const compared = t(
    'Replies compared: {0}, in {1} dialogues, by {2}. In brackets: 95 % intervals over dialogues, the mean of each first; they speak for these people only. Shares differ in percentage points.',
    replies,
    dialogues,
    people.join(', '),
  );
  if (suggested + failed === 0) return [compared];
  const leftOut = t(
    'Left out: {0} suggestions of a simulator that were sent unchanged, {1} replies that it could not give.',
    suggested,
    failed,
  );
  return [compared, leftOut];
}

export const gapInMarkdown = (gap: SimulatorGap): string =>
  [
    `# People and simulator: ${printable(gap.simulator)}`,
    gapFindings(gap)
      .map((finding) => `- ${inEnglish(finding)}`)
      .join('\n'),
    ...gapTables(gap).flatMap((table) => [`## ${inEnglish(table.name)}`, tableInMarkdown(table)]),
    gapNotes(gap).map(inEnglish).join(' '),
  ]
    .map((part) => `${part}\n`)
    .join('\n');
