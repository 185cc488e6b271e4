import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { faults } from '../../src/core/faults';

const sources = globSync('src/**/*.ts').map((file) => ({ file, text: readFileSync(file, 'utf8') }));
const codes = Object.keys(faults);

describe('the catalogue of faults', () => {
  it('is in the documentation, which `-u` writes again', async () => {
    const rows = Object.entries(faults).map(
      ([code, [means, remedy]]) => `| \`${code}\` | ${means} | ${remedy} |`,
    );
    const page = `# Faults

Every sentence that Tandem shows about something that went wrong has a code. The sentence names the thing and what to do; the code tells
a program which kind it is: \`tandem … --json\` prints both as \`error\`, and the output channel shows both. Sentences may change, codes do not.

| code | what it means | what to do |
|---|---|---|
${rows.join('\n')}
`;
    await expect(page).toMatchFileSnapshot('../../docs/faults.md');
  });

  it('has no code that nothing uses', () => {
    const text = sources
      .filter(({ file }) => !file.endsWith('faults.ts'))
      .map((source) => source.text)
      .join('\n');
    expect(codes.filter((code) => !text.includes(`'${code}'`))).toEqual([]);
  });

  it('has every code that a comment names', () => {
    const named = sources.flatMap(({ text }) =>
      [...text.matchAll(/\{Fault\}((?:,? `[a-z]+\/[a-z0-9-]+`)+)/g)].flatMap(([, list]) =>
        [...list!.matchAll(/`([^`]+)`/g)].map(([, code]) => code!),
      ),
    );
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((code) => !codes.includes(code))).toEqual([]);
  });
});
