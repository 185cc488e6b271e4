import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CONSTRUCTS, Template } from '../../../../src/core/model/local/template/template';

interface Shared {
  readonly variables: object;
  readonly rendered: readonly (readonly [string, string])[];
  readonly refused: readonly (readonly [string, string])[];
}

// trainer/tests/test_template_check.py holds Python to the same file.
const shared = JSON.parse(readFileSync('trainer/tests/template_renderings.json', 'utf8')) as Shared;

describe('a chat template', () => {
  it.each(shared.rendered)('renders as in Python: %j', (template, text) => {
    expect(new Template(template).render(shared.variables)).toBe(text);
  });

  it.each(shared.refused)('is refused when it is opened: %j', (template, construct) => {
    expect(() => new Template(template)).toThrow(`uses ${construct}, which`);
  });

  it('keeps the indentation of code after thoughts', () => {
    const template = new Template(
      "{% for m in messages %}{{ m.content.split('</think>')[-1].lstrip('\\n') }}{% endfor %}",
    );
    const messages = [{ role: 'assistant', content: '<think>\nhm\n</think>\n\n    return 1\n' }];
    expect(template.render({ messages })).toBe('    return 1\n');
  });

  it.each(['filters', 'tests', 'methods'] as const)('may use the %s that the trainer accepts', (kind) => {
    const source = readFileSync('trainer/tandem_trainer/data/template_check.py', 'utf8');
    const [list = ''] = new RegExp(`"${kind}": \\([^)]*\\)`).exec(source) ?? [];
    const names = [...list.matchAll(/^\s+"(.*)"$/gm)].flatMap(([, line = '']) => line.trim().split(' '));
    expect(names).toEqual([...new Set(CONSTRUCTS[kind])].sort());
  });

  it.each(['{{ (((1 }}', '{% if x %}', '{{ "a', '{# no end', '{{ }}', '{{ a b }}'])(
    'that is damaged is refused: %j',
    (template) => {
      expect(() => new Template(template)).toThrow(/line 1 of the template/);
    },
  );
});
