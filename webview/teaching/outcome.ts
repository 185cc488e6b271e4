import { html, nothing, svg, type TemplateResult } from 'lit';
import { t } from '../language';
import { decimal } from '../language/numbers';
import type { MeasuredView, TeachingView } from './protocol';

/** What came out: one sentence, and success before and after as bars with their intervals. */
export function outcome({ outcome: shown }: TeachingView): TemplateResult | typeof nothing {
  if (shown === undefined) return nothing;
  const { sentence, remark, measured } = shown;
  return html`<section class="outcome" aria-label=${t('Outcome')}>
    <p class="result">${sentence}</p>
    ${remark === '' ? nothing : html`<p class="quiet">${remark}</p>`} ${bars(measured)}
  </section>`;
}

const percent = (fraction: number): string => t('{0} %', decimal(100 * fraction, 0));

const ROW = 30;
const BAR = 16;
/** Units of the picture from 0 to 100 %. */
const WIDE = 400;

function bars(measured: readonly MeasuredView[]): TemplateResult {
  return html`<figure>
    <div class="bars">
      <div class="labels">${measured.map(({ label }) => html`<span>${label}</span>`)}</div>
      <svg
        height=${measured.length * ROW}
        viewBox="0 0 ${WIDE} ${measured.length * ROW}"
        preserveAspectRatio="none"
        role="img"
        aria-label=${measured
          .map(({ label, success, low, high }) =>
            t('{0}: {1}, 95 % interval {2} to {3}', label, percent(success), percent(low), percent(high)),
          )
          .join('; ')}
      >
        ${measured.map((one, index) => bar(one, index))}
      </svg>
      <div class="values" aria-hidden="true">
        ${measured.map(({ success }) => html`<span>${percent(success)}</span>`)}
      </div>
    </div>
    <figcaption class="quiet">${t('Success on held-out tasks; the lines are 95 % intervals.')}</figcaption>
  </figure>`;
}

function bar({ success, low, high }: MeasuredView, index: number): TemplateResult {
  const middle = (index + 0.5) * ROW;
  return svg`<rect class="track" x="0" y=${middle - BAR / 2} width=${WIDE} height=${BAR}></rect>
    <rect class="bar ${index % 2 === 0 ? 'before' : 'after'}" x="0" y=${middle - BAR / 2} width=${success * WIDE} height=${BAR}></rect>
    <line x1=${low * WIDE} x2=${high * WIDE} y1=${middle} y2=${middle} vector-effect="non-scaling-stroke"></line>
    <line x1=${low * WIDE} x2=${low * WIDE} y1=${middle - 5} y2=${middle + 5} vector-effect="non-scaling-stroke"></line>
    <line x1=${high * WIDE} x2=${high * WIDE} y1=${middle - 5} y2=${middle + 5} vector-effect="non-scaling-stroke"></line>`;
}
