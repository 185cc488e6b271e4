import { html, nothing, type TemplateResult } from 'lit';
import '../dialogue/grade';
import { LETTERS, modelLabel, pickedWords } from '../dialogue/names';
import { starWords, givenStars } from '../dialogue/turn';
import { withVisibleControls } from '../dialogue/protocol';
import { t } from '../language';
import { icon } from '../ui';
import { table } from '../ui/table';
import type { Outcome } from './protocol';

export function outcome(learned: Outcome): TemplateResult {
  const { called, agent, pairs, grade, others } = learned;
  return html`<section class="outcome" aria-label=${t('What others said')}>
    <h2>${t('What others said')}</h2>
    <p>${icon('hubot')} ${t('agent: {0}', withVisibleControls(modelLabel(agent, called)))}</p>
    ${pairs.length === 0 ? nothing : choicesTable(learned)} ${ratingLine(t('you'), learned.stars)}
    ${
      others.length === 0
        ? html`<p class="quiet">${t('Nobody else has rated the dialogue.')}</p>`
        : others.map(({ by, stars, comment }) => ratingLine(withVisibleControls(by), stars, comment))
    }
    ${grade === undefined ? nothing : html`<tandem-grade .grade=${grade}></tandem-grade>`}
  </section>`;
}

function choicesTable({ pairs, called }: Outcome): TemplateResult {
  const judges = [...new Set(pairs.flatMap(({ others }) => others.map(({ by }) => by)))];
  return table(
    t('Choices between candidates'),
    [
      t('Turn'),
      ...LETTERS.map((letter) => t('Author of {0}', letter)),
      t('You'),
      ...judges.map(withVisibleControls),
    ],
    pairs.map(
      ({ turn, agents, own, others }) =>
        html`<th scope="row">${turn}</th>
          ${agents.map((one) => html`<td>${withVisibleControls(modelLabel(one, called))}</td>`)}
          <td>${pickedWords(own)}</td>
          ${judges.map((judge) => {
            const picked = others.find(({ by }) => by === judge)?.picked;
            if (picked === undefined) return html`<td class="quiet">–</td>`;
            return html`<td>${pickedWords(picked)} ${picked === own ? icon('check') : nothing}</td>`;
          })}`,
    ),
  );
}

function ratingLine(person: string, stars: number | undefined, comment?: string): TemplateResult {
  return html`<p>
    <strong>${person}</strong>
    ${stars === undefined ? nothing : givenStars(stars, starWords(stars))}
    ${comment === undefined ? nothing : t('“{0}”', withVisibleControls(comment))}
  </p>`;
}
