import { html, nothing, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import '../ui/page.css';
import './teaching.css';
import { ViewElement } from '../dialogue/element';
import { t } from '../language';
import { columnPicture } from '../report/pictures';
import { button, icon, linkButton, radioGroup, help } from '../ui';
import type { StepView } from '../ui/protocol';
import { steps } from '../ui/steps';
import type { SizeView, TeachingView, Action, FromWebview } from './protocol';
import { editorApi } from '../editorApi';

const api = editorApi<FromWebview, undefined>();

const act = (action: Action): void => api.postMessage({ type: 'act', action });

@customElement('tandem-teaching')
export class TeachingElement extends ViewElement<TeachingView> {
  @state() private size: SizeView['value'] = 'standard';

  override render(): TemplateResult {
    const { shown } = this;
    if (shown === undefined) return html``;
    const isDone = shown.state === 'done';
    const isNew = shown.state === 'none';
    const buttons = html`<div class="controls">${controls(shown, this.size)}</div>`;
    return html`<main tabindex="0" aria-label=${shown.title}>
      <header>
        <h1>${shown.title}</h1>
      </header>
      ${isDone ? nothing : html`<p class="introduction">${shown.introduction}</p>`} ${outcome(shown)}
      ${isDone ? buttons : nothing} ${shown.worlds.length === 0 ? nothing : worlds(shown)}
      ${shown.sizes.length === 0 ? nothing : this.sizes(shown)}
      ${isNew ? [sentence(shown), buttons] : nothing}
      ${steps(this.stages(shown), shown.state !== 'working' && shown.state !== 'stopping')}
      ${isNew ? nothing : sentence(shown)} ${isDone || isNew ? nothing : buttons}
      <div role="status" class="unseen">${said(shown)}</div>
      ${help(t('A lesson plays, trains and evaluates once; you can also do each step by itself.'), 'loop')}
    </main>`;
  }

  private sizes({ sizes }: TeachingView): TemplateResult {
    return radioGroup({
      ...{ id: 'size', label: t('How much'), value: this.size, choices: sizes },
      onChoose: (size) => (this.size = size),
    });
  }

  private stages({ sizes, stages }: TeachingView): readonly StepView[] {
    return sizes.find(({ value }) => value === this.size)?.stages ?? stages;
  }
}

const worlds = ({ worlds: choices, world }: TeachingView): TemplateResult =>
  radioGroup({
    ...{ id: 'world', label: t('Which tasks'), value: world, choices },
    onChoose: (value) => api.postMessage({ type: 'choose', world: value }),
  });

const sentence = ({ sentence: text, isRefused }: TeachingView): TemplateResult | typeof nothing =>
  text === ''
    ? nothing
    : html`<p class="sentence" role="alert">${icon(isRefused ? 'lock' : 'info')} ${text}</p>`;

/** Icon, label and tooltip of what can follow a lesson. */
const sequels: readonly (readonly [action: Action, icon: string, label: string, title: string])[] = [
  ['play', 'hubot', t('Play with it'), t('Makes it the agent and opens the next task')],
  [
    'compare',
    'git-compare',
    t('Blind comparison'),
    t('You choose between its messages and those of the previous agent, without knowing which is which'),
  ],
  [
    'chat',
    'comment-discussion',
    t('Use in chat'),
    t('Makes it the agent and asks it in the chat, as @tandem'),
  ],
  ['again', 'mortar-board', t('Teach it more…'), t('Another lesson, from other tasks')],
];

function controls({ state, isRefused, hasRun }: TeachingView, size: SizeView['value']): TemplateResult {
  const run = hasRun ? linkButton(t('Show the run'), () => act('run')) : nothing;
  switch (state) {
    case 'none':
      return html`${button({
        label: t('Start'),
        kind: 'primary',
        icon: 'mortar-board',
        disabled: isRefused,
        onPress: () => api.postMessage({ type: 'start', size }),
      })}${isRefused ? linkButton(t('Manage Workspace Trust'), () => act('trust')) : nothing}`;
    case 'working':
    case 'stopping':
      return html`${button({
        label: t('Stop'),
        icon: 'debug-stop',
        title: t('Dialogues and training so far are kept; it continues from there'),
        disabled: state === 'stopping',
        onPress: () => act('stop'),
      })}${run}`;
    case 'stopped':
      return html`${button({
        label: t('Continue'),
        kind: 'primary',
        icon: 'debug-continue',
        disabled: isRefused,
        onPress: () => act('goOn'),
      })}${run}`;
    case 'done':
      return html`${sequels.map(([action, look, label, title], index) =>
        button({
          icon: look,
          label,
          title,
          kind: index === 0 ? 'primary' : 'secondary',
          onPress: () => act(action),
        }),
      )}
      ${run} ${linkButton(t('Open the report'), () => act('report'))}`;
  }
}

/** For screen readers: the step at work, without its counts; in the end the result. */
function said({ stages, state, outcome: ended }: TeachingView): string {
  if (state === 'done') return ended?.sentence ?? '';
  const now = stages.find((stage) => stage.state === 'now');
  return now === undefined ? '' : now.label;
}

function outcome({ outcome: shown }: TeachingView): TemplateResult | typeof nothing {
  if (shown === undefined) return nothing;
  const { sentence, remark, unlearned, measured } = shown;
  return html`<section class="outcome" aria-label=${t('Outcome')}>
    <p class="result">${sentence}</p>
    ${remark === '' ? nothing : html`<p class="quiet">${remark}</p>`}
    ${unlearned.map((words) => html`<p class="unlearned">${icon('warning')} ${words}</p>`)}
    <figure>
      ${columnPicture(measured, 0)}
      <figcaption class="quiet">${t('Success on held-out tasks; the lines are 95 % intervals.')}</figcaption>
    </figure>
  </section>`;
}
