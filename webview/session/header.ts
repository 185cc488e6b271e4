import './clock';
import '../pages/pages';
import { html, nothing, type TemplateResult } from 'lit';
import { t } from '../language';
import { icon, linkButton, picker, help } from '../ui';
import { host } from './host';
import { modelLabel, testsOf } from '../dialogue/names';
import { type SessionState, type TaskView, MAX_PINS, type SessionView } from './protocol';
import { kindOf } from './view';
import { keyName } from '../ui/keyName';
import { keys, listed } from './keys';
import type { Pin } from '../pages/protocol';

export function header(view: SessionView): TemplateResult {
  const { task, state, panel } = view;
  const begun = panel.episode !== undefined;
  return html`<header>
    <div class="line">
      <h1>${task.title}</h1>
      <ul class="facts">
        ${
          begun && state.showsCounters
            ? html`<li>${t('turn {0} of {1}', state.turn, state.maxTurns)}</li>
                <li><tandem-clock .view=${view}></tandem-clock></li>`
            : nothing
        }
        <li>${seat(state)}</li>
        ${
          state.seat === 'agent'
            ? html`<li>${icon('account')} ${t('You are the agent')}</li>`
            : state.agent === ''
              ? nothing
              : html`<li>
                  ${picker({
                    icon: 'hubot',
                    label: agentWords(state),
                    title: t('{0}. Choose another agent…', state.agent),
                    refusal: agentRefusal(state),
                    onPress: () => host.act('choose-agent'),
                  })}
                </li>`
        }
      </ul>
    </div>
    <div class="knows">
      ${
        state.seat === 'agent'
          ? state.phase === 'over'
            ? nothing
            : html`<span class="quiet">${t('you see only the request')}</span>`
          : known(task)
      }
      ${
        state.hasGuidelines
          ? linkButton(
              t('guidelines'),
              () => host.act('open-guidelines'),
              t('Open the pack author’s guidelines'),
            )
          : nothing
      }
      ${shortcuts(view)}
    </div>
  </header>`;
}

function known(task: TaskView): TemplateResult {
  switch (kindOf(task)) {
    case 'own':
      return html`<span>${t('You know what the function should do')}</span>`;
    case 'page':
      return html`<span class="quiet">${t('you see the wanted page')}</span> ${linkButton(
          t('its HTML'),
          () => host.act('open-reference'),
          t('Open the HTML of the wanted page to the side'),
        )}`;
    case 'program':
      return html`<span class="quiet">${t('you know')}</span> ${linkButton(
          t('reference'),
          () => host.act('open-reference'),
          t('Open the hidden reference to the side'),
        )}
        ${linkButton(testsOf(task), () => host.act('open-tests'), t('Open the hidden tests to the side'))}`;
  }
}

/** For a developer's own function no simulator can be chosen: none knows its purpose. */
function seat(state: SessionState): TemplateResult {
  const name = state.seat === 'developer' ? 'account' : 'server-process';
  if (state.onlyDeveloperKnows === true) return html`${icon(name)} ${seatWords(state)}`;
  const simulator = modelLabel(state.simulator, state.called) || t('none');
  return picker({
    icon: name,
    label: seatWords(state),
    title: t('Simulator: {0}. Choose another simulator…', simulator),
    refusal: simulatorRefusal(state),
    onPress: () => host.act('choose-simulator'),
  });
}

function agentRefusal({ phase, restriction }: SessionState): string | undefined {
  if (phase === 'agent' || phase === 'candidates')
    return t('The agent is writing. Stop it to choose another one.');
  return phase === 'over' ? t('The dialogue is over. Play again to choose another agent.') : restriction;
}

function simulatorRefusal({ phase, isSuggesting, restriction }: SessionState): string | undefined {
  if (phase === 'simulator' || isSuggesting === true)
    return t('The simulator is writing. Stop it to choose another one.');
  return phase === 'over' ? t('The dialogue is over. Play again to choose another simulator.') : restriction;
}

function seatWords({ seat, simulator, called }: SessionView['state']): string {
  if (seat === 'developer') return t('You reply');
  const named = modelLabel(simulator, called);
  return named === '' ? t('Simulator replies') : t('Simulator ({0}) replies', named);
}

function agentWords(state: SessionView['state']): string {
  const { agent, secondAgent, called } = state;
  const first = modelLabel(agent, called);
  return secondAgent === undefined
    ? t('agent: {0}', first)
    : t('agents: {0}, {1}', first, modelLabel(secondAgent, called));
}

function helpWords({ task, state }: SessionView): string {
  if (state.seat === 'agent') return t('You see only the request; ask before you write the function.');
  return task.isPage === true
    ? t('You see the wanted page; the agent has to come close to it by what you say.')
    : t('You know what the function must do; the agent has to ask before it writes it.');
}

function shortcuts(view: SessionView): TemplateResult {
  const close = (event: KeyboardEvent): void => {
    const list = event.currentTarget as HTMLDetailsElement;
    if (event.key !== 'Escape' || !list.open) return;
    event.stopPropagation();
    list.open = false;
  };
  return html`<details class="shortcuts" @keydown=${close}>
    <summary title=${t('Keyboard shortcuts ({0})', keys.listKeys)} aria-keyshortcuts=${keys.listKeys}>
      ${t('keys')}
    </summary>
    <div class="unfolded">
      <dl aria-label=${t('Keyboard shortcuts')}>
        ${listed.map(
          (one) =>
            html`<dt>${one.keys.map((key) => html`<kbd>${keyName(key)}</kbd> `)}</dt>
              <dd>${one.does}</dd>`,
        )}
      </dl>
      ${help(helpWords(view), 'session')}
    </div>
  </details>`;
}

/**
 * The newest draft beside the wanted page.
 * @param onPins absent where there is no reply to write
 */
export function pagesArea(
  view: SessionView,
  pins: readonly Pin[],
  onPins: ((pins: readonly Pin[]) => void) | undefined,
): TemplateResult | typeof nothing {
  const { wanted } = view.task;
  if (wanted === undefined) return nothing;
  const draft = view.turns.findLast((turn) => turn.draft !== undefined)?.draft?.page;
  const isFull = pins.length >= MAX_PINS;
  return html`<section class="pages-area" aria-label=${t('Draft and wanted page')}>
    <div class="column">
      <tandem-pages
        .draft=${draft}
        .wanted=${wanted}
        .pins=${pins}
        .onPins=${isFull ? undefined : onPins}
      ></tandem-pages>
    </div>
  </section>`;
}
