import { html, nothing, type TemplateResult } from 'lit';
import { withVisibleControls } from '../dialogue/untrusted';
import { t } from '../language';
import { button, icon, iconButton } from '../ui';
import { host } from './host';
import type { RunState, RunView } from './protocol';

const stateIcons: Readonly<Record<RunState, string>> = {
  preparing: 'loading',
  running: 'play-circle',
  stopping: 'debug-pause',
  finishing: 'pass',
  stopped: 'debug-pause',
  queued: 'clock',
  done: 'pass-filled',
  failed: 'error',
  died: 'error',
  lost: 'question',
};

export function header(view: RunView): TemplateResult {
  const { name, subject, data, tags, note, state, stateLabel, restriction } = view;
  return html`<header>
    <div class="names">
      <h1>${name}</h1>
      <span class="state ${state}">${icon(stateIcons[state])}${stateLabel}</span>
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

function control({
  state,
  isLive,
  canResume,
  isUnstarted,
  canFinish,
  isHalted,
}: RunView): TemplateResult | typeof nothing {
  if (isLive)
    return html`${button({
      label: t('Pause'),
      icon: 'debug-pause',
      title: t('Writes a checkpoint and stops; it can be resumed'),
      disabled: state === 'stopping',
      onPress: () => host.act('pause'),
    })}
    ${
      canFinish || state === 'finishing'
        ? button({
            label: t('Finish now…'),
            icon: 'pass',
            title: t('Ends training after the current step; the best step so far becomes the model'),
            disabled: state === 'finishing',
            onPress: () => host.act('finish'),
          })
        : nothing
    }
    ${iconButton({
      icon: 'debug-stop',
      label: t('Stop immediately…'),
      onPress: () => host.act('kill'),
    })}`;
  if (state === 'queued')
    return html`${
      isHalted
        ? button({
            label: t('Try again'),
            kind: 'primary',
            icon: 'debug-rerun',
            title: t('Starts the next run in the queue'),
            onPress: () => host.act('tryAgain'),
          })
        : nothing
    }
    ${button({
      label: t('Start now'),
      icon: 'play',
      title: t('Starts alongside the run that is training'),
      onPress: () => host.act('startNow'),
    })}
    ${button({
      label: t('Leave the queue'),
      icon: 'close',
      title: t('You can then resume or delete it'),
      onPress: () => host.act('unqueue'),
    })}`;
  if (canResume)
    return button({
      label: isUnstarted ? t('Start') : t('Resume'),
      kind: 'primary',
      icon: isUnstarted ? 'play' : 'debug-continue',
      title: isUnstarted
        ? t('Starts the run; waits while another run is training')
        : t('Resumes from the last checkpoint; waits while another run is training'),
      onPress: () => host.act('resume'),
    });
  if (state === 'done')
    return button({
      label: t('Continue…'),
      icon: 'debug-continue',
      title: t('A new run that continues this one for more epochs'),
      onPress: () => host.act('continue'),
    });
  return nothing;
}
