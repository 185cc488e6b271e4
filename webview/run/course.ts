import { html, nothing, type TemplateResult } from 'lit';
import { latestWithin, some, type Point } from '../chart/curves';
import { figures, type Figure } from '../chart/figures';
import type { FigureName, Look } from '../chart/protocol';
import { chartSection, zoomHint } from '../chart/section';
import { inRange, zoomOf } from '../chart/steps';
import { t } from '../language';
import { grouped } from '../language/numbers';
import { inlineSelect } from '../ui/inline';
import { numberColumn, table } from '../ui/table';
import { pictureOf, undrawn, type Drawing } from './drawing';
import type { RunView } from './protocol';

export interface Course {
  readonly shown: RunView;
  readonly training: readonly Point[];
  readonly heldOut: readonly Point[];
  readonly stepsPerPoint: number;
  readonly look: Look;
  readonly onFigure: (figure: FigureName) => void;
  readonly onLook: (look: Look) => void;
}

/** How one figure of a stage has gone: on what is trained on, and on what is held out. */
export function course(of: Course): TemplateResult {
  const { shown, look, stepsPerPoint, onFigure, onLook } = of;
  const { figures: all, figure: name, stage, stages } = shown;
  const figure = figures[name];
  const { smoothing, isLogarithmic, steps } = look;
  const zoom = zoomOf(steps, stage, [of.training, of.heldOut]);
  const training = inRange(of.training, zoom.shown);
  const heldOut = inRange(of.heldOut, zoom.shown);
  const drawing: Drawing = {
    ...{ figure, training: of.training, heldOut: of.heldOut, smoothing, isLogarithmic, zoom },
    untrained: all.find((one) => one.name === name)?.untrained,
    key: [stage, name, isLogarithmic].join(' '),
  };
  const stageLabel = stages.find((one) => one.name === stage)?.label ?? stage;
  return chartSection({
    ...{ figure, look, onLook },
    title: t('{0} of {1}', figure.title, stageLabel),
    selects: [
      inlineSelect(
        t('Metric'),
        all.map((one) => ({ value: one.name, label: figures[one.name].title })),
        name,
        (value) => onFigure(value as FigureName),
      ),
    ],
    picture: pictureOf(drawing),
    label: described({ ...drawing, training, heldOut }, stageLabel),
    undrawn: undrawn(drawing),
    table: () => curveTable(figure, training, heldOut),
    legend: html`<p class="legend quiet">
      <span class="key training">${t('training')}</span>
      ${
        of.heldOut.length === 0
          ? nothing
          : html`<span class="key held-out">${t('held-out tasks, which are never trained on')}</span>`
      }
      ${
        drawing.untrained === undefined
          ? nothing
          : html`<span class="key untrained"
              >${t('untrained baseline on the same pairs: {0}', figure.format(drawing.untrained))}</span
            >`
      }
      ${
        stepsPerPoint === 1
          ? nothing
          : html`<span>${t('A point is the mean of {0} steps.', grouped(stepsPerPoint))}</span>`
      }
      ${zoomHint(look)}
    </p>`,
  });
}

/** The picture in one sentence. */
function described({ figure, training, heldOut, untrained }: Drawing, stage: string): string {
  const [first, last] = [training[0], training.at(-1)];
  if (first === undefined || last === undefined) return t('{0} of {1}', figure.title, stage);
  const course = t(
    '{0} of {1}, from {2} at step {3} to {4} at step {5}.',
    figure.title,
    stage,
    figure.format(first.mean),
    first.step,
    figure.format(last.mean),
    last.step,
  );
  const measured = heldOut.at(-1);
  return [
    course,
    ...(measured === undefined
      ? []
      : [t('Held out {0} at step {1}.', figure.format(measured.mean), measured.step)]),
    ...(untrained === undefined ? [] : [t('Untrained baseline: {0}.', figure.format(untrained))]),
  ].join(' ');
}

const MOST_ROWS = 40;

/** The curves as numbers, for those who cannot see them: some steps, evenly over what is shown. */
function curveTable(figure: Figure, training: readonly Point[], heldOut: readonly Point[]): TemplateResult {
  // The held-out examples are looked at before the first step as well.
  const early = heldOut.filter(({ step }) => step < (training[0]?.step ?? Infinity));
  const rows = [...some(early, MOST_ROWS), ...some(training, MOST_ROWS)];
  const isMean = training.some(({ low, high }) => low !== high);
  const cell = (value: number | undefined): string => (value === undefined ? '' : figure.format(value));
  return table(
    figure.title,
    html`<thead>
        <tr>
          ${numberColumn(t('Step'))} ${numberColumn(t('Training'))}
          ${isMean ? [numberColumn(t('Lowest')), numberColumn(t('Highest'))] : nothing}
          ${heldOut.length === 0 ? nothing : numberColumn(t('Held-out'))}
        </tr>
      </thead>
      <tbody>
        ${rows.map(({ step }, index) => {
          const before = rows[index - 1]?.step ?? -1;
          const at = latestWithin(training, before, step);
          const values = [
            at?.mean,
            ...(isMean ? [at?.low, at?.high] : []),
            ...(heldOut.length === 0 ? [] : [latestWithin(heldOut, before, step)?.mean]),
          ];
          return html`<tr>
            <th scope="row" class="number">${grouped(step)}</th>
            ${values.map((value) => html`<td class="number">${cell(value)}</td>`)}
          </tr>`;
        })}
      </tbody>`,
  );
}
