import { describe, expect, it, vi } from 'vitest';
import { readMessage, type PageMessages } from '../../../src/editor/pageMessages';
import { fromPages } from '../../fixtures/messages/from-pages';
import { malformed, strangers, type Malformed } from '../../fixtures/messages/malformed';

vi.mock('vscode', () => import('./vscode'));
const { WebviewPanel } = await import('./vscode');
const { Panel } = await import('../../../src/editor/panel');

type PageName = keyof PageMessages;

/** Every correct message of every page. */
const right = Object.entries(fromPages).flatMap(([page, kinds]) =>
  Object.values<{ readonly type: string }>(kinds).map((message) => ({ page: page as PageName, message })),
);

/** Optional fields. */
const optional = [
  ...['start consent', 'reply draft.suggestion', 'draft draft.suggestion', 'rate change.stars'],
  ...['rate change.comment', 'rate-turn change.thumb', 'rate-turn change.comment', 'finish comment'],
  ...[
    'ready choice.stage',
    'ready choice.figure',
    'choose choice.stage',
    'choose choice.figure',
    'ready values',
  ],
];
/** Fields whose text is one of a few words. */
const words = ['type', 'level', 'picked', 'thumb', 'action', 'figure', 'size', 'kind'];

/** Returns whether a changed message is still correct, independently of the schemas, which are tested against it. */
function isRight(type: string, { path, how, before }: Malformed): boolean {
  const place = `${type} ${path.join('.')}`;
  const field = String(path.at(-1));
  const isOfTable = ['values', 'ids', 'thumbs'].includes(String(path[0])) && path.length === 2;
  switch (how) {
    case 'removed':
      return optional.includes(place) || isOfTable;
    case 'undefined':
      return optional.includes(place);
    case 'null':
      return place === 'judge agrees';
    case 'true':
      return typeof before === 'boolean';
    case 'a number':
      return ['turn', 'run', 'pair', 'milliseconds'].includes(field);
    case 'an empty list':
      return ['ids', 'thumbs'].includes(field);
    case 'an empty object':
      return ['change', 'choice', 'values'].includes(field);
    case 'huge':
      return field === 'content';
    case 'with a constructor':
      return field === 'values';
    case 'with a __proto__':
      // The message is accepted without the field.
      return true;
    case 'an empty text':
      return typeof before === 'string' && ![...words, 'pseudonym', 'purpose'].includes(field);
    case 'a text':
    case '__proto__':
    case 'constructor':
    case 'toString':
      return typeof before === 'string' && !words.includes(field);
    default:
      return false;
  }
}

const isRead = (page: PageName, message: unknown): boolean => 'message' in readMessage(page, message);

describe('a message of a page', () => {
  it('is taken as it is when it is right', () => {
    for (const { page, message } of right) expect(readMessage(page, message)).toEqual({ message });
  });

  it('is refused when anything of it does not fit, and only then', () => {
    const wrong = right.flatMap(({ page, message }) =>
      [...malformed(message)]
        .filter((one) => isRead(page, one.message) !== isRight(message.type, one))
        .map(({ what }) => `${page} ${message.type}: ${what}`),
    );
    expect(wrong).toEqual([]);
  });

  it('is refused when it is of no kind that the page has', () => {
    for (const page of Object.keys(fromPages) as PageName[])
      expect(strangers.filter((stranger) => isRead(page, stranger))).toEqual([]);
  });

  it('brings no prototype with it', () => {
    for (const { page, message } of right) {
      for (const one of malformed(message)) {
        if (one.how === 'with a __proto__') expect(readMessage(page, one.message)).toStrictEqual({ message });
      }
    }
  });
});

/** Makes a panel; the test acts as its page. */
function panel(name: PageName, receive: (message: unknown) => unknown = vi.fn()) {
  const made = new WebviewPanel();
  const errors = { show: vi.fn(), report: vi.fn<(error: unknown) => void>() };
  const onMalformed = vi.fn();
  class Shown extends Panel<PageName, unknown> {
    override receive = receive;
    override onMalformed = onMalformed;
  }
  new Shown(made as never, { name, icon: 'beaker', extension: '/extension' as never, errors });
  return { ...errors, onMalformed, say: (said: unknown) => made.say(said) };
}

describe('a panel', () => {
  it.each(Object.keys(fromPages) as PageName[])(
    'hears nothing of what %s says wrong, and notes it once',
    async (name) => {
      const receive = vi.fn();
      const { say, show, report, onMalformed } = panel(name, receive);
      const wrong = [
        ...strangers,
        ...right
          .filter(({ page }) => page === name)
          .flatMap(({ message }) =>
            [...malformed(message)].filter((one) => !isRight(message.type, one)).map((one) => one.message),
          ),
      ];
      for (const message of [...wrong, ...wrong]) await say(message);
      expect(receive).not.toHaveBeenCalled();
      expect(show).not.toHaveBeenCalled();
      expect(onMalformed).toHaveBeenCalledTimes(2 * wrong.length);
      const sentences = report.mock.calls.map(([error]) => String(error));
      expect(new Set(sentences).size).toBe(sentences.length);
      for (const sentence of sentences)
        expect(sentence).toMatch(
          /^Fault: The page “\w+” sent a message that [^\n]{1,80}\. Nothing was done with it/,
        );
    },
  );

  it('says of which field a message is wrong', async () => {
    const { say, report, onMalformed } = panel('session');
    await say({ type: 'rate', change: { stars: 9 } });
    expect(report).toHaveBeenCalledWith(
      expect.objectContaining({
        code: 'editor/page-message',
        message: expect.stringContaining('is called “rate” and has a wrong “change”') as string,
      }),
    );
    expect(onMalformed).toHaveBeenCalledWith('rate');
  });

  it('tells what fails with a right message, at once or later', async () => {
    const error = new Error('The disk is full.');
    for (const receive of [
      () => Promise.reject(error),
      () => {
        throw error;
      },
    ]) {
      const { say, show } = panel('statistics', receive);
      await say({ type: 'ready' });
      expect(show.mock.calls).toEqual([[error]]);
    }
  });
});
