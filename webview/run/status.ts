import { html, nothing, type TemplateResult } from 'lit';
import { withVisibleControls } from '../dialogue/protocol';
import { t } from '../language';
import { button, icon, iconButton, linkButton } from '../ui';
import { editorApi } from '../editorApi';
import type { Action, FromWebview, NodeView, PanelState, RunState, RunView, StageView } from './protocol';
import { numberColumn, table } from '../ui/table';

const api = editorApi<FromWebview, PanelState>();

export const act = (action: Action): void => api.postMessage({ type: 'act', action });

const stateIcons: Readonly<Record<RunState, string>> = {
  running: 'play-circle',
  stopped: 'debug-pause',
  queued: 'clock',
  done: 'pass-filled',
  failed: 'error',
  lost: 'question',
};

const requestIcons = { stop: 'debug-pause', finish: 'pass' };

export function header(view: RunView): TemplateResult {
  const { name, subject, data, tags, note, state, request, stateLabel, restriction } = view;
  const stateIcon = request === 'none' ? stateIcons[state] : requestIcons[request];
  return html`<header>
    <div class="names">
      <h1>${name}</h1>
      <span class="state ${state}">${icon(stateIcon)}${stateLabel}</span>
      <span class="quiet">${[subject, data].filter((part) => part !== '').join(' · ')}</span>
      ${
        tags.length === 0
          ? nothing
          : html`<span>${icon('tag')} ${withVisibleControls(tags.join(' · '))}</span>`
      }
      ${note === '' ? nothing : html`<p class="note">${icon('note')} ${withVisibleControls(note)}</p>`}
    </div>
    <div class="controls">
      ${restriction === '' ? control(view) : nothing}
      ${openers.map(([action, look, label]) => iconButton({ icon: look, label, onPress: () => act(action) }))}
    </div>
  </header>`;
}

const openers: readonly (readonly [action: Action, icon: string, label: string])[] = [
  ['log', 'output', t('Open the trainer’s log')],
  ['configuration', 'json', t('Open the configuration')],
  ['duplicate', 'copy', t('Duplicate with changes…')],
  ['reveal', 'folder-opened', t('Reveal the folder')],
];

/** Icon, label and tooltip. */
const looks = {
  pause: ['debug-pause', t('Pause'), t('Writes a checkpoint and stops; it can be resumed')],
  finish: [
    'pass',
    t('Finish now…'),
    t('Ends training after the current step; the best step so far becomes the model'),
  ],
  tryAgain: ['debug-rerun', t('Try again'), t('Starts the next run in the queue')],
  startNow: ['play', t('Start now'), t('Starts alongside the run that is training')],
  unqueue: ['close', t('Leave the queue'), t('You can then resume or delete it')],
  start: ['play', t('Start'), t('Starts the run; waits while another run is training')],
  resume: [
    'debug-continue',
    t('Resume'),
    t('Resumes from the last checkpoint; waits while another run is training'),
  ],
  continue: ['debug-continue', t('Continue…'), t('A new run that continues this one for more epochs')],
  compare: ['git-compare', t('Compare'), t('Compares the run with others, or with its base model')],
  simulate: ['hubot', t('Play with it'), t('Makes it the simulator and opens the next task')],
  play: ['hubot', t('Play with it'), t('Makes it the agent and opens the next task')],
  evaluate: ['beaker', t('Evaluate…'), t('Plays held-out tasks with it and with its base model')],
  people: ['organization', t('Compare with people'), t('It replies wherever people replied in the log')],
  chat: ['comment-discussion', t('Use in chat'), t('Makes it the agent and asks it in the chat, as @tandem')],
} as const;

function press(
  look: keyof typeof looks,
  more: { isPrimary?: boolean; disabled?: boolean } = {},
): TemplateResult {
  const [name, label, title] = looks[look];
  const action = look === 'start' ? 'resume' : look === 'simulate' ? 'play' : look;
  const { isPrimary = false, disabled = false } = more;
  const kind = isPrimary ? 'primary' : 'secondary';
  return button({ icon: name, label, title, kind, disabled, onPress: () => act(action) });
}

function control(view: RunView): TemplateResult | typeof nothing {
  const { state, request, isLive, canResume, isUnstarted, canFinish, isHalted } = view;
  if (isLive)
    return html`${press('pause', { disabled: request === 'stop' })}
    ${canFinish || request === 'finish' ? press('finish', { disabled: request === 'finish' }) : nothing}
    ${iconButton({ icon: 'debug-stop', label: t('Stop immediately…'), onPress: () => act('kill') })}`;
  if (state === 'queued')
    return html`${isHalted ? press('tryAgain', { isPrimary: true }) : nothing} ${press('startNow')}
    ${press('unqueue')}`;
  if (canResume) return press(isUnstarted ? 'start' : 'resume', { isPrimary: true });
  return state === 'done' ? press('continue') : nothing;
}

const stageIcons: Readonly<Record<StageView['state'], string>> = {
  done: 'pass-filled',
  now: 'play-circle',
  waiting: 'circle-small',
};

export function stepper(
  { stages, left, isLive, state }: RunView,
  shown: string,
  choose: (stage: string) => void,
): TemplateResult {
  return html`<div class="progress-line">
    <ol class="stages" aria-label=${t('Stages')}>
      ${stages.map(
        (stage) =>
          html`<li class=${stage.state} aria-current=${stage.state === 'now' ? 'step' : nothing}>
            ${
              stage.hasCurves
                ? html`<button
                    type="button"
                    class="stage"
                    aria-pressed=${stage.name === shown}
                    title=${t('Show the curves of this stage')}
                    @click=${() => choose(stage.name)}
                  >
                    ${stageLabel(stage, isLive, state)}
                  </button>`
                : html`<span class="stage">${stageLabel(stage, isLive, state)}</span>`
            }
          </li>`,
      )}
    </ol>
    ${left === '' ? nothing : html`<span class="left">${left}</span>`}
  </div>`;
}

/** While no trainer works on the run; in other states it broke off and shows an error. */
const restingIcons: Readonly<Partial<Record<RunView['state'], string>>> = {
  stopped: 'debug-pause',
  queued: 'clock',
};

function stageLabel(
  { label, state, fraction }: StageView,
  isLive: boolean,
  run: RunView['state'],
): TemplateResult {
  const name = state === 'now' && !isLive ? (restingIcons[run] ?? 'error') : stageIcons[state];
  const amount = state === 'now' && fraction !== undefined ? t('{0} %', Math.floor(100 * fraction)) : '';
  const words = { done: t('done'), now: '', waiting: t('not started') }[state];
  return html`${icon(name)}<span>${label}</span>${
    amount === '' ? nothing : html`<span class="amount">${amount}</span>`
  }${words === '' ? nothing : html`<span class="unseen">${words}</span>`}`;
}

export function outcome(view: RunView): TemplateResult | typeof nothing {
  const { sentence, caution, measured, isEvaluated, lastLines, result, restriction, isLive, canResume } =
    view;
  const refused = restriction !== '' && (isLive || canResume);
  if (sentence === '' && lastLines.length === 0 && !refused) return nothing;
  return html`<section class="outcome" aria-label=${t('Outcome')}>
    ${isEvaluated ? html`<p class="measured">${measured}</p>` : nothing}
    ${sentence === '' ? nothing : html`<p>${sentence}</p>`}
    ${caution === '' ? nothing : html`<p class="caution">${icon('warning')}<span>${caution}</span></p>`}
    ${isEvaluated || measured === '' ? nothing : html`<p>${measured}</p>`}
    ${refused ? html`<p class="quiet">${restriction} ${linkButton(t('Manage Workspace Trust'), () => act('trust'))}</p>` : nothing}
    ${
      lastLines.length === 0
        ? nothing
        : html`<p class="quiet">${t('The trainer said last:')}</p>
            <pre tabindex="0" role="region" aria-label=${t('Last lines of the log')}>
${lastLines.join('\n')}</pre>`
    }
    ${result === 'none' || restriction !== '' ? nothing : next(view)}
    ${
      result === 'model'
        ? html`<p class="quiet">
            ${t('It cannot play here yet, because it has no ONNX graph.')}
            ${linkButton(t('Reveal the model'), () => act('reveal'))}
          </p>`
        : nothing
    }
  </section>`;
}

/** An evaluation comes first until there is one: it says whether the model is worth playing with. */
function next({ result, isEvaluated }: RunView): TemplateResult {
  const compare = press('compare');
  if (result === 'model') return html`<div class="next">${compare}</div>`;
  if (result === 'collaborator')
    return html`<div class="next">
      ${press('simulate', { isPrimary: true })} ${press('people')} ${compare}
    </div>`;
  const play = press('play', { isPrimary: isEvaluated });
  const evaluate = press('evaluate', { isPrimary: !isEvaluated });
  return html`<div class="next">
    ${isEvaluated ? [play, evaluate] : [evaluate, play]} ${compare} ${press('chat')}
  </div>`;
}

const nodeIcons: Readonly<Record<NodeView['state'], string>> = {
  works: 'vm-running',
  back: 'vm-active',
  lost: 'vm-outline',
  idle: 'vm',
};

export function clusterNodes({ nodes, workers }: RunView): TemplateResult | typeof nothing {
  if (nodes.length === 0) return nothing;
  const hasGpus = nodes.some(({ gpus }) => gpus !== '');
  return html`<section class="nodes" aria-label=${t('Nodes')}>
    <h2>${t('Nodes')} <span class="quiet">${workers}</span></h2>
    ${table(
      t('Nodes of the cluster'),
      [t('Node'), t('State'), numberColumn(t('Workers')), hasGpus ? t('GPUs') : nothing],
      nodes.map(
        (node) =>
          html`<th scope="row" class="text">${node.host}</th>
            <td>
              <span class="state ${node.state}">${icon(nodeIcons[node.state])}${node.stateLabel}</span>
            </td>
            <td class="number">${node.workers}</td>
            ${hasGpus ? html`<td>${node.gpus}</td>` : nothing}`,
      ),
    )}
  </section>`;
}

type Told = Pick<RunView, 'stateLabel' | 'stages' | 'sentence' | 'caution'>;

/** For screen readers: another state, stage or tenth of the stage; undefined when none of these changed. */
export function announcement(before: Told | undefined, now: Told): string | undefined {
  if (before === undefined) return undefined;
  if (before.stateLabel !== now.stateLabel)
    return [now.stateLabel, now.sentence, now.caution].filter((part) => part !== '').join('. ');
  const [was, is] = [before, now].map(({ stages }) => stages.find(({ state }) => state === 'now'));
  if (is === undefined) return undefined;
  const tenth = tenthOf(is.fraction);
  const isSame = was?.name === is.name && tenthOf(was.fraction) === tenth;
  if (isSame) return undefined;
  return tenth === 0 ? is.label : t('{0} {1} %', is.label, 10 * tenth);
}

const tenthOf = (fraction = 0): number => Math.floor(10 * fraction + 1e-9);
