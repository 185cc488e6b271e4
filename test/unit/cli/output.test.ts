import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi, type MockInstance } from 'vitest';
import { print, printJson, printLines, printRows, say, StatusLine } from '../../../src/cli/terminal';

const FOREIGN = 'an id \u001b[31m\u009b2J\r\u202e of\n\tmine';
const SHOWN = String.raw`an id \x1b[31m\x9b2J\x0d\u202e of` + '\n\tmine';

function writtenTo(stream: NodeJS.WriteStream, write: () => void): string {
  const written: string[] = [];
  const spy: MockInstance = vi.spyOn(stream, 'write').mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  onTestFinished(() => spy.mockRestore());
  write();
  return written.join('');
}

describe('what a command writes', () => {
  it('shows the controls of a terminal as text, on both streams; lines and tabs stay', () => {
    expect(writtenTo(process.stdout, () => print(FOREIGN))).toBe(`${SHOWN}\n`);
    expect(writtenTo(process.stderr, () => say(FOREIGN))).toBe(`${SHOWN}\n`);
  });

  it('moves the cursor only by what Tandem itself writes', () => {
    const { columns, isTTY } = process.stderr;
    onTestFinished(() => void Object.assign(process.stderr, { columns, isTTY }));
    Object.assign(process.stderr, { columns: 80, isTTY: true });
    const status = new StatusLine(0);
    expect(writtenTo(process.stderr, () => status.show('a\nb\u001b[2K'))).toBe(
      String.raw`${'\r\u001b[K'}a\x0ab\x1b[2K`,
    );
    expect(writtenTo(process.stderr, () => status.say(FOREIGN))).toBe(`\r\u001b[K${SHOWN}\n`);
  });

  it('is as JSON free of controls too, and read again as it was', () => {
    const written = writtenTo(process.stdout, () => printJson({ id: FOREIGN }));
    expect(written).not.toMatch(/[^\P{Cc}\n]/u);
    expect(JSON.parse(written)).toEqual({ id: FOREIGN });
  });

  /** Records everything written to stdout, and reports a full buffer until `drain`. */
  function slowStdout(onWrite: () => void = () => undefined): string[] {
    const written: string[] = [];
    const spy: MockInstance = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      written.push(String(text));
      onWrite();
      setImmediate(() => process.stdout.emit('drain'));
      return false;
    });
    onTestFinished(() => spy.mockRestore());
    return written;
  }

  it.each([
    ['lines', printLines, 'a\nb\n'],
    [
      'rows',
      (items: AsyncIterable<string>) => printRows(items, { summary: 2 }),
      '{"rows":["a","b"],"summary":2}\n',
    ],
  ])('takes one of many %s after the other, when the one before is read', async (_, print, whole) => {
    const taken: string[] = [];
    async function* items(): AsyncGenerator<string> {
      for (const item of ['a', 'b']) {
        await Promise.resolve();
        taken.push(item);
        yield item;
      }
    }
    const written = slowStdout(() => expect(taken).toHaveLength(Math.min(written.length, 2)));
    await print(items());
    expect(written.join('')).toBe(whole);
  });

  it('goes through one place', () => {
    const sources = readdirSync('src/cli', { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.ts'),
    );
    const writing = sources.filter((file) =>
      /std(out|err)\.write\(|console\./.test(readFileSync(path.join('src/cli', file), 'utf8')),
    );
    // tandem.ts prints only its own text, before it loads other modules.
    expect(writing.sort()).toEqual(['tandem.ts', 'terminal.ts']);
  });
});
