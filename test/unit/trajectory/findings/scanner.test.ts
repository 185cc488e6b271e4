import { describe, expect, it } from 'vitest';
import { maskedExcerpt, spansIn } from '../../../../src/core/trajectory/findings/scanner';

/** Invented secrets in the services' formats; they are concatenated so that secret scanners do not report this file. */
const secrets = {
  'github token': ['ghp_', 'wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx'].join(''),
  'slack token': ['xoxb-', '123456789012-1234567890123-abcdefghijklmnopqrstuvwx'].join(''),
  'basic auth': ['https://bob:', 'hunter22pass@db.internal.corp/x'].join(''),
  'aws secret access key': ['AWS_SECRET_ACCESS_KEY = ', 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzzKE'].join(''),
};
const token = secrets['github token'];

describe('what is found in a text', () => {
  it.each(Object.entries(secrets))('%s, of which the excerpt gives nothing away', async (what, secret) => {
    const text = `Use this:\n  my own ${secret} and no other.`;
    const spans = await spansIn(text);
    expect(spans.map((span) => [span.kind, span.what])).toEqual([['secret', what]]);
    const excerpt = maskedExcerpt(text, spans, spans[0]!);
    expect(excerpt).toMatch(/^ {2}my own .{4}•••$/);
  });

  it('nothing of one that stands before another on the same line', async () => {
    const text = `keys: ${token} ${secrets['slack token']}`;
    const spans = await spansIn(text);
    expect(spans.map((span) => maskedExcerpt(text, spans, span))).toEqual(['keys: ghp_•••', '…xoxb•••']);
  });

  it.each([
    ['ada.lovelace+x@mail.engine.org', true],
    ['Write to ADA@Engine.Co.Uk, please', true],
    ['"jürgen@müller.de"', true],
    ['test("user@example.com")', false],
    ['someone@mail.test', false],
    ['@dataclass.field', false],
    ['x = a @ b.transpose()', false],
    ['a@b', false],
    ['openai:tiny@http://127.0.0.1:8000', false],
    ['a@b.T', false],
  ])('an e-mail address in %s: %s', async (text, isOne) => {
    expect((await spansIn(text)).map(({ kind }) => kind)).toEqual(isOne ? ['e-mail address'] : []);
  });
});
