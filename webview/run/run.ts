import { html, nothing, type PropertyValues, type TemplateResult, svg } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import '../ui/page.css';
import './run.css';
import { grown, type ChartedCurves } from '../chart/curves';
import { choiceOf, lookOf } from '../chart/savedChart';
import type { Choice, Look, FigureName } from '../chart/protocol';
import { PageElement } from '../dialogue/element';
import { editorApi } from '../editorApi';
import { t, decimal } from '../language';
import { linkButton, help, iconButton } from '../ui';
import { course } from './curveCharts';
import type {
  EventListView,
  FromWebview,
  PanelState,
  RunView,
  SamplesView,
  ToWebview,
  FigureView,
  CandidateView,
  MessageView,
} from './protocol';
import { act, announcement, clusterNodes, header, outcome, stepper } from './status';
import { figures } from '../chart/figures';
import { withVisibleControls } from '../dialogue/protocol';
import { numberColumn, table } from '../ui/table';

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
      onLook: (chosen) => {
        this.look = chosen;
        this.keep();
      },
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

/** The list of metrics has all figures. */
const headline: readonly FigureName[] = ['accuracy', 'success', 'loss', 'tokens_per_second', 'memory_mb'];

const WIDTH = 96;
const HEIGHT = 22;

/** Screen readers skip it and read the number beside it. */
function spark(values: readonly number[], isHeldOut: boolean): TemplateResult {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const y = (value: number): number =>
    high === low ? HEIGHT / 2 : HEIGHT - 2 - ((value - low) / (high - low)) * (HEIGHT - 4);
  const points = values.map((value, index) => {
    const x = values.length === 1 ? 0 : (index / (values.length - 1)) * WIDTH;
    return `${x.toFixed(1)},${y(value).toFixed(1)}`;
  });
  return html`<svg
    class="spark ${isHeldOut ? 'held-out' : ''}"
    viewBox="0 0 ${WIDTH} ${HEIGHT}"
    aria-hidden="true"
    focusable="false"
  >
    ${svg`<polyline points=${points.join(' ')} />`}
  </svg>`;
}

export function tiles(
  { figures: all, figure: chosen }: RunView,
  choose: (figure: FigureName) => void,
): TemplateResult {
  const row = headline.flatMap((name) => all.find((figure) => figure.name === name) ?? []);
  return html`<div class="figures" role="group" aria-label=${t('Figures')}>
    ${row.map((figure) => tile(figure, figure.name === chosen, choose))}
  </div>`;
}

function tile(view: FigureView, isChosen: boolean, choose: (figure: FigureName) => void): TemplateResult {
  const { name, training, heldOut, untrained, outline, isOutlineHeldOut } = view;
  const { title, format } = figures[name];
  const value = heldOut ?? training;
  return html`<button type="button" class="figure" aria-pressed=${isChosen} @click=${() => choose(name)}>
    <span class="quiet">${heldOut === undefined ? title : t('{0}, held out', title)}</span>
    <span class="value"
      ><span>${value === undefined ? '–' : format(value)}</span>${
        outline.length > 1 ? spark(outline, isOutlineHeldOut) : nothing
      }</span
    >
    ${untrained === undefined ? nothing : html`<span class="quiet">${t('untrained {0}', format(untrained))}</span>`}
  </button>`;
}

export function sampled(
  groups: SamplesView['groups'],
  shown: number,
  turn: (to: number) => void,
): TemplateResult | typeof nothing {
  const group = groups[shown];
  if (group === undefined) return nothing;
  const { length } = groups;
  const by = (step: number) => (): void => turn((shown + step + length) % length);
  return html`<section aria-label=${t('Sampled turns')}>
    <div class="heading-line">
      <h2>${t('Highest- and lowest-scored turns')}</h2>
      <span class="quiet">${t('history {0} of {1}', shown + 1, length)}</span>
      ${
        length === 1
          ? nothing
          : html`<span>
              ${iconButton({ icon: 'chevron-left', label: t('Previous history'), onPress: by(-1) })}
              ${iconButton({ icon: 'chevron-right', label: t('Next history'), onPress: by(1) })}
            </span>`
      }
    </div>
    ${before(group.history)} ${candidateTable(group.candidates)}
    <p class="legend quiet">${t('Scores of the critic and of the same model before training.')}</p>
  </section>`;
}

function before(history: readonly MessageView[]): TemplateResult | typeof nothing {
  const last = history.at(-1);
  if (last === undefined) return nothing;
  const earlier = history.slice(0, -1);
  return html`<div class="before">
    ${
      earlier.length === 0
        ? nothing
        : html`<details>
            <summary>
              ${earlier.length === 1 ? t('1 earlier message') : t('{0} earlier messages', earlier.length)}
            </summary>
            ${earlier.map(message)}
          </details>`
    }
    ${message(last)}
  </div>`;
}

const message = ({ isAgent, text }: MessageView): TemplateResult =>
  html`<p>
    <span class="quiet">${isAgent ? t('Agent') : t('Collaborator')}</span> ${withVisibleControls(text.trim())}
  </p>`;

function candidateTable(candidates: readonly CandidateView[]): TemplateResult {
  const score = (value: number | undefined): string =>
    value === undefined ? '–' : decimal(value, 3).replace('-', '−');
  return table(
    t('Candidates'),
    [...[t('Critic'), t('Untrained'), t('Sampled')].map(numberColumn), t('Turn')],
    candidates.map(
      ({ text, times, score: trained, untrained }) =>
        html`<td class="number">${score(trained)}</td>
          <td class="number">${score(untrained)}</td>
          <td class="number">${t('{0}×', times)}</td>
          <td class="text">${withVisibleControls(text.trim())}</td>`,
    ),
    'candidates',
  );
}
