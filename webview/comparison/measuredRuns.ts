import { html, nothing, type TemplateResult } from 'lit';
import { t } from '../language';
import '../statistics/picture';
import { described, success } from '../statistics/measures';
import { bars, barsHeight } from '../statistics/pictures';
import type { GroupView } from '../statistics/protocol';
import { button, linkButton, progress } from '../ui';
import type { Theme } from '../ui/theme';
import { host } from './host';
import type { ComparisonView, MeasuredRunsView } from './protocol';
import { measuredTable } from './tables';

export function measuredRuns({ measured: all, runs, restriction, playing }: ComparisonView): TemplateResult {
  const silent = runs.flatMap((run) => [run.silent, run.startSilent]).filter((sentence) => sentence !== '');
  const canPlay = runs.some((run) => run.silent === '') && restriction === '';
  const isAlone = runs.length === 1;
  return html`<section aria-label=${t('Held-out success')}>
    <div class="heading-line">
      <h2>${t('Held-out success')}</h2>
      <span class="quiet"
        >${
          isAlone
            ? t(
                'on tasks that it was not trained on; the same tasks and seeds for the run and its base model',
              )
            : t('on tasks that none of the runs was trained on; the same tasks and seeds for all')
        }</span
      >
    </div>
    ${all.map(
      (one) =>
        html`<p class="measured">${one.title} <span class="quiet">${one.how}</span></p>
          ${successPicture(one)} ${measuredTable(one)}`,
    )}
    ${
      all.length === 0
        ? html`<p class="quiet">
            ${
              isAlone
                ? t(
                    'Not evaluated yet. An evaluation plays held-out tasks with the trained model and with its base model.',
                  )
                : t(
                    'Not evaluated together yet. An evaluation plays held-out tasks with the model of each run.',
                  )
            }
          </p>`
        : html`<p class="quiet">
            ${t('Intervals of 95 %: of success by Wilson over tasks; of differences, in percentage points, by the bootstrap over tasks, each task compared with itself.')}
          </p>`
    }
    ${
      restriction === ''
        ? nothing
        : html`<p class="quiet">
            ${restriction}
            ${linkButton(t('Manage Workspace Trust'), () => host.send({ type: 'act', action: 'trust' }))}
          </p>`
    }
    ${silent.map((sentence) => html`<p class="quiet">${sentence}</p>`)}
    ${
      playing !== ''
        ? progress(playing)
        : canPlay
          ? button({
              label: t('Evaluate…'),
              kind: 'primary',
              icon: 'beaker',
              title: t('Choose the tasks, then play them with each model'),
              onPress: () => host.send({ type: 'act', action: 'evaluate' }),
            })
          : nothing
    }
  </section>`;
}

function successPicture({ rows }: MeasuredRunsView): TemplateResult {
  const groups = rows.map(({ name, dialogues, success: value }): GroupView => ({
    ...{ name, dialogues, graded: dialogues },
    ...(value && { success: { value: value.mean, interval: value } }),
  }));
  return html`<tandem-picture
    .draw=${(theme: Theme) => bars(success, groups, theme)}
    .height=${barsHeight(groups.length)}
    .label=${described(success, groups)}
  ></tandem-picture>`;
}
