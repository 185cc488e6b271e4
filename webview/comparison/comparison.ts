import '../language/page';
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import '../run/run.css';
import './comparison.css';
import '../run/chart';
import '../statistics/picture';
import { PlainElement } from '../dialogue/element';
import { t } from '../language';
import { select, SMOOTHINGS } from '../run/choices';
import { joined, type Point } from '../run/curves';
import { figures, type Figure } from '../run/figures';
import type { FigureName } from '../run/protocol';
import { described as describedBars, success } from '../statistics/measures';
import { bars, barsHeight } from '../statistics/pictures';
import type { GroupView } from '../statistics/protocol';
import { button, linkButton, progress } from '../ui';
import type { Theme } from '../ui/theme';
import { host } from './host';
import { pictureOf, sample, type Line } from './lines';
import type { Choice, ComparisonView, CurvesView, StandingView, ToWebview } from './protocol';
import { controlTable, curveTable, differenceTable, runTable, standingTable } from './tables';

interface Curves {
  readonly training: readonly Point[];
  readonly heldOut: readonly Point[];
}

/** Runs beside each other: their curves, what differs in their configurations, and how their models do. */
@customElement('tandem-comparison')
export class ComparisonElement extends PlainElement {
  @state() private shown: ComparisonView | undefined;
  @state() private curves: readonly Curves[] = [];
  @state() private choice: Choice = host.kept()?.choice ?? {};
  @state() private isHeldOut = host.kept()?.isHeldOut ?? false;
  @state() private smoothing = host.kept()?.smoothing ?? 0.6;
  @state() private isLogarithmic = host.kept()?.isLogarithmic ?? false;
  @state() private asTable = host.kept()?.asTable ?? false;
  @state() private switchedOff: readonly string[] = host.kept()?.switchedOff ?? [];

  override connectedCallback(): void {
    super.connectedCallback();
    window.addEventListener('message', ({ data }: MessageEvent<ToWebview>) => this.receive(data));
    host.send({ type: 'ready', choice: this.choice });
  }

  override render(): TemplateResult {
    const { shown } = this;
    if (shown === undefined) return html``;
    const title = t('Comparison of {0} runs', shown.runs.length);
    return html`<main tabindex="0" aria-label=${title}>
      <header>
        <h1>${title}</h1>
        <div class="controls">
          ${button({
            label: t('Write report…'),
            icon: 'markdown',
            title: t('One Markdown file with pictures, to be committed or sent'),
            onPress: () => host.send({ type: 'act', action: 'report' }),
          })}
        </div>
      </header>
      ${runTable(shown.runs, (run) => host.send({ type: 'open', run }))}
      ${
        shown.stage === ''
          ? html`<p class="first quiet">
              ${t('There are no curves yet: none of the runs has made a step.')}
            </p>`
          : this.chart(shown)
      }
      ${this.standings(shown)} ${controls(shown)} ${configurations(shown)}
    </main>`;
  }

  private receive(message: ToWebview): void {
    if (message.type === 'curves') this.curves = message.curves.map(curvesOf);
    else {
      this.shown = message;
      this.keep();
    }
  }

  private choose(choice: Choice): void {
    this.choice = { ...this.choice, ...choice };
    host.send({ type: 'choose', choice: this.choice });
    this.keep();
  }

  private look(
    how: Partial<{
      readonly isHeldOut: boolean;
      readonly smoothing: number;
      readonly isLogarithmic: boolean;
      readonly asTable: boolean;
      readonly switchedOff: readonly string[];
    }>,
  ): void {
    Object.assign(this, how);
    this.keep();
  }

  private keep(): void {
    if (this.shown === undefined) return;
    const { dataFolder, ids } = this.shown;
    const { choice, isHeldOut, smoothing, isLogarithmic, asTable, switchedOff } = this;
    host.keep({ dataFolder, ids, choice, isHeldOut, smoothing, isLogarithmic, asTable, switchedOff });
  }

  private chart(shown: ComparisonView): TemplateResult {
    const { stage, stages, figure: name } = shown;
    const figure = figures[name];
    const canBeHeldOut = this.curves.some(({ heldOut }) => heldOut.length > 0);
    const isHeldOut = this.isHeldOut && canBeHeldOut;
    const lines = this.lines(shown, isHeldOut);
    const { smoothing, isLogarithmic } = this;
    const drawing = {
      ...{ figure, smoothing: isHeldOut ? 0 : smoothing, isLogarithmic },
      key: [stage, name, isHeldOut, isLogarithmic, ...this.switchedOff].join(' '),
    };
    const title = t('{0} of {1}', figure.title, stages.find((one) => one.name === stage)?.label ?? stage);
    return html`<section class="chart" aria-label=${title}>
      <div class="chart-line">
        <h2>${title}</h2>
        <span class="quiet">${figure.note}</span>
      </div>
      <div class="choices-line">
        ${select(
          t('Stage'),
          stages.map((one) => ({ value: one.name, label: one.label })),
          stage,
          (value) => this.choose({ stage: value }),
        )}
        ${select(
          t('Figure'),
          shown.figures.map((one) => ({ value: one, label: figures[one].title })),
          name,
          (value) => this.choose({ figure: value as FigureName }),
        )}
        ${
          canBeHeldOut
            ? select(
                t('Measured on'),
                [
                  { value: 'training', label: t('what is trained on') },
                  { value: 'held-out', label: t('held-out tasks') },
                ],
                isHeldOut ? 'held-out' : 'training',
                (value) => this.look({ isHeldOut: value === 'held-out' }),
              )
            : nothing
        }
        ${
          isHeldOut
            ? nothing
            : select(
                t('Smoothing'),
                SMOOTHINGS.map(({ amount, label }) => ({ value: String(amount), label })),
                String(smoothing),
                (value) => this.look({ smoothing: Number(value) }),
              )
        }
        <label class="check"
          ><input
            type="checkbox"
            .checked=${isLogarithmic}
            @change=${() => this.look({ isLogarithmic: !isLogarithmic })}
          />${t('Logarithmic')}</label
        >
        ${button({
          label: this.asTable ? t('Show the picture') : t('Show the table'),
          icon: this.asTable ? 'graph-line' : 'table',
          onPress: () => this.look({ asTable: !this.asTable }),
        })}
      </div>
      ${
        this.asTable
          ? curveTable(figure, lines)
          : html`<tandem-chart
              .picture=${pictureOf(lines, drawing)}
              .label=${described(title, figure, lines)}
            ></tandem-chart>`
      }
      ${this.legend(shown)}
    </section>`;
  }

  private lines({ runs }: ComparisonView, isHeldOut: boolean): Line[] {
    return runs.flatMap(({ id, name }, index) => {
      const curves = this.curves[index];
      const points = (isHeldOut ? curves?.heldOut : curves?.training) ?? [];
      return this.switchedOff.includes(id) || points.length === 0 ? [] : [{ index, name, points }];
    });
  }

  /** Each line with its name, to be switched on and off. */
  private legend({ runs }: ComparisonView): TemplateResult {
    return html`<div class="legend switches" role="group" aria-label=${t('Runs in the picture')}>
      ${runs.map(({ id, name }, index) => {
        const isOff = this.switchedOff.includes(id);
        return html`<button
          type="button"
          class="switch"
          aria-pressed=${!isOff}
          title=${isOff ? t('Show this run') : t('Hide this run')}
          @click=${() =>
            this.look({
              switchedOff: isOff ? this.switchedOff.filter((one) => one !== id) : [...this.switchedOff, id],
            })}
        >
          ${sample(index)}<span>${name}</span>${
            (this.curves[index]?.training.length ?? 0) === 0
              ? html`<span class="quiet">${t('no such figure')}</span>`
              : nothing
          }
        </button>`;
      })}
      ${this.asTable ? nothing : html`<span class="quiet">${t('Ctrl and the wheel zoom.')}</span>`}
    </div>`;
  }

  private standings({ standings, runs, restriction, playing }: ComparisonView): TemplateResult {
    const silent = runs.map((run) => run.silent).filter((sentence) => sentence !== '');
    const canPlay = silent.length < runs.length && restriction === '';
    return html`<section aria-label=${t('Held-out success')}>
      <div class="chart-line">
        <h2>${t('Held-out success')}</h2>
        <span class="quiet"
          >${t('on tasks that none of the runs learned from, the same tasks and seeds for all')}</span
        >
      </div>
      ${standings.map(
        (one) =>
          html`<p class="standing">${one.title} <span class="quiet">${one.how}</span></p>
            ${successPicture(one)} ${standingTable(one)}`,
      )}
      ${
        standings.length === 0
          ? html`<p class="quiet">
              ${t('They have not been evaluated together. An evaluation plays held-out tasks with the model of each run.')}
            </p>`
          : html`<p class="quiet">
              ${t('Intervals of 95 %: of success by Wilson over tasks; of differences, in percentage points, by the bootstrap over tasks, each task compared with itself.')}
            </p>`
      }
      ${
        restriction === ''
          ? nothing
          : html`<p class="quiet">
              ${restriction}
              ${linkButton(t('Manage Workspace Trust'), () => host.send({ type: 'act', action: 'trust' }))}
            </p>`
      }
      ${silent.map((sentence) => html`<p class="quiet">${sentence}</p>`)}
      ${
        playing !== ''
          ? progress(playing)
          : canPlay
            ? button({
                label: t('Evaluate…'),
                kind: 'primary',
                icon: 'beaker',
                title: t('Choose the tasks, then play them with each model'),
                onPress: () => host.send({ type: 'act', action: 'evaluate' }),
              })
            : nothing
      }
    </section>`;
  }
}

const curvesOf = ({ training, heldOut }: CurvesView['curves'][number]): Curves => ({
  training: joined([], training),
  heldOut: joined([], heldOut),
});

/** Success with its intervals at one look; the table has the numbers. */
function successPicture({ rows }: StandingView): TemplateResult {
  const groups = rows.map(({ name, dialogues, success: value }): GroupView => ({
    ...{ name, dialogues, graded: dialogues },
    ...(value && { success: { value: value.mean, interval: value } }),
  }));
  return html`<tandem-picture
    .draw=${(theme: Theme) => bars(success, groups, theme)}
    .height=${barsHeight(groups.length)}
    .label=${describedBars(success, groups)}
  ></tandem-picture>`;
}

/** Each critic beside the score of the model before it was trained. */
function controls({ controls: all, runs }: ComparisonView): TemplateResult | typeof nothing {
  if (all.length === 0) return nothing;
  return html`<section>
    <div class="chart-line">
      <h2>${t('Critics and their control')}</h2>
      <span class="quiet"
        >${t('the untrained score: what the model would have liked without having learned')}</span
      >
    </div>
    ${controlTable(all, runs)}
    <p class="quiet">
      ${t('A rank correlation near 1 means that the critic orders turns as the untrained score does; near 0, that it says something of its own.')}
    </p>
  </section>`;
}

function configurations({ differences, runs }: ComparisonView): TemplateResult {
  return html`<section>
    <div class="chart-line">
      <h2>${t('Configurations')}</h2>
      <span class="quiet">${t('only what differs')}</span>
    </div>
    ${
      differences.length === 0
        ? html`<p class="quiet">${t('They are the same, but for names and data.')}</p>`
        : differenceTable(differences, runs)
    }
    ${button({
      label: t('Open as diff'),
      icon: 'diff',
      title: t('The configurations of two runs side by side'),
      onPress: () => host.send({ type: 'act', action: 'diff' }),
    })}
  </section>`;
}

/** The picture in words. */
function described(title: string, figure: Figure, lines: readonly Line[]): string {
  const courses = lines.map(({ name, points }) => {
    const [first, last] = [points[0]!, points.at(-1)!];
    return t(
      '{0}: from {1} at step {2} to {3} at step {4}',
      ...[name, figure.format(first.mean), first.step, figure.format(last.mean), last.step],
    );
  });
  return [title, ...courses].join('. ');
}
