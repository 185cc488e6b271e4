import { html, nothing, type TemplateResult } from 'lit';
import { t } from '../language';
import { linkButton } from '../ui';
import { endHint } from './endHint';
import { host } from './host';
import { keys } from './keys';
import type { SessionState } from './protocol';

/** The ways out of a dialogue that is not over. */
export function leaving(state: SessionState): TemplateResult {
  const { canEnd, phase } = state;
  const offersEnd = canEnd === true || phase === 'choosing';
  const canSkip = ['choosing', 'developer', 'stopped'].includes(phase);
  return html`${
    offersEnd ? linkButton(t('End now'), () => host.act('end-now'), endHint(state), keys.endNow) : nothing
  }
  ${canSkip ? linkButton(t('Skip…'), () => host.act('skip'), t('Leave this task, with a reason'), keys.skip) : nothing}`;
}
