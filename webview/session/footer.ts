import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { t } from '../language';
import { button, icon, linkButton, progress, textField } from '../ui';
import '../ui/menu';
import type { MenuItem } from '../ui/menu';
import { choosing } from '../dialogue/candidates';
import './clock';
import './footer.css';
import { host } from './host';
import { keys } from './keys';
import { modelLabel } from '../dialogue/names';
import { withVisibleControls } from '../dialogue/protocol';
import type { Notice, NoticeAction, SessionState, DialogueRating } from './protocol';
import { stars, starWords } from '../dialogue/turn';
import { PlainElement } from '../dialogue/element';
import type { TaskKind } from './view';

const helps: Record<NoticeAction, string> = {
  'choose-agent': t('Choose the agent…'),
  'choose-simulator': t('Choose the simulator…'),
  'set-key': t('Set the API key…'),
  'edit-agent-connection': t('Edit the connection…'),
  'edit-simulator-connection': t('Edit the connection…'),
  grade: t('Grade the answer'),
  'manage-trust': t('Manage Workspace Trust'),
  'show-log': t('Show Log'),
};

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

export function restricted(restriction: string): TemplateResult {
  return html`${noticeBar({ kind: 'warning', message: restriction, actions: [] })}
    <div class="actions">${primary(helps['manage-trust'], () => host.act('manage-trust'))}</div>`;
}

export const job = ({ replyLimit, seat }: SessionState, kind: TaskKind): TemplateResult =>
  html`<p class="quiet">
    ${
      seat === 'agent'
        ? t(
            'You see only the request above, as an agent does. Ask about what it leaves open, and answer with the function; hidden tests grade it.',
          )
        : jobWords(kind, replyLimit)
    }
  </p>`;

function jobWords(kind: TaskKind, replyLimit: number): string {
  switch (kind) {
    case 'own':
      return t(
        'The agent sees only the request above. Answer its questions, at most {0} characters each. Its answer is shown as a change of your file, to accept or reject.',
        replyLimit,
      );
    case 'page':
      return t(
        'The agent sees only the request. You see the wanted page: say what its drafts should change, at most {0} characters each.',
        replyLimit,
      );
    case 'program':
      return t(
        'The agent sees only the request above. You know the reference and the tests: answer its questions, at most {0} characters each, without giving the code away.',
        replyLimit,
      );
  }
}

/** When there is no reply to write: one primary action for each state. */
export function footer(state: SessionState, kind: TaskKind = 'program'): TemplateResult {
  switch (state.phase) {
    case 'no-agent':
      return html`<p>
          ${t(
            'Choose a model that plays the agent: the starter model, a model folder on this machine, or any server with an OpenAI-compatible API.',
          )}
        </p>
        <div class="actions">${primary(helps['choose-agent'], () => host.act('choose-agent'))}</div>`;
    case 'ready':
      return html`${job(state, kind)}
        <div class="actions">
          ${
            state.seat === 'agent' && state.needsSimulator === true
              ? primary(helps['choose-simulator'], () => host.act('choose-simulator'))
              : primary(t('Start'), () => host.send({ type: 'start' }))
          }${rest(state.hasNext ? [another] : [])}
        </div>`;
    case 'agent':
      return working(t('The agent is writing'), state);
    case 'candidates':
      return working(t('Two messages are being written'), state, html`<tandem-elapsed></tandem-elapsed>`);
    case 'choosing':
      return choosing(
        {
          question: t('Which message is better? At the end you learn which model wrote which.'),
          choose: (picked) => host.send({ type: 'choose', picked }),
          one: (letter) => t('Continues with {0}', letter),
          equal: t('Equally good; the dialogue continues with A'),
          neither: t('Neither is good; two new ones are written'),
        },
        rest(leaving(state)),
      );
    case 'simulator':
      return working(
        t('{0} is answering', modelLabel(state.simulator, state.called) || t('The simulator')),
        state,
      );
    case 'grading':
      return html`<div class="actions">
        ${progress(kind === 'page' ? t('Comparing the pages') : t('Running the tests'))} ${stop()}
      </div>`;
    case 'stopped':
      return html`<div class="actions">
        ${primary(t('Try again'), () => host.act('again'))} ${takeSeat(state)} ${rest(leaving(state))}
      </div>`;
    case 'skipped':
      return html`<div class="actions">
        ${
          state.hasNext
            ? html`${nextTask()}${button({ label: t('Resume'), onPress: () => host.act('again') })}`
            : primary(t('Resume'), () => host.act('again'))
        }
      </div>`;
    case 'over':
      return html`${
          state.rating === undefined ? nothing : html`<tandem-rating .rating=${state.rating}></tandem-rating>`
        }
        ${decided(state)}
        <div class="actions">
          ${state.hasNext ? nextTask() : nothing}
          ${button({
            label: comparingLabel(state, kind),
            key: keys.compare,
            onPress: () => host.act('compare'),
          })}
          ${rest([...(state.canReplay === true ? [replaying] : []), ...(kind === 'program' ? [teaching] : [])])}
        </div>`;
    case 'developer':
    case 'asking':
      return html``;
  }
}

function decided({ decision, ownFile }: SessionState): TemplateResult | typeof nothing {
  if (decision === undefined) return nothing;
  const message =
    decision === 'accepted'
      ? t('Inserted into {0}.', ownFile ?? t('your file'))
      : t('Rejected. Your file was left as it is.');
  return noticeBar({ kind: 'information', message, actions: [] });
}

function comparingLabel(state: SessionState, kind: TaskKind): string {
  if (kind === 'own') return state.decision === undefined ? t('Review the change') : t('Review it again');
  return kind === 'page' ? t('Compare the HTML') : t('Compare with the reference');
}

function working(
  what: string,
  state: SessionState,
  aside: TemplateResult | typeof nothing = nothing,
): TemplateResult {
  return html`<div class="actions">
    ${progress(what)} ${aside} ${stop()} ${takeSeat(state)} ${rest(leaving(state))}
  </div>`;
}

function stop(): TemplateResult {
  return button({ label: t('Stop'), key: keys.stop, onPress: () => host.act('stop') });
}

function takeSeat({ seat }: SessionState): TemplateResult | typeof nothing {
  if (seat !== 'simulator') return nothing;
  return button({ label: t('Take over'), key: keys.takeSeat, onPress: () => host.act('take-seat') });
}

function primary(label: string, onPress: () => void): TemplateResult {
  return button({ id: 'primary', label, kind: 'primary', key: keys.primary, onPress });
}

function nextTask(): TemplateResult {
  return primary(t('Next task'), () => host.act('next-task'));
}

const another: MenuItem = { label: t('Another task'), onPress: () => host.act('next-task') };

/** What is not needed at each turn. A menu of one would only hide it. */
export function rest(items: readonly MenuItem[]): TemplateResult | typeof nothing {
  const [first] = items;
  if (first === undefined) return nothing;
  return html`<span class="rest"
    >${
      items.length === 1
        ? linkButton(first.label, first.onPress, first.title, first.key)
        : html`<tandem-menu .items=${items}></tandem-menu>`
    }</span
  >`;
}

export function leaving(state: SessionState): MenuItem[] {
  const { canEnd, phase } = state;
  const end: MenuItem = {
    label: t('End now'),
    // A developer's own function is reviewed, because it has no hidden tests.
    title:
      state.onlyDeveloperKnows === true
        ? t("Take the agent's last message as its answer and review the change")
        : t("Take the agent's last message as its answer and grade it"),
    key: keys.endNow,
    onPress: () => host.act('end-now'),
  };
  const skip: MenuItem = {
    label: t('Skip…'),
    title: t('Leave this task, with a reason'),
    key: keys.skip,
    onPress: () => host.act('skip'),
  };
  const canSkip = ['choosing', 'developer', 'asking', 'stopped'].includes(phase);
  return [...(canEnd === true || phase === 'choosing' ? [end] : []), ...(canSkip ? [skip] : [])];
}

const replaying: MenuItem = {
  label: t('Play again'),
  title: t('The same task from the beginning; the log keeps both'),
  key: keys.playAgain,
  onPress: () => host.act('play-again'),
};

const teaching: MenuItem = {
  label: t('Teach the agent…'),
  title: t('It plays many tasks with a simulator, learns from them, and is evaluated on held-out tasks'),
  onPress: () => host.act('teach'),
};

/** Each part is logged as soon as it is given. */
@customElement('tandem-rating')
export class RatingElement extends PlainElement {
  @property({ attribute: false }) rating!: DialogueRating;

  override render(): TemplateResult {
    const { stars: given, comment = '' } = this.rating;
    return html`<div
      class="rating"
      @keydown=${(event: KeyboardEvent) => {
        // Enter saves the comment, and the focus moves on to the next action.
        if (event.key === 'Enter') this.closest('footer')?.querySelector<HTMLElement>('#primary')?.focus();
      }}
    >
      ${stars(given, (star) => host.send({ type: 'rate', change: { stars: star } }))}
      ${textField({
        id: 'comment',
        label: t('Comment (optional)'),
        isLabelHidden: true,
        value: comment,
        onCommit: (text) => host.send({ type: 'rate', change: { comment: text.trim() } }),
      })}
      <span class="quiet" role="status">${saved(this.rating)}</span>
    </div>`;
  }
}

/** Also for screen readers, because a key sets the stars from anywhere. */
function saved({ stars: given, comment }: DialogueRating): string {
  if (given === undefined && comment === undefined) return '';
  return given === undefined ? t('comment saved') : t('{0}, saved', starWords(given));
}
