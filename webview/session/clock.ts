import { html, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { PlainElement } from '../dialogue/element';
import { t } from '../language';
import { host } from './host';
import { type SessionView, duration } from './view';

/**
 * The times of the logged turns, and the time since the last of them. The clock never runs backwards, although the log
 * does not count messages that were discarded or not yet answered.
 */
@customElement('tandem-clock')
export class ClockElement extends PlainElement {
  @property({ attribute: false }) view!: SessionView;
  @state() private now = performance.now();
  private since = performance.now();
  private move = '';
  private episode: string | undefined;
  /** Time shown when the current move began, in milliseconds. */
  private begunAt = 0;
  /** In milliseconds. */
  private shown = 0;
  private timer: ReturnType<typeof setInterval> | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.timer = setInterval(() => {
      this.now = performance.now();
      host.keepElapsed(this.episode, this.shown);
    }, 1000);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.timer);
  }

  override willUpdate(): void {
    const { turns, state: shown } = this.view;
    const replies = turns.filter(({ reply }) => reply !== undefined).length;
    // A new turn begins a new move, because the log then has its time. Two candidates and the choice between them are
    // one move.
    const phase = shown.phase === 'choosing' ? 'candidates' : shown.phase;
    const move = [this.view.panel.episode, turns.length, replies, turns.at(-1)?.samples, phase].join();
    if (move === this.move) return;
    const { episode } = this.view.panel;
    this.begunAt = episode === this.episode ? this.shown : host.elapsed(episode);
    this.episode = episode;
    this.move = move;
    this.since = this.now = performance.now();
  }

  override render(): TemplateResult {
    this.shown = this.time;
    return html`<span role="timer" title=${t('Time that this dialogue has taken')}
      >${duration(this.shown)}</span
    >`;
  }

  private get time(): number {
    const { turns, state: shown } = this.view;
    const isRunning = ['agent', 'candidates', 'choosing', 'developer', 'simulator'].includes(shown.phase);
    const logged = turns.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
    return Math.max(logged, this.begunAt) + (isRunning ? this.now - this.since : 0);
  }
}

/** The time since this element appeared. */
@customElement('tandem-elapsed')
export class ElapsedElement extends PlainElement {
  @state() private milliseconds = 0;
  private timer: ReturnType<typeof setInterval> | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    const since = performance.now();
    this.timer = setInterval(() => (this.milliseconds = performance.now() - since), 1000);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.timer);
  }

  override render(): TemplateResult {
    return html`<span class="quiet" role="timer">${duration(this.milliseconds)}</span>`;
  }
}
