import { parseAgentMessage } from '../../core/dialogue/protocol';
import type { PeoplesAgreement, Disagreement } from '../../core/evaluation/people/agreement';
import { reliance } from '../../core/evaluation/people/words';
import { judgements, type DisagreementView, type ToWebview } from '../../../webview/people/protocol';

/** Maximum number of disagreements on the page. */
export const SHOWN = 100;

export function agreementView({
  people,
  shared,
  alpha,
  disagreements,
}: PeoplesAgreement): Pick<ToWebview, 'people' | 'shared' | 'alpha' | 'disagreements' | 'left'> {
  const alphas = judgements.map((kind) => {
    const { alpha: value, interval, units } = alpha[kind];
    const reliable = reliance(alpha[kind]);
    return [
      kind,
      {
        units,
        ...(value !== undefined && { alpha: value }),
        ...(interval && { interval }),
        ...(reliable && { reliance: reliable }),
      },
    ];
  });
  const shown = disagreements.slice(0, SHOWN);
  return {
    ...{ people, shared },
    alpha: Object.fromEntries(alphas) as ToWebview['alpha'],
    disagreements: shown.map(disagreementView),
    left: disagreements.length - shown.length,
  };
}

function disagreementView(disagreement: Disagreement): DisagreementView {
  const { kind, episode, title, turn, messages, said } = disagreement;
  return {
    ...{ kind, episode, title, said },
    ...(turn !== undefined && { turn }),
    ...(messages && { messages: messages.map(shownText) }),
  };
}

/** As a person saw it: the message, or the answer. */
function shownText(text: string): string {
  const { visible, answer } = parseAgentMessage(text);
  return answer ?? visible;
}
