import { html, nothing, type TemplateResult } from 'lit';
import { button, icon, linkButton, progress } from '../ui';
import { choosing } from './candidates';
import './clock';
import './footer.css';
import { host } from './host';
import './rating';
import { keys } from './keys';
import { leaving } from './leaving';
import { modelLabel } from '../dialogue/names';
import { withVisibleControls } from '../dialogue/untrusted';
import type { Notice, NoticeAction, SessionState } from './protocol';

const helps: Record<NoticeAction, string> = {
  'choose-agent': 'Choose the agent…',
  'choose-simulator': 'Choose the simulator…',
  'set-key': 'Set the API key…',
  grade: 'Grade the answer',
  'manage-trust': 'Manage Workspace Trust',
  'show-log': 'Show Log',
};

/** What happened, in one sentence, with the buttons that help. */
export function noticeBar({ kind, message, actions }: Notice): TemplateResult {
  const look = { information: 'info', warning: 'warning', error: 'error' }[kind];
  return html`<div class="notice ${kind}" role=${kind === 'error' ? 'alert' : 'status'}>
    ${icon(look)}
    <div>
      <p>${withVisibleControls(message)}</p>
      ${
        actions.length === 0
          ? nothing
          : html`<p class="helps">
              ${actions.map((action) => linkButton(helps[action], () => host.act(action)))}
            </p>`
      }
    </div>
  </div>`;
}

/** Said at once, before anything is asked of the person. */
export function restricted(restriction: string): TemplateResult {
  return html`${noticeBar({ kind: 'warning', message: restriction, actions: [] })}
    <div class="actions">${primary(helps['manage-trust'], () => host.act('manage-trust'))}</div>`;
}

/** What can be done next where there is no reply to write: one primary action for each state. */
export function footer(state: SessionState): TemplateResult {
  switch (state.phase) {
    case 'no-agent':
      return html`<p>
          Choose a model that plays the agent: the starter model, a model folder on this machine, or any
          server that speaks OpenAI's API.
        </p>
        <div class="actions">${primary('Choose the agent…', () => host.act('choose-agent'))}</div>`;
    case 'ready':
      return html`<p class="quiet">
          The agent sees only the request above. You know the reference and the tests: answer its questions,
          at most ${state.replyLimit} characters each, without giving the code away.
        </p>
        <div class="actions">
          ${primary('Start', () => host.send({ type: 'start' }))}${skipToNext(state)}
        </div>`;
    case 'agent':
      return working('The agent is writing', state);
    case 'candidates':
      return working('Two messages are being written', state, html`<tandem-elapsed></tandem-elapsed>`);
    case 'choosing':
      return choosing(state);
    case 'simulator':
      return working(`${modelLabel(state.simulator) || 'The simulator'} is answering`, state);
    case 'grading':
      return html`<div class="actions">${progress('Running the tests')} ${stop()}</div>`;
    case 'stopped':
      return html`<div class="actions">
        ${primary('Ask again', () => host.act('again'))} ${takeSeat(state, 'Take the seat')}
        <span class="rest">${leaving(state)}</span>
      </div>`;
    case 'skipped':
      return html`<div class="actions">
        ${
          state.hasNext
            ? html`${nextTask()}${button({ label: 'Resume', onPress: () => host.act('again') })}`
            : primary('Resume', () => host.act('again'))
        }
      </div>`;
    case 'over':
      return html`${
          state.rating === undefined ? nothing : html`<tandem-rating .rating=${state.rating}></tandem-rating>`
        }
        <div class="actions">
          ${state.hasNext ? nextTask() : nothing}
          ${button({
            label: 'Compare with the reference',
            key: keys.compare,
            onPress: () => host.act('compare'),
          })}
          ${
            state.canReplay === true
              ? html`<span class="rest"
                  >${linkButton(
                    'Play again',
                    () => host.act('play-again'),
                    'The same task from the beginning; the log keeps both',
                    keys.playAgain,
                  )}</span
                >`
              : nothing
          }
        </div>`;
    case 'developer':
      return html``;
  }
}

function working(
  what: string,
  state: SessionState,
  aside: TemplateResult | typeof nothing = nothing,
): TemplateResult {
  return html`<div class="actions">
    ${progress(what)} ${aside} ${stop()} ${takeSeat(state, 'Take the seat back')}
    <span class="rest">${leaving(state)}</span>
  </div>`;
}

function stop(): TemplateResult {
  return button({ label: 'Stop', key: keys.stop, onPress: () => host.act('stop') });
}

function takeSeat({ seat }: SessionState, label: string): TemplateResult | typeof nothing {
  if (seat !== 'simulator') return nothing;
  return button({ label, key: keys.takeSeat, onPress: () => host.act('take-seat') });
}

function primary(label: string, onPress: () => void): TemplateResult {
  return button({ id: 'primary', label, kind: 'primary', key: keys.primary, onPress });
}

function nextTask(): TemplateResult {
  return primary('Next task', () => host.act('next-task'));
}

function skipToNext(state: SessionState): TemplateResult | typeof nothing {
  if (!state.hasNext) return nothing;
  return html`<span class="rest">${linkButton('Another task', () => host.act('next-task'))}</span>`;
}
