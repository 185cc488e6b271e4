import '../language/page';
import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import '../ui/page.css';
import './run.css';
import { grown, type ChartedCurves } from '../chart/curves';
import { choiceOf, lookOf } from '../chart/savedChart';
import type { Choice, Look } from '../chart/protocol';
import { PageElement } from '../dialogue/page';
import { editorApi } from '../editorApi';
import { t } from '../language';
import { linkButton } from '../ui';
import { help } from '../ui/help';
import { course } from './curveCharts';
import type { EventListView, FromWebview, PanelState, RunView, SamplesView, ToWebview } from './protocol';
import { sampled } from './samples';
import { act, announcement, clusterNodes, header, outcome, stepper } from './status';
import { tiles } from './tiles';

const api = editorApi<FromWebview, PanelState>();

@customElement('tandem-run')
export class RunElement extends PageElement<ToWebview> {
  @state() private shown: RunView | undefined;
  /** Of all charts shown so far. */
  @state() private curves: ChartedCurves = new Map();
  @state() private samples: SamplesView['groups'] = [];
  @state() private sample = 0;
  @state() private told: EventListView | undefined;
  @state() private said = '';
  @state() private choice: Choice = choiceOf(api.getState());
  @state() private look: Look = lookOf(api.getState());

  protected override ask(): void {
    api.postMessage({ type: 'ready', choice: this.choice });
  }

  override render(): TemplateResult {
    const { shown } = this;
    if (shown === undefined) return html``;
    return html`<main tabindex="0" aria-label=${shown.name}>
      ${header(shown)} ${stepper(shown, shown.stage, (stage) => this.choose({ stage }))} ${outcome(shown)}
      ${
        shown.stage === ''
          ? html`<p class="first quiet">${nothingYet(shown)}</p>`
          : html`${tiles(shown, (figure) => this.choose({ figure }))} ${this.course(shown)}`
      }
      ${clusterNodes(shown)} ${sampled(this.samples, this.sample, (to) => (this.sample = to))}
      ${events(this.told)}
      ${help(t('A run trains a critic or a policy on dialogues, stage by stage; held-out examples show whether it learns.'), 'training')}
      <div role="status" class="unseen">${this.said}</div>
    </main>`;
  }

  protected override willUpdate(changed: PropertyValues): void {
    super.willUpdate(changed);
    if (this.sample >= this.samples.length) this.sample = 0;
  }

  protected override receive(message: ToWebview): void {
    switch (message.type) {
      case 'show': {
        const before = this.shown;
        this.shown = message;
        this.keep();
        this.said = announcement(before, message) ?? this.said;
        break;
      }
      case 'curves':
        this.curves = grown(this.curves, message);
        break;
      case 'samples':
        this.samples = message.groups;
        break;
      case 'told':
        this.told = message;
    }
  }

  private choose(choice: Choice): void {
    this.choice = { ...this.choice, ...choice };
    api.postMessage({ type: 'choose', choice: this.choice });
    this.keep();
  }

  private keep(): void {
    if (this.shown === undefined) return;
    const { dataFolder, id } = this.shown;
    api.setState({ dataFolder, id, choice: this.choice, ...this.look });
  }

  private course(shown: RunView): TemplateResult {
    const { curves, look } = this;
    return course({
      ...{ shown, curves, look },
      onChoose: (choice) => this.choose(choice),
      onPin: ({ stage, figure }, isPinned) => api.postMessage({ type: 'pin', stage, figure, isPinned }),
      onLook: (chosen) => {
        this.look = chosen;
        this.keep();
      },
      onSave: (file) => api.postMessage({ type: 'save', file }),
    });
  }
}

function events(told: EventListView | undefined): TemplateResult | typeof nothing {
  if (told === undefined || told.lines.length === 0) return nothing;
  return html`<section aria-label=${t('Events')}>
    <h2>${t('Events')}</h2>
    <ul class="events">
      ${told.lines.map(({ time, text }) => html`<li><time class="quiet">${time}</time><span>${text}</span></li>`)}
    </ul>
    ${
      told.more === ''
        ? nothing
        : html`<p class="quiet">${told.more} ${linkButton(t('Open the event file'), () => act('events'))}</p>`
    }
  </section>`;
}

function nothingYet({ isLive, state }: RunView): string {
  return isLive || state === 'queued'
    ? t('Curves appear here with the first step, once the data are prepared and the model is loaded.')
    : t('There are no curves: no step was made.');
}
