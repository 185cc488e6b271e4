import { html, nothing, type TemplateResult } from 'lit';
import { editorApi } from '../editorApi';
import { t } from '../language';
import { button, icon, linkButton, namedValue, progress } from '../ui';
import { steps } from '../ui/steps';
import type {
  Action,
  FormState,
  FromWebview,
  CheckView,
  DataView,
  EstimateView,
  FormView,
  Values,
  WarmStartView,
} from './protocol';

const api = editorApi<FromWebview, FormState>();

export const act = (action: Action): void => api.postMessage({ type: action });

/** One line, and what stands in the way of a better agent. */
export function dataSummary(
  { summary, problem, remarks, isCounting, isCollecting }: DataView,
  isStarting: boolean,
  change: () => void,
): TemplateResult {
  const words =
    summary !== '' ? summary : isCounting ? t('Counting …') : t('Counted when the run is planned.');
  const collect = collectButton(isStarting);
  return html`<div class="data" aria-busy=${isCounting}>
    <p>
      <span class=${isCounting ? 'quiet' : ''}>${words}</span>
      ${isStarting ? nothing : linkButton(t('Change…'), change)}
    </p>
    ${
      isCollecting
        ? html`<p>${progress(t('The simulator plays. Dialogues are counted as they end …'))}</p>`
        : problem !== ''
          ? html`<p class="error" id="data-error">${icon('error')}${problem}</p>
              <div class="line">${collect}</div>`
          : remarks.length === 0
            ? nothing
            : html`${remarks.map(
                  (remark) => html`<p class="remark">${icon('warning')}<span>${remark}</span></p>`,
                )}
                <div class="line">${collect} ${generateButton(isStarting)}</div>`
    }
  </div>`;
}

export function dataFigures({ figures, leftOut, isCounting }: DataView): TemplateResult {
  return html`${
    figures.length === 0
      ? nothing
      : html`<dl class="figures ${isCounting ? 'old' : ''}">
          ${figures.map(
            ({ label, value, note }) =>
              html`<div>
                <dt>${label}</dt>
                <dd class="value">${value}</dd>
                <dd class="quiet">${note}</dd>
              </div>`,
          )}
        </dl>`
  }
  ${
    leftOut.length === 0
      ? nothing
      : html`<div class="left-out">
          <h3>${t('Left out')}</h3>
          <ul>
            ${leftOut.map(
              ({ reason, count }) => html`<li><span class="count">${count}</span> ${reason}</li>`,
            )}
          </ul>
        </div>`
  }`;
}

export function warmStart(
  { sentence, values }: WarmStartView,
  disabled: boolean,
  set: (values: Values) => void,
): TemplateResult {
  return html`<div class="warm-start">
    <p class="remark">${icon('lightbulb')}<span>${sentence}</span></p>
    ${
      Object.keys(values).length === 0
        ? nothing
        : html`<div class="line">
            ${button({ disabled, label: t('Begin with a warm start'), icon: 'flame', onPress: () => set(values) })}
          </div>`
    }
  </div>`;
}

export function emptyLog(
  { methods }: Pick<FormView, 'methods'>,
  set: (values: Values) => void,
): TemplateResult {
  const playing = methods.filter(({ plays }) => plays);
  return html`<section class="empty">
    <p>
      ${t('Agents learn from dialogues, and this log has none yet. Let the agent play with the simulator, play some tasks yourself, or import dialogues.')}
    </p>
    <div class="line">
      ${collectButton(false, 'primary')} ${generateButton(false)}
      ${button({ label: t('Play a task'), icon: 'play', onPress: () => act('play') })}
      ${button({ label: t('Import dialogues…'), icon: 'cloud-upload', onPress: () => act('import') })}
    </div>
    <p>
      ${t('An online method needs no log: while it trains, the agent plays new dialogues with the simulator and learns from their rewards.')}
    </p>
    <div class="line">
      ${playing.map(({ value, label }) =>
        button({ label: t('Train by {0}', label), icon: 'sync', onPress: () => set({ method: value }) }),
      )}
    </div>
  </section>`;
}

function collectButton(disabled: boolean, kind: 'primary' | 'secondary' = 'secondary'): TemplateResult {
  return button({
    disabled,
    label: t('Let the simulator play'),
    kind,
    icon: 'run-all',
    title: t('The agent plays tasks with the simulator, several times each'),
    onPress: () => act('collect'),
  });
}

const generateButton = (disabled: boolean): TemplateResult =>
  button({ disabled, label: t('Generate tasks…'), icon: 'sparkle', onPress: () => act('generate') });

export function estimateParts(view: EstimateView, disabled: boolean): TemplateResult {
  const { state, sentence, problem, rows, advice, checks, fits, installing } = view;
  return html`${
    problem === ''
      ? nothing
      : html`<p class="error" role="alert">${icon('error')}<span class="sentence">${problem}</span></p>`
  }
  ${installing === undefined ? nothing : steps([installing])}
  ${
    sentence === ''
      ? nothing
      : state === 'working'
        ? html`<p>${progress(sentence)}</p>`
        : html`<p class=${state === 'failed' || !fits ? 'error' : ''}>
            ${
              state === 'planned'
                ? icon(fits ? 'pass' : 'warning')
                : state === 'failed'
                  ? icon('error')
                  : nothing
            }<span class="sentence">${sentence}</span>
          </p>`
  }
  ${
    state === 'unprepared'
      ? button({ disabled, label: t('Install…'), icon: 'cloud-download', onPress: () => act('prepare') })
      : installing?.state === 'now' && !disabled
        ? button({ label: t('Cancel'), onPress: () => act('cancel') })
        : state === 'asked'
          ? button({ disabled, label: t('Plan'), icon: 'cloud-download', onPress: () => act('plan') })
          : state === 'failed'
            ? button({ disabled, label: t('Plan again'), icon: 'refresh', onPress: () => act('plan') })
            : nothing
  }
  ${
    rows.length === 0
      ? nothing
      : html`<dl class="plan">${rows.map(({ label, value }) => namedValue(label, value))}</dl>`
  }
  ${
    advice.length === 0
      ? nothing
      : html`<h3>${t('What would help')}</h3>
          <ul class="advice">
            ${advice.map((sentenceOfIt) => html`<li>${sentenceOfIt}</li>`)}
          </ul>`
  }
  ${checkList(checks)}`;
}

export function checkList(checks: readonly CheckView[]): TemplateResult | typeof nothing {
  if (checks.length === 0) return nothing;
  return html`<ul class="checks" aria-label=${t('What was checked')}>
    ${checks.map(
      ({ name, isFailed, command, saw, remedy }) =>
        html`<li>
          <p class=${isFailed ? 'error' : ''}>
            ${icon(isFailed ? 'error' : 'warning')}<span
              ><strong>${name}</strong> ${isFailed ? t('has failed') : t('should be checked')}</span
            >
          </p>
          <dl class="plan">
            ${namedValue(t('Command'), html`<code>${command}</code>`)}
            ${namedValue(t('Output'), html`<code>${saw}</code>`)}
            ${remedy === '' ? nothing : namedValue(t('How to fix it'), remedy)}
          </dl>
        </li>`,
    )}
  </ul>`;
}
