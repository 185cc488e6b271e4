import type { TrainerEvent, TrainerEventOf } from '../events';
import { advance, type Progress } from '../progress';
import { Curve } from './curve';
import { Told, type ToldEvent } from './told';

/** The figures of a step that make a curve, by their names in the events. */
export const figures = [
  'accuracy',
  'loss',
  'margin',
  'kl',
  'nll',
  'log_ratio_chosen',
  'log_ratio_rejected',
  'gradient_norm',
  'learning_rate',
  'tokens_per_second',
  'memory_mb',
  'gpu_use',
  'mfu',
  'sampler_difference',
] as const;
export type Figure = (typeof figures)[number];

/** Those that are also measured on examples that are never trained on. */
export const heldOutFigures = ['accuracy', 'loss', 'margin'] as const satisfies readonly Figure[];

export interface Curves {
  readonly training: Curve;
  readonly heldOut: Curve;
}

const MOST_SAMPLES = 24;

/**
 * The events of a run, folded as they come: what it takes to show the run does not grow with its length, and an event
 * costs the same after a hundred thousand others.
 */
export class RunHistory {
  progress: Progress | undefined;
  data: TrainerEventOf<'data'> | undefined;
  result: TrainerEventOf<'result'> | undefined;
  /** Of the critic's held-out pairs; absent of runs without a critic, and of those of an older trainer. */
  control: TrainerEventOf<'control'> | undefined;
  /** To be read by a person. Figures do not come from it: a long run has more than it keeps. */
  readonly told = new Told();
  readonly samples: TrainerEventOf<'sample'>[] = [];
  /** How many events there were, so that somebody can tell whether there are new ones. */
  events = 0;
  private readonly ranked = new Map<string, TrainerEventOf<'ranking'>>();
  private readonly bestLooks = new Map<string, TrainerEventOf<'evaluation'>>();
  private readonly byStage = new Map<string, Map<Figure, Curves>>();
  private planned: readonly string[] = [];
  private readonly begun: string[] = [];

  /** In order: those of the plan, and before there is one those that have begun. `prepare` comes before all. */
  get stages(): readonly string[] {
    return ['prepare', ...this.planned, ...this.begun.filter((stage) => !this.planned.includes(stage))];
  }

  /** The stages with curves, in the order in which they began. */
  get trained(): readonly string[] {
    return [...this.byStage.keys()];
  }

  /** Of each round, in order: the latest of its stage, which a run that was resumed may tell again. */
  get rankings(): readonly TrainerEventOf<'ranking'>[] {
    return [...this.ranked.values()];
  }

  hasBegun(stage: string): boolean {
    return this.begun.includes(stage);
  }

  add(event: TrainerEvent): void {
    this.events += 1;
    this.progress = advance(this.progress, event);
    const { stage } = this.progress;
    if (stage !== undefined && stage !== 'prepare' && !this.begun.includes(stage)) this.begun.push(stage);
    switch (event.event) {
      case 'step':
        for (const figure of figures) this.note(event.stage, figure, 'training', event.step, event[figure]);
        break;
      case 'evaluation':
        for (const figure of heldOutFigures)
          this.note(event.stage, figure, 'heldOut', event.step, event[figure]);
        if (event.best === true || this.bestLooks.get(event.stage)?.best !== true)
          this.bestLooks.set(event.stage, event);
        this.told.add(event);
        break;
      case 'sample':
        this.samples.push(event);
        if (this.samples.length > MOST_SAMPLES) this.samples.shift();
        break;
      case 'progress':
        break;
      default:
        this.keep(event);
        this.told.add(event);
    }
  }

  /** The best look at the held-out examples of a stage; the latest while the trainer has called none the best. */
  bestLook(stage: string): TrainerEventOf<'evaluation'> | undefined {
    return this.bestLooks.get(stage);
  }

  /** The figures of a stage that have values. */
  figuresOf(stage: string): readonly Figure[] {
    const of = this.byStage.get(stage);
    return of === undefined ? [] : figures.filter((figure) => of.has(figure));
  }

  curves(stage: string, figure: Figure): Curves | undefined {
    return this.byStage.get(stage)?.get(figure);
  }

  private note(
    stage: string,
    figure: Figure,
    which: keyof Curves,
    step: number,
    value: number | null | undefined,
  ): void {
    if (value == null) return;
    let of = this.byStage.get(stage);
    if (of === undefined) this.byStage.set(stage, (of = new Map<Figure, Curves>()));
    let curves = of.get(figure);
    if (curves === undefined) of.set(figure, (curves = { training: new Curve(), heldOut: new Curve() }));
    curves[which].add(step, value);
  }

  private keep(event: ToldEvent): void {
    if (event.event === 'data') this.data = event;
    if (event.event === 'result') this.result = event;
    if (event.event === 'control') this.control = event;
    if (event.event === 'ranking') this.ranked.set(event.stage, event);
    // What was planned once stays: a later plan may be of what is left.
    if (event.event === 'plan' && this.planned.length === 0) this.planned = stagesOf(event);
  }
}

/** A plan has the seconds of every stage, by its name and in order. */
function stagesOf({ seconds }: TrainerEventOf<'plan'>): readonly string[] {
  const names = typeof seconds === 'object' && seconds !== null ? Object.keys(seconds) : [];
  return names.includes('export') ? names : [...names, 'export'];
}
