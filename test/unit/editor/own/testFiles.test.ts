import { beforeEach, describe, expect, it, vi } from 'vitest';
import { english } from '../translate';

/** An address in a folder of the window. */
interface Address {
  readonly path: string;
  readonly fsPath: string;
  toString(): string;
}

/** The part of the editor's API that a search for tests needs, with files in memory. */
const editor = vi.hoisted(() => ({
  /** Texts by path; undefined for a file that was deleted after it was found. */
  files: new Map<string, string | undefined>(),
  /** Arguments of the searches. */
  searches: [] as unknown[][],
  /** Numbers of files that were read, are being read, and were ever read at the same time. */
  read: 0,
  reading: 0,
  mostReading: 0,
  /** Called before a file is read. */
  beforeRead: (): unknown => undefined,
  shown: [] as string[],
  cancel: (): unknown => undefined,
  translate: String as (message: string, ...values: string[]) => string,

  l10n: { t: (message: string, ...values: string[]) => editor.translate(message, ...values) },
  ProgressLocation: { Notification: 15 },
  RelativePattern: class {
    constructor(readonly base: object) {}
  },
  CancellationTokenSource: class {
    readonly token = { isCancellationRequested: false };
    cancel(): void {
      this.token.isCancellationRequested = true;
    }
    readonly dispose = (): void => undefined;
  },
  window: {
    withProgress: (
      { title }: { title: string },
      run: (progress: object, token: object) => Promise<unknown>,
    ): Promise<unknown> => {
      editor.shown.push(title);
      const onCancellationRequested = (cancel: () => unknown) => {
        editor.cancel = cancel;
        return { dispose: () => undefined };
      };
      return run({}, { onCancellationRequested });
    },
    showInformationMessage: (message: string) => {
      editor.shown.push(message);
      return Promise.resolve(undefined);
    },
  },
  workspace: {
    isTrusted: true,
    textDocuments: [] as object[],
    getWorkspaceFolder: () => ({ uri: { fsPath: '/project' } }),
    findFiles: (...search: unknown[]) => {
      editor.searches.push(search);
      return Promise.resolve([...editor.files.keys()].map((path) => addressOf(path)));
    },
    fs: {
      readFile: async ({ path }: { path: string }) => {
        editor.read += 1;
        editor.mostReading = Math.max(editor.mostReading, (editor.reading += 1));
        await editor.beforeRead();
        editor.reading -= 1;
        const text = editor.files.get(path);
        if (text === undefined) throw new Error('no such file');
        return new TextEncoder().encode(text);
      },
    },
  },
}));
vi.mock('vscode', () => editor);
editor.translate = english;

const addressOf = (path: string): Address => ({ path, fsPath: path, toString: () => `file://${path}` });

const { testFilesNaming } = await import('../../../../src/editor/own/testFiles');
const { OwnTests } = await import('../../../../src/editor/own/ownTests');

beforeEach(() => {
  Object.assign(editor, { read: 0, reading: 0, mostReading: 0, beforeRead: () => undefined });
  editor.files.clear();
  editor.searches.length = 0;
  editor.shown.length = 0;
  editor.workspace.textDocuments = [];
});

/** Puts so many test files into the window, of which none names the function. */
function fill(count: number): void {
  for (let index = 0; index < count; index += 1)
    editor.files.set(`/project/test_${String(index).padStart(4, '0')}.py`, 'assert free(1) == 1\n');
}

async function found(name: string, signal = new AbortController().signal): Promise<string[]> {
  const files: string[] = [];
  for await (const { uri, text } of testFilesNaming(name, signal)) files.push(`${uri.path}: ${text}`);
  return files;
}

describe('the test files that name a function', () => {
  it('are found among any number, in the order of their addresses, a few of them read at a time', async () => {
    fill(500);
    editor.files.set('/project/z/tests.py', 'assert f(1) == 1');
    editor.files.set('/project/a/tests.py', 'assert f(2) == 2');
    editor.files.set('/project/b/tests.py', 'assert of(2) == f2(1)');
    expect(await found('f')).toEqual([
      '/project/a/tests.py: assert f(2) == 2',
      '/project/z/tests.py: assert f(1) == 1',
    ]);
    // The search itself has no limit.
    expect(editor.searches).toMatchObject([[expect.anything(), expect.anything(), undefined, {}]]);
    expect(editor.read).toBe(503);
    expect(editor.mostReading).toBeLessThanOrEqual(16);
  });
});

describe('the button that runs tests', () => {
  const document = { uri: addressOf('/project/shop.py'), fileName: '/project/shop.py', getText: () => '' };
  const tests = new OwnTests('run_tests.py');

  it('is there when one file names the function, and no other is read for it', async () => {
    fill(100);
    expect(await tests.mayExist(document as never, 'free')).toBe(true);
    expect(editor.read).toBe(16);
    expect(await tests.mayExist(document as never, 'f')).toBe(false);
    expect(editor.read).toBe(116);
    expect(await tests.mayExist(document as never, undefined)).toBe(false);
  });

  it('says that no file names the function only after all were read, which can be cancelled', async () => {
    fill(300);
    await tests.run(document as never, 'f');
    const none = 'No test file in this folder names f. Tandem looks in test_*.py, *_test.py and tests.py.';
    expect(editor.shown).toEqual(['Running the tests of f', none]);
    expect(editor.read).toBe(300);

    editor.shown.length = 0;
    editor.beforeRead = () => editor.cancel();
    expect(await tests.compare(document as never, 'f', { before: '', after: '' })).toBeUndefined();
    expect(editor.shown).toEqual(['Running the tests of f']);
    expect(editor.read).toBe(316);
  });
});
