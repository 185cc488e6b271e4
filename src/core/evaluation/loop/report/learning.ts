import { percent } from '../../words';
import { join } from 'node:path';
import { EventTail } from '../../../training/eventFile';
import type { TrainerEvent, TrainerEventOf } from '../../../training/events';
import { runFiles } from '../../../training/runFolder';
import { curvePicture, type DrawnCurve, type ChartPanel, type Point } from '../../pictures/curves';

export interface Learning {
  /** `critic`, `policy`, `policy-2` … */
  readonly stage: string;
  readonly picture: string;
  readonly steps: number;
  /** Held-out pair accuracy of the best evaluation. */
  readonly accuracy?: number;
}

export interface RunStory {
  readonly learnings: readonly Learning[];
  readonly rankings: readonly TrainerEventOf<'ranking'>[];
}

export async function storyOf(runFolder: string): Promise<RunStory> {
  const events: TrainerEvent[] = [];
  const tail = new EventTail(join(runFolder, runFiles.events));
  try {
    for await (const event of tail.read()) events.push(event);
  } finally {
    await tail.close();
  }
  return storyIn(events);
}

export function storyIn(events: readonly TrainerEvent[]): RunStory {
  const stages = new Set(events.flatMap((event) => (event.event === 'step' ? [event.stage] : [])));
  return {
    learnings: [...stages].map((stage) => learningOf(stage, events)),
    rankings: events.filter((event) => event.event === 'ranking'),
  };
}

type Figure = 'loss' | 'accuracy';

function learningOf(stage: string, events: readonly TrainerEvent[]): Learning {
  // A run that died repeats the steps since its last checkpoint: the later ones count.
  const steps = latest(events.filter((event) => event.event === 'step' && event.stage === stage) as Step[]);
  const looks = latest(
    events.filter((event) => event.event === 'evaluation' && event.stage === stage) as Look[],
  );
  const panel = (figure: Figure): ChartPanel['curves'] => [
    { name: 'training', points: pointsOf(steps, figure), isNoisy: true },
    { name: 'held out', points: pointsOf(looks, figure) },
  ];
  const panels: ChartPanel[] = [
    { title: 'loss', curves: panel('loss'), format: (value) => value.toFixed(2) },
    {
      title: 'pairs in the right order',
      curves: panel('accuracy'),
      format: (value) => `${Math.round(100 * value)} %`,
      most: 1,
      line: { at: 0.5, name: 'chance' },
    },
  ];
  const accuracy = (looks.findLast(({ best }) => best === true) ?? looks.at(-1))?.accuracy;
  return {
    stage,
    picture: curvePicture({
      title: `How the ${stage} learned`,
      subtitle:
        accuracy == null ? '' : `held out, at its best: ${percent(accuracy)} of pairs in the right order`,
      panels: panels.flatMap((one) => {
        const curves = one.curves.filter(({ points }) => points.length > 0);
        return curves.length === 0 ? [] : [{ ...one, curves }];
      }),
    }),
    steps: steps.at(-1)?.step ?? 0,
    ...(accuracy != null && { accuracy }),
  };
}

type Step = TrainerEventOf<'step'>;
type Look = TrainerEventOf<'evaluation'>;

const latest = <E extends { readonly step: number }>(events: readonly E[]): E[] =>
  [...new Map(events.map((event) => [event.step, event])).values()].sort((a, b) => a.step - b.step);

const pointsOf = (events: readonly (Step | Look)[], figure: Figure): DrawnCurve['points'] =>
  events.flatMap((event): Point[] => {
    const value = event[figure];
    return value == null ? [] : [[event.step, value]];
  });
