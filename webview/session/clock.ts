import { html, type PropertyValues, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { PlainElement } from '../dialogue/element';
import { t } from '../language';
import { host } from './host';
import type { SessionView } from './protocol';
import { duration } from './view';

/** Drawn again each second. */
abstract class TickingElement extends PlainElement {
  @state() protected now = performance.now();
  protected since = performance.now();
  private timer: ReturnType<typeof setInterval> | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.timer = setInterval(() => (this.now = performance.now()), 1000);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.timer);
  }
}

/**
 * The times of the logged turns, and the time since the last of them. The clock never runs backwards, although the log
 * does not count messages that were discarded or not yet answered.
 */
@customElement('tandem-clock')
export class ClockElement extends TickingElement {
  @property({ attribute: false }) view!: SessionView;
  private move = '';
  private episode: string | undefined;
  /** Time shown when the current move began, in milliseconds. */
  private begunAt = 0;
  /** In milliseconds. */
  private shown = 0;

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

  override updated(changed: PropertyValues): void {
    if (changed.has('now')) host.keepElapsed(this.episode, this.shown);
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
export class ElapsedElement extends TickingElement {
  override render(): TemplateResult {
    return html`<span class="quiet" role="timer">${duration(this.now - this.since)}</span>`;
  }
}
