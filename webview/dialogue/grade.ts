import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { unsafeHTML } from 'lit/directives/unsafe-html.js';
import { t, decimal } from '../language';
import { icon, namedValue } from '../ui';
import './grade.css';
import { PlainElement } from './element';
import { renderPython } from './markdown';
import type { DebriefLine, GradeView, PageGradeView, TestView, Verdict } from '../session/protocol';
import { withVisibleControls } from './protocol';

const looks: Record<TestView['status'], { icon: string; words: string }> = {
  passed: { icon: 'pass', words: t('passed') },
  wrong: { icon: 'error', words: t('wrong') },
  error: { icon: 'error', words: t('error') },
  'timed-out': { icon: 'watch', words: t('timed out') },
  'not-gradable': { icon: 'question', words: t('not gradable') },
};

/** Told apart by their shapes; the color repeats it. */
export const verdictIcons: Readonly<Record<Verdict, string>> = {
  passed: 'pass',
  partial: 'pie-chart',
  failed: 'error',
};

/** The first failed test is open. */
@customElement('tandem-grade')
export class GradeElement extends PlainElement {
  @property({ attribute: false }) grade!: GradeView;
  @state() private open: number | undefined;

  override willUpdate(changed: Map<string, unknown>): void {
    if (!changed.has('grade')) return;
    const failing = this.grade.tests.findIndex((test) => test.status !== 'passed');
    this.open = failing === -1 ? undefined : failing;
  }

  override render(): TemplateResult {
    const { headline, verdict, tests, mode, debrief = [], page } = this.grade;
    return html`<div class="grade" role="group" aria-label=${t('Grade')}>
      <h2 class=${verdict ?? ''}>
        ${icon(verdict === undefined ? (page === undefined ? 'question' : 'browser') : verdictIcons[verdict])}
        ${headline}
      </h2>
      ${mode === 'paper' ? html`<p class="quiet">${t('Scored as in the paper, including its faults.')}</p>` : nothing}
      ${debriefList(debrief)} ${page === undefined ? this.tests(tests) : pageScores(page)}
    </div>`;
  }

  private tests(tests: readonly TestView[]): TemplateResult {
    if (tests.length === 0)
      return html`<p class="quiet">${t('The result of each test is not recorded.')}</p>`;
    return html`<table role="table">
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader" scope="col">${t('Test')}</th>
          <th role="columnheader" scope="col">${t('Call')}</th>
          <th role="columnheader" scope="col" class="wide">${t('Expected')}</th>
          <th role="columnheader" scope="col" class="wide">${t('Got')}</th>
          <th role="columnheader" scope="col" class="number">${t('ms')}</th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${tests.map((test, index) => this.row(test, index))}
      </tbody>
    </table>`;
  }

  private row(test: TestView, index: number): TemplateResult {
    const look = looks[test.status];
    const open = this.open === index;
    const toggle = (): void => {
      this.open = open ? undefined : index;
    };
    return html`<tr role="row" class="test ${test.status}">
        <td role="cell">
          <button
            type="button"
            class="disclosure"
            aria-expanded=${open}
            aria-label=${t('Test {0}, {1}: details', index + 1, look.words)}
            @click=${toggle}
          >
            ${icon(open ? 'chevron-down' : 'chevron-right')} ${icon(look.icon)}
            <span class="words">${look.words}</span>
          </button>
        </td>
        <td role="cell" class="cell"><code>${unsafeHTML(renderPython(test.call))}</code></td>
        <td role="cell" class="cell wide">
          <code>${withVisibleControls(test.expected ?? '')}</code>
        </td>
        <td role="cell" class="cell wide">
          <code>${withVisibleControls(test.got ?? '')}</code>
        </td>
        <td role="cell" class="number">
          ${test.milliseconds === undefined ? '' : milliseconds(test.milliseconds)}
        </td>
      </tr>
      ${
        open
          ? html`<tr role="row" class="details">
              <td role="cell"></td>
              <td role="cell" colspan="4">${details(test)}</td>
            </tr>`
          : nothing
      }`;
  }
}

/** Scores of two measures, versions or renderers are not comparable, so all three stand there. */
function pageScores({ measure, parts, drafts, renderer }: PageGradeView): TemplateResult {
  return html`<dl class="page-scores">
    ${parts.map(([name, score]) => namedValue(name, html`<span>${decimal(score, 2)}</span>`))}
    ${
      drafts.length < 2
        ? nothing
        : namedValue(
            t('each draft'),
            drafts.map(
              ({ turn, score }) =>
                html`<span title=${t('Turn {0}', turn)}>${t('{0}: {1}', turn, decimal(score, 2))}</span>`,
            ),
          )
    }
    ${namedValue(
      t('measure'),
      html`<span class="quiet"
        >${renderer === undefined ? measure : t('{0}; drawn by {1}', measure, withVisibleControls(renderer))}</span
      >`,
    )}
  </dl>`;
}

function debriefList(lines: readonly DebriefLine[]): TemplateResult | typeof nothing {
  if (lines.length === 0) return nothing;
  return html`<ul class="debrief">
    ${lines.map(
      ({ text, call }) =>
        html`<li>
          ${withVisibleControls(text)}
          ${call === undefined ? nothing : html`<code>${unsafeHTML(renderPython(call))}</code>`}
        </li>`,
    )}
  </ul>`;
}

function details({ call, expected, got, status }: TestView): TemplateResult {
  const part = (name: string, body: unknown): TemplateResult =>
    html`<dt>${name}</dt>
      <dd>
        <pre tabindex="0"><code>${body}</code></pre>
      </dd>`;
  return html`<dl>
    ${part(t('call'), unsafeHTML(renderPython(call)))}
    ${expected === undefined ? nothing : part(t('expected'), withVisibleControls(expected))}
    ${got === undefined ? nothing : part(status === 'wrong' ? t('got') : looks[status].words, withVisibleControls(got))}
    ${
      status === 'passed'
        ? html`<dt>${t('result')}</dt>
            <dd>${t('same as the reference')}</dd>`
        : nothing
    }
  </dl>`;
}

/** One decimal below 10, none from there on; `< 0.1` below 0.1. */
function milliseconds(value: number): string {
  if (value < 0.1) return `< ${decimal(0.1, 1)}`;
  return decimal(value, value < 10 ? 1 : 0);
}
