import '../language/page';
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import '../ui/page.css';
import './comparison.css';
import { grown, noCurves, type RunCurves } from '../chart/curves';
import { chartKey, type Choice, type Look } from '../chart/protocol';
import { choiceOf, lookOf } from '../chart/savedChart';
import { PageElement } from '../dialogue/page';
import { isFlag, isListOfTexts, part } from '../savedState';
import { t } from '../language';
import { button } from '../ui';
import { help } from '../ui/help';
import { courses } from './curveCharts';
import { host } from './host';
import type { ComparisonView, CurvesView, ToWebview } from './protocol';
import { measuredRuns } from './measuredRuns';
import { controlTable, differenceTable, runTable } from './tables';

@customElement('tandem-comparison')
export class ComparisonElement extends PageElement<ToWebview> {
  protected override readonly kinds = {
    show: true,
    curves: true,
  } as const;
  @state() private shown: ComparisonView | undefined;
  /** Of all charts shown so far, by chart key; one entry for each run. */
  @state() private curves: ReadonlyMap<string, readonly RunCurves[]> = new Map();
  @state() private choice: Choice = choiceOf(host.kept());
  @state() private look: Look = lookOf(host.kept());
  @state() private isHeldOut = part(host.kept(), 'isHeldOut', isFlag) ?? false;
  @state() private switchedOff: readonly string[] = part(host.kept(), 'switchedOff', isListOfTexts) ?? [];

  protected override ask(): void {
    host.send({ type: 'ready', choice: this.choice });
  }

  override render(): TemplateResult {
    const { shown } = this;
    if (shown === undefined) return html``;
    const [first, ...others] = shown.runs;
    const title =
      others.length === 0
        ? t('{0} vs. base model', first!.name)
        : t('Comparison of {0} runs', shown.runs.length);
    return html`<main tabindex="0" aria-label=${title}>
      <header>
        <h1>${title}</h1>
        <div class="controls">
          ${button({
            label: t('Write report…'),
            icon: 'markdown',
            title: t('A Markdown file with pictures, to commit or send'),
            onPress: () => host.send({ type: 'act', action: 'report' }),
          })}
        </div>
      </header>
      ${runTable(shown.runs, (run) => host.send({ type: 'open', run }))} ${measuredRuns(shown)}
      ${
        shown.stage === ''
          ? html`<p class="first quiet">
              ${t('There are no curves yet: none of the runs has made a step.')}
            </p>`
          : this.courses(shown)
      }
      ${controls(shown)} ${others.length === 0 ? nothing : configurations(shown)}
      ${help(t('A comparison puts runs beside each other: their curves, their success on held-out tasks, and what differs in their configurations.'), 'training')}
    </main>`;
  }

  protected override receive(message: ToWebview): void {
    if (message.type === 'curves') this.draw(message);
    else {
      this.shown = message;
      this.keep();
    }
  }

  private draw({ charts }: CurvesView): void {
    const news = charts.map((chart) => {
      const key = chartKey(chart);
      const before = this.curves.get(key) ?? [];
      return [key, chart.curves.map((one, run) => grown(before[run] ?? noCurves, one))] as const;
    });
    this.curves = new Map([...this.curves, ...news]);
  }

  private choose(choice: Choice): void {
    this.choice = { ...this.choice, ...choice };
    host.send({ type: 'choose', choice: this.choice });
    this.keep();
  }

  private keep(): void {
    if (this.shown === undefined) return;
    const { dataFolder, ids } = this.shown;
    const { choice, look, isHeldOut, switchedOff } = this;
    host.keep({ dataFolder, ids, choice, isHeldOut, ...look, switchedOff });
  }

  private courses(shown: ComparisonView): TemplateResult {
    const { curves, look, isHeldOut, switchedOff } = this;
    return courses({
      ...{ shown, curves, look, isHeldOut, switchedOff },
      onChoose: (choice) => this.choose(choice),
      onPin: ({ stage, figure }, isPinned) => host.send({ type: 'pin', stage, figure, isPinned }),
      onLook: (chosen) => this.see({ look: chosen }),
      onHeldOut: (chosen) => this.see({ isHeldOut: chosen }),
      onSwitch: (chosen) => this.see({ switchedOff: chosen }),
      onSave: (file) => host.send({ type: 'save', file }),
    });
  }

  private see(how: {
    readonly look?: Look;
    readonly isHeldOut?: boolean;
    readonly switchedOff?: readonly string[];
  }): void {
    Object.assign(this, how);
    this.keep();
  }
}

function controls({ controls: all, runs }: ComparisonView): TemplateResult | typeof nothing {
  if (all.length === 0) return nothing;
  return html`<section>
    <div class="heading-line">
      <h2>${t('Critics vs. untrained baseline')}</h2>
      <span class="quiet">${t('untrained baseline: the scores of the same model before training')}</span>
    </div>
    ${controlTable(all, runs)}
    <p class="quiet">
      ${t('A rank correlation near 1 means that the critic orders turns as the untrained baseline does; near 0, that training has changed the order.')}
    </p>
  </section>`;
}

function configurations({ differences, runs }: ComparisonView): TemplateResult {
  return html`<section>
    <div class="heading-line">
      <h2>${t('Configurations')}</h2>
      <span class="quiet">${t('differences only')}</span>
    </div>
    ${
      differences.length === 0
        ? html`<p class="quiet">${t('They are identical except for names and data.')}</p>`
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
