import { html, nothing, type TemplateResult } from 'lit';
import { t } from '../language';
import type { ModelNames, ChoiceView } from '../session/protocol';
import { icon } from '../ui';
import { candidateName, choiceWords } from './names';
import { passedOver } from './turn';
import { withVisibleControls } from './untrusted';

/** @param own pseudonym of the person at this editor @param took duration, in a sentence */
export function choiceMade(
  choice: ChoiceView,
  own: string | undefined,
  called: ModelNames,
  onRead: () => void,
  took?: string,
): TemplateResult {
  const others = choice.picked === 'neither' ? ([0, 1] as const) : ([choice.picked === 1 ? 0 : 1] as const);
  return html`<div class="choice">
    <p class="quiet">
      ${icon('check')}
      ${withVisibleControls(choiceWords(choice, own, called))}${took === undefined ? nothing : ` ${took}`}
    </p>
    ${others.map((place) => {
      const name = candidateName(choice, place, called);
      const words = { name: t('candidate {0}', name), thoughts: t('Thoughts of candidate {0}', name) };
      return passedOver(choice.candidates[place], words, onRead);
    })}
  </div>`;
}
