import '../language/page';
import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import './run.css';
import './chart';
import { PlainElement } from '../dialogue/element';
import { t } from '../language';
import { grouped } from '../language/numbers';
import { button, icon, iconButton, linkButton } from '../ui';
import { announcement } from './announce';
import { select, SHARES, SMOOTHINGS } from './choices';
import { joined, lastShare, type Point } from './curves';
import { pictureOf, type Drawing } from './drawing';
import { figures, headline } from './figures';
import { host } from './host';
import { candidateTable, curveTable, spark, stepper } from './parts';
import type {
  Choice,
  CurveView,
  FigureName,
  FigureView,
  RunState,
  RunView,
  SamplesView,
  ToldView,
  ToWebview,
} from './protocol';

const stateIcons: Readonly<Record<RunState, string>> = {
  preparing: 'loading',
  running: 'play-circle',
  stopping: 'debug-pause',
  stopped: 'debug-pause',
  queued: 'clock',
  done: 'pass-filled',
  failed: 'error',
  died: 'error',
};

/** A training run: where it stands, how it learns, and what can be done with it. */
@customElement('tandem-run')
export class RunElement extends PlainElement {
  @state() private shown: RunView | undefined;
  @state() private training: readonly Point[] = [];
  @state() private heldOut: readonly Point[] = [];
  @state() private stepsPerPoint = 1;
  @state() private samples: SamplesView['groups'] = [];
  @state() private sample = 0;
  @state() private told: ToldView['lines'] = [];
  @state() private said = '';
  @state() private choice: Choice = host.kept()?.choice ?? {};
  @state() private smoothing = host.kept()?.smoothing ?? 0.6;
  @state() private isLogarithmic = host.kept()?.isLogarithmic ?? false;
  @state() private asTable = host.kept()?.asTable ?? false;
  @state() private share = 1;
  /** Of which stage and figure the curves are. */
  private curves = '';

  override connectedCallback(): void {
    super.connectedCallback();
    window.addEventListener('message', ({ data }: MessageEvent<ToWebview>) => this.receive(data));
    host.ready(this.choice);
  }

  override render(): TemplateResult {
    const { shown } = this;
    if (shown === undefined) return html``;
    return html`<main tabindex="0" aria-label=${shown.name}>
      ${this.header(shown)} ${stepper(shown, shown.stage, (stage) => this.choose({ stage }))}
      ${this.outcome(shown)}
      ${
        shown.stage === ''
          ? html`<p class="first quiet">${nothingYet(shown)}</p>`
          : html`${this.headlines(shown)} ${this.chart(shown)}`
      }
      ${this.sampled()} ${this.events()}
      <div role="status" class="unseen">${this.said}</div>
    </main>`;
  }

  protected override willUpdate(changed: PropertyValues): void {
    super.willUpdate(changed);
    if (this.sample >= this.samples.length) this.sample = 0;
  }

  private receive(message: ToWebview): void {
    switch (message.type) {
      case 'show':
        this.said = announcement(this.shown, message) ?? this.said;
        this.shown = message;
        this.keep();
        break;
      case 'curve':
        this.draw(message);
        break;
      case 'samples':
        this.samples = message.groups;
        break;
      case 'told':
        this.told = message.lines;
    }
  }

  private draw({ stage, figure, training, heldOut, stepsPerPoint }: CurveView): void {
    const curves = `${stage} ${figure}`;
    const isSame = curves === this.curves;
    this.curves = curves;
    this.training = joined(isSame ? this.training : [], training);
    this.heldOut = joined(isSame ? this.heldOut : [], heldOut);
    this.stepsPerPoint = stepsPerPoint;
  }

  private choose(choice: Choice): void {
    this.choice = { ...this.choice, ...choice };
    host.choose(this.choice);
    this.keep();
  }

  private keep(): void {
    if (this.shown === undefined) return;
    const { dataFolder, id } = this.shown;
    const { choice, smoothing, isLogarithmic, asTable } = this;
    host.keep({ dataFolder, id, choice, smoothing, isLogarithmic, asTable });
  }

  private header({ name, subject, data, state, stateLabel, isLive, canResume, restriction }: RunView) {
    const isAllowed = restriction === '';
    return html`<header>
      <div class="names">
        <h1>${name}</h1>
        <span class="state ${state}">${icon(stateIcons[state])}${stateLabel}</span>
        <span class="quiet">${[subject, data].filter((part) => part !== '').join(' · ')}</span>
      </div>
      <div class="controls">
        ${
          isLive && isAllowed
            ? html`${button({
                label: t('Pause'),
                icon: 'debug-pause',
                title: t('Writes a checkpoint and stops; it can be resumed'),
                disabled: state === 'stopping',
                onPress: () => host.act('pause'),
              })}
              ${iconButton({
                icon: 'debug-stop',
                label: t('Stop immediately…'),
                onPress: () => host.act('kill'),
              })}`
            : nothing
        }
        ${
          state === 'queued' && isAllowed
            ? html`${button({
                label: t('Start now'),
                icon: 'play',
                title: t('Begins beside the run that is at work'),
                onPress: () => host.act('startNow'),
              })}
              ${button({
                label: t('Leave the queue'),
                icon: 'close',
                title: t('It can be resumed or deleted then'),
                onPress: () => host.act('unqueue'),
              })}`
            : nothing
        }
        ${
          canResume && state !== 'queued' && isAllowed
            ? button({
                label: t('Resume'),
                kind: 'primary',
                icon: 'debug-continue',
                title: t('Goes on from the last checkpoint; waits while another run is at work'),
                onPress: () => host.act('resume'),
              })
            : nothing
        }
        ${
          state === 'done' && isAllowed
            ? button({
                label: t('Continue…'),
                icon: 'debug-continue',
                title: t('Another run that goes on where this one has ended, for more epochs'),
                onPress: () => host.act('continue'),
              })
            : nothing
        }
        ${iconButton({ icon: 'output', label: t('Open the trainer’s log'), onPress: () => host.act('log') })}
        ${iconButton({
          icon: 'json',
          label: t('Open the configuration'),
          onPress: () => host.act('configuration'),
        })}
        ${iconButton({
          icon: 'copy',
          label: t('Duplicate with changes…'),
          onPress: () => host.act('duplicate'),
        })}
        ${iconButton({
          icon: 'folder-opened',
          label: t('Reveal the folder'),
          onPress: () => host.act('reveal'),
        })}
      </div>
    </header>`;
  }

  /** What a run that is over comes to, with what to do next. */
  private outcome({ sentence, lastLines, result, restriction, isLive, canResume }: RunView) {
    const refused = restriction !== '' && (isLive || canResume);
    if (sentence === '' && lastLines.length === 0 && !refused) return nothing;
    return html`<section class="outcome" aria-label=${t('Outcome')}>
      ${sentence === '' ? nothing : html`<p>${sentence}</p>`}
      ${refused ? html`<p class="quiet">${restriction} ${manageTrust()}</p>` : nothing}
      ${
        lastLines.length === 0
          ? nothing
          : html`<p class="quiet">${t('The trainer said last:')}</p>
              <pre tabindex="0" role="region" aria-label=${t('Last lines of the log')}>
${lastLines.join('\n')}</pre>`
      }
      ${
        result === 'playable' && restriction === ''
          ? button({
              label: t('Play with it'),
              kind: 'primary',
              icon: 'hubot',
              title: t('Makes it the agent and opens the next task'),
              onPress: () => host.act('play'),
            })
          : nothing
      }
      ${
        result === 'model'
          ? html`<p class="quiet">
              ${t('It has no ONNX graph yet, with which it could play here.')}
              ${linkButton(t('Reveal the model'), () => host.act('reveal'))}
            </p>`
          : nothing
      }
    </section>`;
  }

  private headlines({ figures: all, figure: chosen }: RunView): TemplateResult {
    const row = headline.flatMap((name) => all.find((figure) => figure.name === name) ?? []);
    return html`<div class="figures" role="group" aria-label=${t('Figures')}>
      ${row.map((figure) => this.tile(figure, figure.name === chosen))}
    </div>`;
  }

  private tile(view: FigureView, isChosen: boolean): TemplateResult {
    const { name, training, heldOut, untrained, outline, isOutlineHeldOut } = view;
    const { title, format } = figures[name];
    const value = heldOut ?? training;
    return html`<button
      type="button"
      class="figure"
      aria-pressed=${isChosen}
      @click=${() => this.choose({ figure: name })}
    >
      <span class="quiet">${heldOut === undefined ? title : t('{0}, held out', title)}</span>
      <span class="value"
        ><span>${value === undefined ? '–' : format(value)}</span>${
          outline.length > 1 ? spark(outline, isOutlineHeldOut) : nothing
        }</span
      >
      ${untrained === undefined ? nothing : html`<span class="quiet">${t('untrained {0}', format(untrained))}</span>`}
    </button>`;
  }

  private chart({ figures: all, figure: name, stage, stages }: RunView): TemplateResult {
    const figure = figures[name];
    const training = lastShare(this.training, this.share);
    const heldOut = lastShare(this.heldOut, this.share);
    const drawing: Drawing = {
      ...{ figure, training, heldOut, smoothing: this.smoothing, isLogarithmic: this.isLogarithmic },
      untrained: all.find((one) => one.name === name)?.untrained,
      key: [stage, name, this.isLogarithmic, this.share].join(' '),
    };
    const stageLabel = stages.find((one) => one.name === stage)?.label ?? stage;
    return html`<section class="chart" aria-label=${t('{0} of {1}', figure.title, stageLabel)}>
      <div class="chart-line">
        <h2>${t('{0} of {1}', figure.title, stageLabel)}</h2>
        <span class="quiet">${figure.note}</span>
      </div>
      <div class="choices-line">
        ${select(
          t('Figure'),
          all.map((one) => ({ value: one.name, label: figures[one.name].title })),
          name,
          (value) => this.choose({ figure: value as FigureName }),
        )}
        ${select(
          t('Smoothing'),
          SMOOTHINGS.map(({ amount, label }) => ({ value: String(amount), label })),
          String(this.smoothing),
          (value) => this.look({ smoothing: Number(value) }),
        )}
        ${select(
          t('Steps'),
          SHARES.map(({ share, label }) => ({ value: String(share), label })),
          String(this.share),
          (value) => (this.share = Number(value)),
        )}
        <label class="check"
          ><input
            type="checkbox"
            .checked=${this.isLogarithmic}
            @change=${() => this.look({ isLogarithmic: !this.isLogarithmic })}
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
          ? curveTable(figure, training, heldOut)
          : html`<tandem-chart
              .picture=${pictureOf(drawing)}
              .label=${this.described(drawing, stageLabel)}
            ></tandem-chart>`
      }
      <p class="legend quiet">
        <span class="key training"></span>${t('training')}
        ${
          heldOut.length === 0
            ? nothing
            : html`<span class="key held-out"></span>${t('held-out tasks, which are never trained on')}`
        }
        ${
          drawing.untrained === undefined
            ? nothing
            : html`<span class="key untrained"></span
                >${t('the untrained score on the same pairs: {0}', figure.format(drawing.untrained))}`
        }
        ${
          this.stepsPerPoint === 1
            ? nothing
            : html`<span>${t('A point is the mean of {0} steps.', grouped(this.stepsPerPoint))}</span>`
        }
        ${this.asTable ? nothing : html`<span>${t('Ctrl and the wheel zoom.')}</span>`}
      </p>
    </section>`;
  }

  private look(how: Partial<Record<'isLogarithmic' | 'asTable', boolean> & { smoothing: number }>): void {
    this.smoothing = how.smoothing ?? this.smoothing;
    this.isLogarithmic = how.isLogarithmic ?? this.isLogarithmic;
    this.asTable = how.asTable ?? this.asTable;
    this.keep();
  }

  /** The picture in one sentence. */
  private described({ figure, training, heldOut, untrained }: Drawing, stage: string): string {
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
      ...(untrained === undefined ? [] : [t('The untrained score: {0}.', figure.format(untrained))]),
    ].join(' ');
  }

  private sampled(): TemplateResult | typeof nothing {
    const group = this.samples[this.sample];
    if (group === undefined) return nothing;
    const { length } = this.samples;
    const turn = (by: number): void => {
      this.sample = (this.sample + by + length) % length;
    };
    return html`<section aria-label=${t('Sampled turns')}>
      <div class="chart-line">
        <h2>${t('Turns that the critic likes and does not like')}</h2>
        <span class="quiet">${t('history {0} of {1}', this.sample + 1, length)}</span>
        ${iconButton({ icon: 'chevron-left', label: t('Previous history'), onPress: () => turn(-1) })}
        ${iconButton({ icon: 'chevron-right', label: t('Next history'), onPress: () => turn(1) })}
      </div>
      ${candidateTable(group.candidates)}
      <p class="legend quiet">
        <span
          >${t('Scores of the critic, and of the same model untrained: what it would like without having learned.')}</span
        >
      </p>
    </section>`;
  }

  private events(): TemplateResult | typeof nothing {
    if (this.told.length === 0) return nothing;
    return html`<section aria-label=${t('Events')}>
      <h2>${t('Events')}</h2>
      <ul class="events">
        ${this.told.map(
          ({ time, text }) => html`<li><time class="quiet">${time}</time><span>${text}</span></li>`,
        )}
      </ul>
    </section>`;
  }
}

const manageTrust = (): TemplateResult => linkButton(t('Manage Workspace Trust'), () => host.act('trust'));

function nothingYet({ isLive, state }: RunView): string {
  return isLive || state === 'queued'
    ? t('Curves appear here with the first step: data are prepared, the model is loaded.')
    : t('There are no curves: no step was made.');
}
