import * as z from 'zod';
import { Fault } from '../core/fault';
import { lazily } from '../core/lazily';
import { pinned as pinnedPages } from '../../webview/pages/protocol';
import { figureNames } from '../../webview/chart/protocol';
import * as comparison from '../../webview/comparison/protocol';
import type { PageFile } from '../../webview/saving/protocol';
import type * as newRun from '../../webview/newRun/protocol';
import * as replay from '../../webview/replay/protocol';
import * as run from '../../webview/run/protocol';
import * as runs from '../../webview/runs/protocol';
import * as session from '../../webview/session/protocol';
import * as judging from '../../webview/judging/protocol';
import type * as people from '../../webview/people/protocol';
import type * as statistics from '../../webview/statistics/protocol';
import * as teaching from '../../webview/teaching/protocol';

export interface PageMessages {
  readonly session: session.FromWebview;
  readonly replay: replay.FromWebview;
  readonly statistics: statistics.FromWebview;
  readonly judging: judging.FromWebview;
  readonly people: people.FromWebview;
  readonly run: run.FromWebview;
  readonly runs: runs.FromWebview;
  readonly newRun: newRun.FromWebview;
  readonly comparison: comparison.FromWebview;
  readonly teaching: teaching.FromWebview;
}

export type OfKind<Message, Kind> = Message extends { readonly type: infer Kinds }
  ? Kind extends Kinds
    ? Message
    : never
  : never;
/** A schema for each field of a message, optional fields included. */
type Fields<Message> = {
  readonly [Field in Exclude<keyof Message, 'type'>]-?: z.ZodType<Message[Field]>;
};
/** Lists the fields of every kind of message of every page; a missing one does not compile. */
type Kinds = {
  readonly [Page in keyof PageMessages]: {
    readonly [Kind in PageMessages[Page]['type']]: Fields<OfKind<PageMessages[Page], Kind>>;
  };
};

/** Maximum number of characters of a text; no person writes or copies more at once. */
const MAX_CHARS = 5_000_000;
/** Maximum number of characters of a file; a comparison of a hundred long runs has a third of them. */
const MAX_FILE_CHARS = 50_000_000;
/** Maximum number of values; a form has some fifty fields. */
const MAX_VALUES = 1000;
/** Maximum number of elements and texts of a page; clean pages have at most 5,000 elements. */
const MAX_NODES = 20_000;
/** Maximum size of an element of a page. */
const MAX_PIXELS = 1e8;
/** Maximum number of runs that are chosen at once. */
const MAX_RUNS = 10_000;

/** Every PNG begins with this in base64: its signature and its first chunk. */
const PNG = 'iVBORw0KGgoAAAANSUhEUg';

const kinds = lazily((): Kinds => {
  const text = z.string().max(MAX_CHARS);
  const name = z.string().max(10_000);
  const given = name.refine((written) => written.trim() !== '');
  const turn = z.int().min(1);
  const choice = z.strictObject({ stage: name.optional(), figure: z.enum(figureNames).optional() });
  const pinned = { stage: name, figure: z.enum(figureNames), isPinned: z.boolean() };
  const place = z.number().min(0).max(1);
  const pin = z.strictObject({ of: z.enum(pinnedPages), x: place, y: place, words: name });
  const draft = z.strictObject({
    text,
    suggestion: z.strictObject({ text, by: name, replaced: text }).optional(),
    pins: z.array(pin).max(session.MAX_PINS).optional(),
  });
  const style = z.string().max(200);
  const size = z.number().min(-MAX_PIXELS).max(MAX_PIXELS);
  const laidOut = z.strictObject({
    ...{ tag: style, parent: z.int().min(-1), paintOrder: z.int(), text: text.optional() },
    box: z.strictObject({ x: size, y: size, width: size, height: size }),
    ...{ display: style, color: style, backgroundColor: style, fontSize: style, fontWeight: style },
    ...{ opacity: style, visibility: style },
  });
  const file: z.ZodType<PageFile> = z
    .strictObject({ name, kind: z.enum(['csv', 'png']), content: z.string().max(MAX_FILE_CHARS) })
    .refine(({ kind, content }) => kind === 'csv' || content.startsWith(PNG));
  const values = z.record(name, text).refine((written) => Object.keys(written).length <= MAX_VALUES);
  return {
    session: {
      ready: {},
      start: {
        consent: z
          .strictObject({ pseudonym: given, purpose: given, level: z.enum(session.levels) })
          .optional(),
      },
      reply: { draft, anyway: z.boolean() },
      draft: { draft },
      choose: { picked: z.literal([0, 1, 'equal', 'neither']) },
      rate: {
        change: z.strictObject({ stars: z.int().min(1).max(5).optional(), comment: text.optional() }),
      },
      'rate-turn': {
        turn,
        change: z.strictObject({
          thumb: z.enum(['up', 'down', 'none']).optional(),
          comment: text.optional(),
        }),
      },
      'open-link': { address: text },
      copy: { text },
      'laid-out': {
        ...{ id: z.int(), browser: name },
        nodes: z
          .array(laidOut)
          .max(MAX_NODES)
          .refine((nodes) => nodes.every(({ parent }, index) => parent < index)),
      },
      act: { action: z.enum(session.actions) },
    },
    replay: {
      ready: {},
      'open-link': { address: text },
      copy: { text },
      'choose-critic': {},
      score: {},
      'manage-trust': {},
      judge: { episode: name, turn, agrees: z.boolean().nullable() },
      act: { action: z.enum(replay.actions), episode: name },
    },
    statistics: { ready: {}, filter: {}, play: {}, save: { file } },
    judging: {
      ready: {},
      'open-link': { address: text },
      copy: { text },
      choose: {
        ...{ turn, pair: z.int().min(0), picked: z.literal([0, 1, 'equal', 'neither']) },
        milliseconds: z.int().min(0),
      },
      finish: {
        ...{ stars: z.int().min(1).max(5), comment: name.optional() },
        thumbs: z.array(z.strictObject({ turn, thumb: z.enum(['up', 'down']) })).max(MAX_VALUES),
      },
      act: { action: z.enum(judging.actions) },
    },
    people: { ready: {}, filter: {}, open: { episode: name }, save: { file } },
    run: {
      ...{ ready: { choice }, choose: { choice }, act: { action: z.enum(run.actions) } },
      ...{ pin: pinned, save: { file } },
    },
    runs: {
      ready: {},
      new: {},
      open: { id: name },
      act: { action: z.enum(runs.actions), ids: z.array(name).max(MAX_RUNS) },
      save: { file },
    },
    newRun: {
      ready: { values: values.optional() },
      change: { values },
      ...{ browse: {}, start: {}, cancel: {}, openFile: {}, prepare: {}, plan: {} },
      askCluster: {},
      ...{ collect: {}, generate: {}, play: {}, import: {}, trust: {} },
    },
    comparison: {
      ready: { choice },
      choose: { choice },
      act: { action: z.enum(comparison.actions) },
      open: { run: z.int().min(0) },
      pin: pinned,
      save: { file },
    },
    teaching: {
      ready: {},
      start: { size: z.enum(teaching.sizes) },
      choose: { world: z.enum(teaching.worlds) },
      act: { action: z.enum(teaching.actions) },
    },
  };
});

const schemas = lazily(() => {
  const all = Object.entries<Readonly<Record<string, Readonly<Record<string, z.ZodType>>>>>(kinds());
  return new Map(
    all.map(([page, ofPage]) => [
      page,
      new Map(
        Object.entries(ofPage).map(([kind, fields]) => [
          kind,
          z.strictObject({ type: z.literal(kind), ...fields }) as z.ZodType,
        ]),
      ),
    ]),
  );
});

export interface ErrorSink {
  show(error: unknown): void;
  report(error: unknown): void;
}

export interface PageReceiver<Page extends keyof PageMessages> {
  /** True once the page has said `ready`: what is posted before is lost and must not count as sent. */
  isListening: boolean;
  receive(message: PageMessages[Page]): unknown;
  /** Called for an invalid message. @param kind of the message, where it has one */
  onMalformed(kind: string | undefined): void;
}

export function pageListener<Page extends keyof PageMessages>(
  page: Page,
  panel: PageReceiver<Page>,
  errors: ErrorSink,
): (said: unknown) => Promise<void> {
  // Each fault is reported once, so that a page that keeps failing does not fill the output channel.
  const noted = new Set<string>();
  return async (said) => {
    const read = readMessage(page, said);
    try {
      if ('message' in read) {
        if (read.message.type === 'ready') panel.isListening = true;
        await panel.receive(read.message);
        return;
      }
      const { kind, fault } = read;
      if (!noted.has(fault.message)) errors.report(fault);
      noted.add(fault.message);
      panel.onMalformed(kind);
    } catch (error) {
      errors.show(error);
    }
  };
}

type ReadMessage<Page extends keyof PageMessages> =
  { readonly message: PageMessages[Page] } | { readonly fault: Fault; readonly kind: string | undefined };

/** A page shows texts of others, so it is trusted no more than they are; it may also be of another version. */
export function readMessage<Page extends keyof PageMessages>(page: Page, said: unknown): ReadMessage<Page> {
  const ofPage = schemas().get(page)!;
  const type = typeof said === 'object' && said !== null && 'type' in said ? said.type : undefined;
  const kind = typeof type === 'string' && ofPage.has(type) ? type : undefined;
  if (kind === undefined) return { kind, fault: unread(page, 'is of no kind that it has') };
  const read = ofPage.get(kind)!.safeParse(said);
  if (read.success) {
    const message = read.data as PageMessages[Page];
    return { message };
  }
  const [field] = read.error.issues[0]!.path;
  const what = field === undefined ? 'has a field too many' : `has a wrong “${String(field)}”`;
  return { kind, fault: unread(page, `is called “${kind}” and ${what}`) };
}

/** Returns a fault without any text of the page, so that the page cannot fill the log. */
const unread = (page: string, what: string): Fault =>
  new Fault(
    'editor/page-message',
    `The page “${page}” sent a message that ${what}. Nothing was done with it; if the page does not do what it is told, close it and open it again.`,
  );
