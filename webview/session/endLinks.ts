import { html, nothing, type TemplateResult } from 'lit';
import { t } from '../language';
import { linkButton } from '../ui';
import { host } from './host';
import { keys } from './keys';
import type { SessionState } from './protocol';

export function leaving(state: SessionState): TemplateResult {
  const { canEnd, phase } = state;
  const offersEnd = canEnd === true || phase === 'choosing';
  const canSkip = ['choosing', 'developer', 'stopped'].includes(phase);
  return html`${
    offersEnd ? linkButton(t('End now'), () => host.act('end-now'), endHint(state), keys.endNow) : nothing
  }
  ${canSkip ? linkButton(t('Skip…'), () => host.act('skip'), t('Leave this task, with a reason'), keys.skip) : nothing}`;
}

/** A developer's own function is reviewed, because it has no hidden tests. */
function endHint({ onlyDeveloperKnows }: SessionState): string {
  return onlyDeveloperKnows === true
    ? t("Take the agent's last message as its answer and review the change")
    : t("Take the agent's last message as its answer and grade it");
}
