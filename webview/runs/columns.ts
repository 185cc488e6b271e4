import { html } from 'lit';
import { t, grouped } from '../language';
import { cellContent, numberIn } from '../report/table';
import { csv } from '../ui/csv';
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
const fraction = { name: '', title: '', unit: 'fraction', digits: 1 };
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
    value: ({ success }) => success?.value,
    cell: ({ success = null }) => cellContent(success, fraction),
  },
  {
    ...{ name: 'gain', title: t('Δ vs. base (points)'), isNumber: true },
    note: t('Success minus that of the base model, on the same tasks'),
    value: ({ gain }) => gain?.value,
    cell: ({ gain = null }) => cellContent(gain, { ...fraction, unit: 'points' }),
  },
  {
    ...{ name: 'pairAccuracy', title: t('Held-out pair accuracy'), isNumber: true },
    value: ({ pairAccuracy }) => pairAccuracy,
    cell: ({ pairAccuracy }) => (pairAccuracy === undefined ? NONE : numberIn(pairAccuracy, fraction)),
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
    ...[some(run.evaluatedOn), success?.value, success?.interval?.low, success?.interval?.high],
    ...[gain?.value, gain?.interval?.low, gain?.interval?.high, run.pairAccuracy],
    ...[run.started, run.seconds, run.tags.join(', '), run.note],
  ]);
  return csv([...NAMES, ...FIGURES, 'started', 'seconds', 'tags', 'note'], rows);
}
