import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { speak, decimal, enumerated, grouped } from '../../../webview/language';
import { choiceWords } from '../../../webview/dialogue/names';
import { renderMarkdown } from '../../../webview/dialogue/markdown';
import type { GradeView } from '../../../webview/session/protocol';
import { gradeSaid } from '../../../webview/session/view';
import { rendered } from './rendered';

vi.mock('@vscode/webview-ui-toolkit', () => import('./toolkit'));

/** The page has the translations before the first module of a view is read. */
vi.hoisted(() => {
  const german = {
    Grade: 'Bewertung',
    Expected: 'Erwartet',
    'timed out': 'Zeit abgelaufen',
    'Test {0}, {1}: details': 'Test {0}, {1}: Einzelheiten',
    '{0}. Not passed: tests {1}.': '{0}. Nicht bestanden: Tests {1}.',
    'You chose {0} over {1}.': 'Du hast {0} statt {1} gewählt.',
    'In {0}. Tandem sends it nowhere else.': 'In {0}. Tandem schickt es nirgends hin.',
    '{0} and {1} in the Command Palette.': 'In der Befehlspalette {1} und {0}.',
    'May be exported': 'Darf ausgeführt werden',
    'Copy the code': 'Den Code "kopieren" <b>',
  };
  vi.stubGlobal('document', {
    documentElement: { lang: 'de' },
    getElementById: () => ({ textContent: JSON.stringify(german) }),
  });
});

/** Imports a view dynamically, because views are another TypeScript program with browser types. */
async function view<Module>(file: string): Promise<Module> {
  return (await import(path.resolve('webview', file))) as Module;
}

beforeAll(() => {
  vi.unstubAllGlobals();
  vi.stubGlobal('acquireVsCodeApi', () => ({}));
});

// All files of a worker share the package that translates.
afterAll(() => {
  speak('en', '{}');
  vi.unstubAllGlobals();
});

const grade: GradeView = {
  headline: '1 von 3',
  verdict: 'partial',
  mode: 'fixed',
  tests: [
    { call: 'f()', status: 'passed', milliseconds: 1.25 },
    { call: 'f()', status: 'wrong' },
    { call: 'f()', status: 'timed-out' },
  ],
};

describe('in an editor that speaks another language', () => {
  it('a view is drawn in that language, with its numbers, and in English where a sentence is missing', async () => {
    const { GradeElement } = await view<{
      GradeElement: new () => { grade: GradeView; render(): unknown };
    }>('dialogue/grade.ts');
    const element = new GradeElement();
    element.grade = grade;
    const html = rendered(element.render());
    expect(html).toContain('aria-label=Bewertung');
    expect(html).toContain('>Erwartet</th>');
    expect(html).toContain('aria-label=Test 3, Zeit abgelaufen: Einzelheiten');
    expect(html).toContain('1,3');
    expect(html).toContain('>Got</th>');
  });

  it('markup stands where the translation wants it', async () => {
    const { ConsentElement } = await view<{
      ConsentElement: new () => { suggestion: object; render(): unknown };
    }>('session/consent.ts');
    const element = new ConsentElement();
    element.suggestion = { pseudonym: 'ada', purpose: 'a test', level: 'local', folder: '/d/{1}' };
    const html = rendered(element.render());
    expect(html).toContain('In <code>/d/{1}</code>. Tandem schickt es nirgends hin.');
    expect(html).toMatch(
      /In der Befehlspalette <span class="name">Delete My Data…<\/span> und <span class="name">Change/,
    );
    expect(html).toContain('>Darf ausgeführt werden</span>');
  });

  it('sentences that are put together are of that language', () => {
    expect(gradeSaid(grade)).toBe('1 von 3. Nicht bestanden: Tests 2, 3.');
    const said = { visible: 'How?', thoughts: '', final: false };
    expect(choiceWords({ picked: 1, by: 'ada', candidates: [said, said] }, 'ada', {})).toBe(
      'Du hast B statt A gewählt.',
    );
    expect([grouped(1204), decimal(1204, 1), enumerated([2, 3, 5])]).toEqual([
      '1.204',
      '1204,0',
      '2, 3 und 5',
    ]);
  });

  it('a sentence in an attribute of Markdown stays in it', () => {
    expect(renderMarkdown('```\nx\n```')).toContain('title="Den Code &quot;kopieren&quot; &lt;b&gt;"');
  });
});
