import { html, nothing, type TemplateResult } from 'lit';
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
          'End now',
          () => host.act('end-now'),
          "Take the agent's last message as its answer and grade it",
          keys.endNow,
        )
      : nothing
  }
  ${canSkip ? linkButton('Skip…', () => host.act('skip'), 'Leave this task, with a reason', keys.skip) : nothing}`;
}
