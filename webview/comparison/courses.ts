import { html, nothing, type TemplateResult } from 'lit';
import { drawn } from '../chart/chart';
import type { Point } from '../chart/curves';
import { figures, type FigureStyle } from '../chart/figures';
import type { FigureName, Look } from '../chart/protocol';
import { chartSection, zoomHint } from '../chart/section';
import { inRange, zoomOf } from '../chart/steps';
import { t } from '../language';
import { inlineSelect } from '../ui/inline';
import { pictureOf, sample, undrawn, type Line } from './lines';
import type { Choice, ComparisonView } from './protocol';
import { curveTable } from './tables';

export interface RunCurves {
  readonly training: readonly Point[];
  readonly heldOut: readonly Point[];
}

interface Courses {
  readonly shown: ComparisonView;
  /** One entry for each run, in the order of `shown.runs`. */
  readonly curves: readonly RunCurves[];
  readonly look: Look;
  readonly isHeldOut: boolean;
  /** Ids of runs whose lines are switched off. */
  readonly switchedOff: readonly string[];
  readonly onChoose: (choice: Choice) => void;
  readonly onLook: (look: Look) => void;
  readonly onHeldOut: (isHeldOut: boolean) => void;
  readonly onSwitch: (switchedOff: readonly string[]) => void;
}

/** Draws the curves of one figure of a stage, with a line for each run. */
export function courses(of: Courses): TemplateResult {
  const { shown, curves, look, onLook, onChoose, onHeldOut } = of;
  const { stage, stages, figure: name } = shown;
  const figure = figures[name];
  const canBeHeldOut = curves.some(({ heldOut }) => heldOut.length > 0);
  const isHeldOut = of.isHeldOut && canBeHeldOut;
  const lines = linesOf(of, isHeldOut);
  const { isLogarithmic, steps } = look;
  const zoom = zoomOf(
    steps,
    stage,
    lines.map(({ points }) => points),
  );
  const looked = lines.map((line) => ({ ...line, points: inRange(line.points, zoom.shown) }));
  const drawing = {
    ...{ figure, smoothing: isHeldOut ? 0 : look.smoothing, isLogarithmic, zoom },
    key: [stage, name, isHeldOut, isLogarithmic, ...of.switchedOff].join(' '),
  };
  const title = t('{0} of {1}', figure.title, stages.find((one) => one.name === stage)?.label ?? stage);
  const missing = undrawn(lines, drawing);
  const words = [described(title, figure, looked), missing];
  return chartSection({
    ...{ figure, title, look, zoom, onLook, isAsMeasured: isHeldOut },
    selects: [
      inlineSelect(
        t('Stage'),
        stages.map((one) => ({ value: one.name, label: one.label })),
        stage,
        (value) => onChoose({ stage: value }),
      ),
      inlineSelect(
        t('Metric'),
        shown.figures.map((one) => ({ value: one, label: figures[one].title })),
        name,
        (value) => onChoose({ figure: value as FigureName }),
      ),
      canBeHeldOut
        ? inlineSelect(
            t('Measured on'),
            [
              { value: 'training', label: t('training data') },
              { value: 'held-out', label: t('held-out tasks') },
            ],
            isHeldOut ? 'held-out' : 'training',
            (value) => onHeldOut(value === 'held-out'),
          )
        : nothing,
    ],
    chart: (onSteps) => drawn(pictureOf(lines, drawing), words, onSteps),
    undrawn: missing,
    table: () => curveTable(figure, looked),
    legend: legend(of),
  });
}

function linesOf({ shown, curves, switchedOff }: Courses, isHeldOut: boolean): Line[] {
  return shown.runs.flatMap(({ id, name }, index) => {
    const points = (isHeldOut ? curves[index]?.heldOut : curves[index]?.training) ?? [];
    return switchedOff.includes(id) || points.length === 0 ? [] : [{ index, name, points }];
  });
}

/** Draws the legend; a press on an entry hides or shows its line. */
function legend({ shown, curves, look, switchedOff, onSwitch }: Courses): TemplateResult {
  return html`<div class="legend" role="group" aria-label=${t('Runs in the chart')}>
    ${shown.runs.map(({ id, name }, index) => {
      const isOff = switchedOff.includes(id);
      return html`<button
        type="button"
        class="switch"
        aria-pressed=${!isOff}
        title=${isOff ? t('Show this run') : t('Hide this run')}
        @click=${() => onSwitch(isOff ? switchedOff.filter((one) => one !== id) : [...switchedOff, id])}
      >
        ${sample(index)}<span>${name}</span>${
          (curves[index]?.training.length ?? 0) === 0
            ? html`<span class="quiet">${t('no such metric')}</span>`
            : nothing
        }
      </button>`;
    })}
    ${zoomHint(look)}
  </div>`;
}

/** Describes the picture for screen readers. */
function described(title: string, figure: FigureStyle, lines: readonly Line[]): string {
  const courses = lines.flatMap(({ name, points }) => {
    const [first, last] = [points[0], points.at(-1)];
    if (first === undefined || last === undefined) return [];
    return t(
      '{0}: from {1} at step {2} to {3} at step {4}',
      ...[name, figure.format(first.mean), first.step, figure.format(last.mean), last.step],
    );
  });
  return `${[title, ...courses].join('. ')}.`;
}
