import { html, nothing, type TemplateResult } from 'lit';
import { icon, linkButton } from '../ui';
import './clock';
import { host } from './host';
import { modelLabel } from '../dialogue/names';
import { shortcuts } from './shortcuts';
import type { SessionView } from './view';

/** Which task, who plays, how far; and what the collaborator knows that the agent does not. */
export function header(view: SessionView): TemplateResult {
  const { task, state, panel } = view;
  const begun = panel.episode !== undefined;
  return html`<header>
    <div class="line">
      <h1>${task.title}</h1>
      <ul class="facts">
        ${
          begun && state.showsCounters
            ? html`<li>turn ${state.turn} of ${state.maxTurns}</li>
                <li><tandem-clock .view=${view}></tandem-clock></li>`
            : nothing
        }
        <li>${icon(state.seat === 'developer' ? 'account' : 'server-process')} ${seatWords(state)}</li>
        ${
          state.agent === ''
            ? nothing
            : html`<li title=${state.agent}>
                ${icon('hubot')} <span class="cut">${agentWords(state)}</span>
              </li>`
        }
      </ul>
    </div>
    <div class="knows">
      <span class="quiet">you know</span>
      ${linkButton('reference', () => host.act('open-reference'), 'Open the hidden reference beside')}
      ${linkButton(`${task.tests} tests`, () => host.act('open-tests'), 'Open the hidden tests beside')}
      <div class="last">
        ${
          begun
            ? linkButton('transcript', () => host.act('open-transcript'), 'Open the transcript as Markdown')
            : nothing
        }
        ${shortcuts()}
      </div>
    </div>
  </header>`;
}

function seatWords({ seat, simulator }: SessionView['state']): string {
  if (seat === 'developer') return 'you are the human';
  if (simulator === 'rules') return 'the rules play the human';
  return `${modelLabel(simulator) || 'the simulator'} plays the human`;
}

function agentWords({ agent, secondAgent }: SessionView['state']): string {
  if (secondAgent === undefined) return `agent: ${modelLabel(agent)}`;
  return `agents: ${modelLabel(agent)}, ${modelLabel(secondAgent)}`;
}
