import { html, type TemplateResult } from 'lit';
import { icon } from '../ui';
import { choiceWords } from './view';
import type { ChoiceView } from './protocol';
import { said } from '../dialogue/said';

/** A choice that was made, and what the dialogue did not go on with. */
export function choiceMade(choice: ChoiceView): TemplateResult {
  const passedOver = choice.picked === 'neither' ? ([0, 1] as const) : [choice.picked === 1 ? 0 : 1];
  return html`<div class="choice">
    <p class="quiet">${icon('check')} ${choiceWords(choice)}</p>
    ${passedOver.map(
      (place) =>
        html`<details class="thoughts">
          <summary>candidate ${'AB'[place]}</summary>
          <div class="passed-over">${said(choice.visible[place]!)}</div>
        </details>`,
    )}
  </div>`;
}
