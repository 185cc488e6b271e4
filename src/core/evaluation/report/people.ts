import type { PeoplesAgreement, Person } from '../people/agreement';
import type { Alpha } from '../people/alpha';
import type { MeasureAgreement, PeopleAndMeasures } from '../people/measures';
import type { Opinions } from '../people/opinions';
import { field, number, t, tableOf, type Field, type Sentence, type Table, type Words } from './table';

const person: readonly Field<Person>[] = [
  field('dialogues', t('Dialogues'), ({ dialogues }) => number(dialogues), { unit: 'count' }),
  field(
    'success',
    t('Success'),
    ({ success, tasks }) => (success === undefined ? null : { ...success, of: tasks }),
    { unit: 'fraction', isCounted: true },
  ),
  field(
    'leak',
    t('Leaks'),
    ({ leak, dialogues }) => (leak === undefined ? null : { ...leak, of: dialogues }),
    { unit: 'fraction' },
  ),
  field('stars', t('Stars'), ({ stars = null }) => stars, { unit: '', digits: 1, isCounted: true }),
  field('thumbs_up', t('Thumbs up'), ({ thumbs = null }) => thumbs, { unit: 'fraction', isCounted: true }),
  field('first_shown', t('Chose the first'), ({ first = null }) => first, {
    unit: 'fraction',
    isCounted: true,
  }),
  field('undecided', t('Chose none'), ({ undecided = null }) => undecided, {
    unit: 'fraction',
    isCounted: true,
  }),
];

export const peopleTable = ({ people }: PeoplesAgreement): Table =>
  tableOf({ name: t('Figures of each person'), head: t('Person') }, person, people, ({ name }) => ({ name }));

export const peopleNotes = ({ people, shared }: PeoplesAgreement): Sentence[] => [
  t(
    'In brackets: 95 % intervals; n: tasks for success, else what the person judged. Chose the first: share of choices between two candidates that fell on the one shown first, of those that fell on one. Chose none: share of choices of equal or neither.',
  ),
  ...(people.filter(({ tasks }) => tasks > 0).length < 2
    ? []
    : shared === 0
      ? [t('No task was played by all of them, so their success cannot be compared.')]
      : [t('Success is compared only on tasks that all of them played: {0}.', shared)]),
];

type Kind = keyof Opinions;

const names: Readonly<Record<Kind, Words>> = {
  stars: t('Stars'),
  thumbs: t('Thumbs'),
  choices: t('Choices'),
};

/** What two or more people judged: one, and several. */
const judged: Readonly<Record<Kind, readonly [Words, (units: number) => Words]>> = {
  stars: [t('1 dialogue rated by two or more'), (units) => t('{0} dialogues rated by two or more', units)],
  thumbs: [t('1 turn rated by two or more'), (units) => t('{0} turns rated by two or more', units)],
  choices: [
    t('1 pair of candidates judged by two or more'),
    (units) => t('{0} pairs of candidates judged by two or more', units),
  ],
};

function judgedWords(kind: Kind, units: number): Words {
  if (units === 0) return t('Nothing was judged by two people yet.');
  const [one, several] = judged[kind];
  return units === 1 ? one : several(units);
}

const alphaFields: readonly Field<readonly [Kind, Alpha]>[] = [
  field(
    'alpha',
    t('Krippendorff’s alpha'),
    ([, { alpha, interval, units }]) =>
      alpha === undefined ? null : { value: alpha, of: units, ...(interval && { interval }) },
    { unit: '', digits: 2 },
  ),
  field('judged', t('Judged'), ([kind, { units }]) => judgedWords(kind, units)),
  field('reliance', t('Reliability'), ([, alpha]) => relianceOf(alpha)?.words ?? null),
];

/** How far people agree in each kind of judgement: `stars`, `thumbs`, `choices`. */
export const alphaTable = ({ alpha }: PeoplesAgreement): Table =>
  tableOf(
    { name: t('How far they agree'), head: t('Judgement') },
    alphaFields,
    (['stars', 'thumbs', 'choices'] as const).map((kind) => [kind, alpha[kind]] as const),
    ([kind, of]) => {
      const { icon } = relianceOf(of) ?? {};
      return { name: names[kind], ...(icon !== undefined && { icon }) };
    },
  );

/** Krippendorff's customary limits (Content Analysis, 2004, section 11.3.4). */
const GOOD = 0.8;
const FAIR = 0.667;

function relianceOf({
  alpha,
  interval,
  units,
}: Alpha): { readonly icon?: string; readonly words: Words } | undefined {
  if (alpha === undefined)
    return units === 0
      ? undefined
      : { words: t('All judged the same, so agreement cannot be told from chance.') };
  if (interval === undefined) return { words: t('Too few for an interval.') };
  if (interval.low >= GOOD) return { icon: 'check', words: t('Good: their judgments are reliable.') };
  if (interval.low >= FAIR) return { icon: 'info', words: t('Fair: enough for cautious conclusions only.') };
  return interval.high < FAIR
    ? { icon: 'warning', words: t('Poor: they judge by different standards.') }
    : {
        icon: 'question',
        words: t('Undecided: the interval is too wide. Have two or more people judge more dialogues.'),
      };
}

const measureFields: readonly Field<MeasureAgreement>[] = [
  field(
    'prefers_chosen',
    t('Prefers the chosen page'),
    ({ rate, interval, choices }) => (rate === null ? null : { value: rate, interval, of: choices }),
    { unit: 'fraction', isCounted: true },
  ),
  field('ties', t('Ties'), ({ ties }) => number(ties), { unit: 'count' }),
];

export const measuresTable = ({ measures }: PeopleAndMeasures): Table =>
  tableOf(
    { name: t('How far measures of web pages agree with choices'), head: t('Measure') },
    measureFields,
    measures,
    ({ measure, version, renderer }) => ({
      name: `${measure} ${version}${renderer === 'none' ? '' : `, drawn by ${renderer}`}`,
    }),
  );

export const measuresNote = ({ undecided, withoutPage }: PeopleAndMeasures): Sentence =>
  t(
    'n: choices of one of two pages, without ties of the measure. Left out: {0} choices of equal or neither, {1} with a candidate that shows no page.',
    undecided,
    withoutPage,
  );
