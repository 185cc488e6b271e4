import { html, nothing, type TemplateResult } from 'lit';
import { t } from '../language';
import { linkButton } from '../ui';
import { host } from './host';
import { keys } from './keys';
import type { SessionState } from './protocol';

/** The ways out of a dialogue that is not over. */
export function leaving({ canEnd, phase }: SessionState): TemplateResult {
  const offersEnd = canEnd === true || phase === 'choosing';
  const canSkip = ['choosing', 'developer', 'stopped'].includes(phase);
  return html`${
    offersEnd
      ? linkButton(
          t('End now'),
          () => host.act('end-now'),
          t("Take the agent's last message as its answer and grade it"),
          keys.endNow,
        )
      : nothing
  }
  ${canSkip ? linkButton(t('Skip…'), () => host.act('skip'), t('Leave this task, with a reason'), keys.skip) : nothing}`;
}
