import { html, type TemplateResult } from 'lit';
import { estimate, percent, signed } from '../comparison/estimates';
import { t } from '../language';
import { grouped } from '../language/numbers';
import { csv } from '../saving/csv';
import { icon, linkButton } from '../ui';
import type { Column } from '../ui/sortable';
import type { RunRow } from './protocol';

/** The shape of an icon tells the state, as in the Runs view; the words stand beside it. */
const icons: Readonly<Record<RunRow['state'], string>> = {
  running: 'loading',
  stopped: 'debug-pause',
  queued: 'clock',
  done: 'pass-filled',
  lost: 'question',
  failed: 'error',
};

const NONE = '–';
/** Empty texts sort last, as missing values do. */
const some = (text: string): string | undefined => (text === '' ? undefined : text);
const tagsOf = ({ tags }: RunRow): string => tags.map((tag) => `#${tag}`).join(' · ');

export const columnsOf = (open: (id: string) => void): readonly Column<RunRow>[] => [
  {
    ...{ name: 'name', title: t('Run'), value: ({ name }) => name },
    cell: ({ id, name, note }) => linkButton(name, () => open(id), note === '' ? t('Open the run') : note),
  },
  {
    ...{ name: 'state', title: t('State'), value: ({ stateLabel }) => stateLabel },
    cell: ({ state, stateLabel }) => html`<span class="state">${icon(icons[state])} ${stateLabel}</span>`,
  },
  {
    ...{ name: 'success', title: t('Success (95 % interval)'), isNumber: true },
    note: t('On the held-out tasks of the latest evaluation'),
    value: ({ success }) => success?.mean,
    cell: ({ success }) => withQuiet(estimate(success)),
  },
  {
    ...{ name: 'gain', title: t('Δ vs. base (points)'), isNumber: true },
    note: t('Success minus that of the base model, on the same tasks'),
    value: ({ gain }) => gain?.difference,
    cell: ({ gain }) => withQuiet(gainWords(gain)),
  },
  {
    ...{ name: 'pairAccuracy', title: t('Held-out pair accuracy'), isNumber: true },
    value: ({ pairAccuracy }) => pairAccuracy,
    cell: ({ pairAccuracy }) => (pairAccuracy === undefined ? NONE : t('{0} %', percent(pairAccuracy))),
  },
  {
    ...{ name: 'tags', title: t('Tags') },
    value: (run) => some(tagsOf(run)),
    cell: (run) => tagsOf(run),
  },
  {
    ...{ name: 'started', title: t('Started'), isNumber: true },
    value: ({ started }) => Date.parse(started),
    cell: ({ startedLabel }) => startedLabel,
  },
  {
    ...{ name: 'duration', title: t('Duration'), isNumber: true },
    note: t('From the start to the last heartbeat, including pauses'),
    value: ({ seconds }) => seconds,
    cell: ({ duration }) => some(duration) ?? NONE,
  },
  {
    ...{ name: 'evaluatedOn', title: t('Evaluated on') },
    value: ({ evaluatedOn }) => some(evaluatedOn),
    cell: ({ evaluatedOn }) => some(evaluatedOn) ?? NONE,
  },
  { ...{ name: 'method', title: t('Method') }, value: ({ method }) => method, cell: ({ method }) => method },
  { ...{ name: 'base', title: t('Base model') }, value: ({ base }) => some(base), cell: ({ base }) => base },
  {
    ...{ name: 'trajectories', title: t('Dialogues'), isNumber: true, note: t('Training data') },
    value: ({ trajectories }) => trajectories,
    cell: ({ trajectories }) => (trajectories === undefined ? NONE : grouped(trajectories)),
  },
];

function gainWords(gain: RunRow['gain']): string {
  if (gain === undefined) return NONE;
  const { difference, interval } = gain;
  return interval === undefined
    ? signed(difference)
    : t('{0} ({1} to {2})', signed(difference), signed(interval.low), signed(interval.high));
}

/** A column is read by its numbers, so the interval is quiet. */
function withQuiet(text: string): TemplateResult {
  const [number, interval] = text.split(/ (?=\()/);
  return html`${number}${interval === undefined ? '' : html` <span class="quiet">${interval}</span>`}`;
}

export function narrowed(runs: readonly RunRow[], text: string): readonly RunRow[] {
  const words = text.toLowerCase().split(/\s+/);
  return runs.filter((run) => {
    const { name, note, stateLabel, method, base, evaluatedOn, id } = run;
    const all = [name, tagsOf(run), note, stateLabel, method, base, evaluatedOn, id].join('\n').toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

const NAMES = ['id', 'name', 'state', 'method', 'base', 'trajectories', 'tasks', 'evaluated_on'];
const FIGURES = ['success', 'success_low', 'success_high', 'gain', 'gain_low', 'gain_high', 'pair_accuracy'];

/** Rates are fractions, 0 to 1, and gains differences of them. */
export function runsCsv(runs: readonly RunRow[]): string {
  const rows = runs.map(({ success, gain, ...run }) => [
    ...[run.id, run.name, run.state, run.method, run.base, run.trajectories, run.tasks],
    ...[some(run.evaluatedOn), success?.mean, success?.low, success?.high],
    ...[gain?.difference, gain?.interval?.low, gain?.interval?.high, run.pairAccuracy],
    ...[run.started, run.seconds, run.tags.join(', '), run.note],
  ]);
  return csv([...NAMES, ...FIGURES, 'started', 'seconds', 'tags', 'note'], rows);
}
