import { randomBytes, randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import * as z from 'zod';
import type {
  AgentSeatAction,
  AgentSeatAnswer,
  AgentSeatView,
  SeatAction,
  SeatAnswer,
  SeatView,
  ViewRequest,
} from '../../../webview/seat/protocol';
import type { ConsentForm } from '../../../webview/session/protocol';
import { Fault, messageOf } from '../../core/fault';
import { jsonOrUndefined } from '../../core/json';
import { Listener } from '../../core/serving/listener';
import { readBody, RefusedRequest, RequestMemory, sendJson } from '../../core/serving/messages';
import { pageRefusalOf } from '../../core/serving/pageAccess';
import { consentLevels } from '../../core/trajectory/event';
import { recordConsent } from '../../core/trajectory/recordConsent';
import type { AgentSeats } from './agentSeats';
import { Seat, type SeatPlan } from './seat';

interface SeatServerOptions {
  readonly host: string;
  readonly port: number;
  /** Of the developers' link. */
  readonly token: string;
  /** The agents' link, where people play the agent. */
  readonly agents?: { readonly seats: AgentSeats; readonly token: string };
  readonly origin?: string;
  /** Folder of the built pages. */
  readonly pages: string;
  /** Name of the data folder, which the consent form shows. */
  readonly folder: string;
  readonly plan: Omit<SeatPlan, 'signal' | 'agents'>;
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
const consentSchema = z.object({
  type: z.literal('consent'),
  consent: z.object({
    pseudonym: nameSchema,
    purpose: z.string().trim().min(1).max(MAX_PURPOSE_CHARS),
    level: z.enum(consentLevels),
  }),
});
const actionSchema: z.ZodType<SeatAction> = z.discriminatedUnion('type', [
  consentSchema,
  z.object({ type: z.enum(['start', 'again', 'next']), pseudonym: nameSchema }),
  z.object({
    type: z.literal('reply'),
    ...{ pseudonym: nameSchema, task: z.string(), turn: z.int(), text: z.string(), anyway: z.boolean() },
  }),
]);
const agentActionSchema: z.ZodType<AgentSeatAction> = z.discriminatedUnion('type', [
  consentSchema,
  z.object({ type: z.literal('next'), pseudonym: nameSchema }),
  z.object({
    ...{ type: z.literal('say'), pseudonym: nameSchema, dialogue: z.string(), turn: z.int() },
    ...{ text: z.string().regex(/\S/, 'The message is empty.'), isAnswer: z.boolean() },
  }),
]);

interface SeatPage {
  readonly element: string;
  readonly title: string;
}

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
    const { token, agents } = options;
    const isPublic = (url: string): boolean => server.pageAt(url) !== undefined || fileAt(url) !== undefined;
    const tokenOf = ({ url }: IncomingMessage): string =>
      agents !== undefined && url?.startsWith('/agent/') === true ? agents.token : token;
    server.listener = await Listener.open(options, {
      name: 'The page',
      refusalOf: (request) => pageRefusalOf(request, { ...options, token: tokenOf(request), isPublic }),
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
    this.options.agents?.seats.close();
    await Promise.all([...this.seats.values()].map((seat) => seat.close()));
    await this.listener?.close(reason);
  }

  /** Never rejects. */
  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    setHeaders(response);
    try {
      const { method, url = '' } = request;
      const file = method === 'GET' ? fileAt(url) : undefined;
      const page = method === 'GET' ? this.pageAt(url) : undefined;
      const seats = method === 'POST' ? this.options.agents?.seats : undefined;
      if (page !== undefined) sendPage(response, page);
      else if (file !== undefined) await this.sendFile(response, file);
      else if (method === 'POST' && url === '/seat/view') {
        sendJson(response, 200, await this.view(await this.bodyOf(request, response, viewSchema)));
      } else if (method === 'POST' && url === '/seat/act') {
        sendJson(response, 200, await this.act(await this.bodyOf(request, response, actionSchema)));
      } else if (seats !== undefined && url === '/agent/view') {
        const asked = await this.bodyOf(request, response, viewSchema);
        sendJson(response, 200, await this.agentView(seats, asked, response));
      } else if (seats !== undefined && url === '/agent/act') {
        const action = await this.bodyOf(request, response, agentActionSchema);
        sendJson(response, 200, await this.agentAct(seats, action));
      } else sendJson(response, 404, { detail: 'There is nothing at this address.' });
    } catch (error) {
      const status = error instanceof RefusedRequest ? error.status : 500;
      sendJson(response, status, { detail: messageOf(error) });
    }
  }

  private pageAt(url: string): SeatPage | undefined {
    if (url === '/') return { element: 'tandem-seat', title: 'Reply to an agent: Tandem' };
    const isAgents = url === '/agent' && this.options.agents !== undefined;
    return isAgents ? { element: 'tandem-agent-seat', title: 'Play the agent: Tandem' } : undefined;
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

  private async agentView(
    seats: AgentSeats,
    { pseudonym, after }: ViewRequest,
    connection: ServerResponse,
  ): Promise<AgentSeatView> {
    if (pseudonym === undefined || !this.hasAgreed(pseudonym)) return this.agentForm(pseudonym);
    seats.attend(pseudonym, connection);
    return this.stop.signal.aborted ? seats.view(pseudonym) : seats.viewAfter(pseudonym, after, MAX_WAIT_MS);
  }

  private async agentAct(seats: AgentSeats, action: AgentSeatAction): Promise<AgentSeatAnswer> {
    if (action.type === 'consent') {
      await recordConsent(this.options.plan.log, action.consent);
      return { view: seats.view(action.consent.pseudonym) };
    }
    if (!this.hasAgreed(action.pseudonym)) return { view: this.agentForm(action.pseudonym) };
    return { view: await seats.act(action) };
  }

  private agentForm(pseudonym?: string): AgentSeatView {
    return { version: 0, phase: 'consent', consent: this.consentForm(pseudonym ?? newPseudonym('agent')) };
  }

  private hasAgreed(pseudonym: string): boolean {
    return this.options.plan.log.allowed.own(pseudonym)?.level !== undefined;
  }

  private consentForm(pseudonym: string): ConsentForm {
    return { pseudonym, purpose: 'Training and evaluation', level: 'local', folder: this.options.folder };
  }

  /** Undefined without a consent in the log: then nothing is logged of the person. */
  private seatOf(pseudonym: string): Seat | undefined {
    const { plan, agents } = this.options;
    if (!this.hasAgreed(pseudonym)) return undefined;
    const known = this.seats.get(pseudonym);
    if (known !== undefined) return known;
    const seat = new Seat(pseudonym, { ...plan, agents: agents?.seats, signal: this.stop.signal });
    this.seats.set(pseudonym, seat);
    // Whoever waits for it is told; the next request tries again.
    seat.arrived.catch(() => this.seats.delete(pseudonym));
    return seat;
  }

  private form(pseudonym?: string): SeatView {
    const { plan } = this.options;
    const { isAssigned } = plan.tasks;
    return {
      ...{ version: 0, phase: 'consent', agent: plan.parts.agent.name, turns: [], turn: 1 },
      ...{ maxTurns: plan.protocol.maxTurns, replyLimit: plan.protocol.replyLimit },
      isAssigned,
      // Tasks that are dealt out wait for the pseudonym that a person was given.
      consent: this.consentForm(pseudonym ?? (isAssigned ? '' : newPseudonym('developer'))),
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

const newPseudonym = (seat: string): string => `${seat}-${randomInt(36 ** 3, 36 ** 4).toString(36)}`;

/** An address never holds the token, but no site should hear of it either. Nothing is kept in a cache. */
function setHeaders(response: ServerResponse): void {
  response.setHeader('referrer-policy', 'no-referrer');
  response.setHeader('x-content-type-options', 'nosniff');
  response.setHeader('cache-control', 'no-store');
  response.setHeader('cross-origin-resource-policy', 'same-origin');
  response.setHeader('cross-origin-opener-policy', 'same-origin');
  response.setHeader('content-security-policy', `default-src 'none'; frame-ancestors 'none'`);
}

function sendPage(response: ServerResponse, { element, title }: SeatPage): void {
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
    <title>${title}</title>
  </head>
  <body>
    <${element}></${element}>
    <script type="module" src="/seat.js"></script>
  </body>
</html>
`);
}
