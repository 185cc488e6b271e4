import { randomBytes, randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import * as z from 'zod';
import type { SeatAction, SeatAnswer, SeatView, ViewRequest } from '../../../webview/seat/protocol';
import { Fault, messageOf } from '../../core/fault';
import { jsonOrUndefined } from '../../core/json';
import { Listener } from '../../core/serving/listener';
import { readBody, RefusedRequest, RequestMemory, sendJson } from '../../core/serving/messages';
import { pageRefusalOf } from '../../core/serving/pageAccess';
import { consentLevels } from '../../core/trajectory/event';
import { recordConsent } from '../../core/trajectory/recordConsent';
import { Seat, type SeatPlan } from './seat';

interface SeatServerOptions {
  readonly host: string;
  readonly port: number;
  readonly token: string;
  readonly origin?: string;
  /** Folder of the built pages. */
  readonly pages: string;
  /** Name of the data folder, which the consent form shows. */
  readonly folder: string;
  readonly plan: Omit<SeatPlan, 'signal'>;
}

/** A page asks again after so long; what stands between may end a connection that is silent for a minute. */
const MAX_WAIT_MS = 25_000;
const MAX_REQUEST_BYTES = 1024 * 1024;
const MAX_NAME_CHARS = 100;
const MAX_PURPOSE_CHARS = 1000;

const nameSchema = z.string().trim().min(1).max(MAX_NAME_CHARS);
const viewSchema: z.ZodType<ViewRequest> = z.object({
  pseudonym: nameSchema.exactOptional(),
  after: z.int().exactOptional(),
});
const actionSchema: z.ZodType<SeatAction> = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('consent'),
    consent: z.object({
      pseudonym: nameSchema,
      purpose: z.string().trim().min(1).max(MAX_PURPOSE_CHARS),
      level: z.enum(consentLevels),
    }),
  }),
  z.object({ type: z.enum(['start', 'again', 'next']), pseudonym: nameSchema }),
  z.object({
    type: z.literal('reply'),
    ...{ pseudonym: nameSchema, task: z.string(), turn: z.int(), text: z.string(), anyway: z.boolean() },
  }),
]);

interface PageFile {
  readonly name: string;
  readonly type: string;
}

/** Nothing of them is secret. */
const files: readonly PageFile[] = [
  { name: 'seat.js', type: 'text/javascript; charset=utf-8' },
  { name: 'seat.css', type: 'text/css; charset=utf-8' },
  { name: 'codicon.ttf', type: 'font/ttf' },
];

/** The icon font is asked for with the version of its package in the query. */
const fileAt = (url: string): PageFile | undefined =>
  files.find(({ name }) => url.split('?', 1)[0] === `/${name}`);

/** Serves the page on which people play, and what the page asks for. */
export class SeatServer {
  private readonly seats = new Map<string, Seat>();
  private readonly memory = new RequestMemory();
  private readonly stop = new AbortController();
  private listener: Listener | undefined;

  private constructor(private readonly options: SeatServerOptions) {}

  /** @throws {Fault} `serving/address` when it cannot listen there */
  static async start(options: SeatServerOptions): Promise<SeatServer> {
    const server = new SeatServer(options);
    const isPublic = (url: string): boolean => url === '/' || fileAt(url) !== undefined;
    server.listener = await Listener.open(options, {
      name: 'The page',
      refusalOf: (request) => pageRefusalOf(request, { ...options, isPublic }),
      answer: (request, response) => server.answer(request, response),
      refuse: (response, { status, detail }) => {
        setHeaders(response);
        sendJson(response, status, { detail });
      },
    });
    return server;
  }

  get address(): string {
    return this.options.origin ?? this.listener!.address;
  }

  async close(): Promise<void> {
    const reason = new Fault('environment/over', 'The server was stopped.');
    this.stop.abort(reason);
    await Promise.all([...this.seats.values()].map((seat) => seat.close()));
    await this.listener?.close(reason);
  }

  /** Never rejects. */
  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    setHeaders(response);
    try {
      const { method, url = '' } = request;
      const file = method === 'GET' ? fileAt(url) : undefined;
      if (method === 'GET' && url === '/') sendPage(response);
      else if (file !== undefined) await this.sendFile(response, file);
      else if (method === 'POST' && url === '/seat/view') {
        sendJson(response, 200, await this.view(await this.bodyOf(request, response, viewSchema)));
      } else if (method === 'POST' && url === '/seat/act') {
        sendJson(response, 200, await this.act(await this.bodyOf(request, response, actionSchema)));
      } else sendJson(response, 404, { detail: 'There is nothing at this address.' });
    } catch (error) {
      const status = error instanceof RefusedRequest ? error.status : 500;
      sendJson(response, status, { detail: messageOf(error) });
    }
  }

  private async view({ pseudonym, after }: ViewRequest): Promise<SeatView> {
    const seat = pseudonym === undefined ? undefined : this.seatOf(pseudonym);
    return seat?.viewAfter(after, MAX_WAIT_MS) ?? this.form(pseudonym);
  }

  private async act(action: SeatAction): Promise<SeatAnswer> {
    if (action.type !== 'consent') {
      const seat = this.seatOf(action.pseudonym);
      return seat?.act(action) ?? { view: this.form(action.pseudonym) };
    }
    const { consent } = action;
    await recordConsent(this.options.plan.log, consent);
    const seat = this.seatOf(consent.pseudonym);
    await seat?.arrived;
    return { view: seat?.view ?? this.form(consent.pseudonym) };
  }

  /** Undefined without a consent in the log: then nothing is logged of the person. */
  private seatOf(pseudonym: string): Seat | undefined {
    const { plan } = this.options;
    if (plan.log.allowed.own(pseudonym)?.level === undefined) return undefined;
    const known = this.seats.get(pseudonym);
    if (known !== undefined) return known;
    const seat = new Seat(pseudonym, { ...plan, signal: this.stop.signal });
    this.seats.set(pseudonym, seat);
    // Whoever waits for it is told; the next request tries again.
    seat.arrived.catch(() => this.seats.delete(pseudonym));
    return seat;
  }

  private form(pseudonym?: string): SeatView {
    const { plan, folder } = this.options;
    const { isAssigned } = plan.tasks;
    return {
      ...{ version: 0, phase: 'consent', agent: plan.parts.agent.name, turns: [], turn: 1 },
      ...{ maxTurns: plan.protocol.maxTurns, replyLimit: plan.protocol.replyLimit },
      isAssigned,
      consent: {
        // Tasks that are dealt out wait for the pseudonym that a person was given.
        pseudonym: pseudonym ?? (isAssigned ? '' : `developer-${randomInt(36 ** 3, 36 ** 4).toString(36)}`),
        ...{ purpose: 'Training and evaluation', level: 'local', folder },
      },
    };
  }

  private async bodyOf<Body>(
    request: IncomingMessage,
    response: ServerResponse,
    schema: z.ZodType<Body>,
  ): Promise<Body> {
    const limits = { mostBytes: MAX_REQUEST_BYTES, signal: this.stop.signal, memory: this.memory };
    const body = await readBody(request, response, limits);
    const { data, error } = schema.safeParse(jsonOrUndefined(body.toString('utf8')));
    if (error !== undefined) throw new RefusedRequest(422, z.prettifyError(error));
    return data;
  }

  private async sendFile(response: ServerResponse, { name, type }: PageFile): Promise<void> {
    const content = await readFile(path.join(this.options.pages, name));
    response.writeHead(200, { 'content-type': type, 'content-length': content.length });
    response.end(content);
  }
}

/** An address never holds the token, but no site should hear of it either. Nothing is kept in a cache. */
function setHeaders(response: ServerResponse): void {
  response.setHeader('referrer-policy', 'no-referrer');
  response.setHeader('x-content-type-options', 'nosniff');
  response.setHeader('cache-control', 'no-store');
  response.setHeader('cross-origin-resource-policy', 'same-origin');
  response.setHeader('cross-origin-opener-policy', 'same-origin');
  response.setHeader('content-security-policy', `default-src 'none'; frame-ancestors 'none'`);
}

function sendPage(response: ServerResponse): void {
  // The component toolkit reads this nonce from the page for the style elements that it makes.
  const nonce = randomBytes(16).toString('base64url');
  const policy = [
    `default-src 'none'`,
    `script-src 'self'`,
    `style-src 'self' 'nonce-${nonce}'`,
    `font-src 'self'`,
    `connect-src 'self'`,
    `img-src data:`,
    ...[`base-uri 'none'`, `form-action 'none'`, `frame-ancestors 'none'`],
  ].join('; ');
  response.setHeader('content-security-policy', policy);
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
  response.end(`<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <meta property="csp-nonce" content="${nonce}" />
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="/seat.css" />
    <title>Tandem: reply to an agent</title>
  </head>
  <body>
    <tandem-seat></tandem-seat>
    <script type="module" src="/seat.js"></script>
  </body>
</html>
`);
}
