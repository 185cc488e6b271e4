import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const CATALOGUE = 'src/core/fault.ts';
const sources = globSync('src/**/*.ts').map((file) => ({ file, text: readFileSync(file, 'utf8') }));
// The compiler checks that a thrown code exists; only the text of the type can be listed.
const codes = [...readFileSync(CATALOGUE, 'utf8').matchAll(/^ {2}\| '([^']+)'/gm)].map(([, code]) => code!);

describe('the codes of faults', () => {
  it('are in the documentation, which `-u` writes', async () => {
    const rows = Object.entries(Object.groupBy(codes, (code) => code.split('/')[0]!)).map(
      ([area, list]) => `| ${area} | ${list!.map((code) => `\`${code}\``).join(', ')} |`,
    );
    const page = `# Faults

Everything that goes wrong has a code for programs and a sentence for people. \`tandem … --json\` prints both as \`error\`; the output channel
shows both. The sentence names the thing and what to do, and may change. Codes do not change: the part before the slash is the area, and
\`usage\` means wrong use of a command (see its \`--help\`).

| area | codes |
|---|---|
${rows.join('\n')}
`;
    await expect(page).toMatchFileSnapshot('../../docs/faults.md');
  });

  it('are all used', () => {
    const text = sources
      .filter(({ file }) => file !== CATALOGUE)
      .map((source) => source.text)
      .join('\n');
    expect(codes.filter((code) => !text.includes(`'${code}'`))).toEqual([]);
  });

  it('exist where a comment names them', () => {
    const named = sources.flatMap(({ text }) =>
      [...text.matchAll(/\{Fault\}((?:,? `[a-z]+\/[a-z0-9-]+`)+)/g)].flatMap(([, list]) =>
        [...list!.matchAll(/`([^`]+)`/g)].map(([, code]) => code!),
      ),
    );
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((code) => !codes.includes(code))).toEqual([]);
  });
});
