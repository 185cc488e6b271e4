import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type CallToolResult,
  type ServerNotification,
  type Tool as ListedTool,
} from '@modelcontextprotocol/sdk/types.js';
import { Fault, messageOf } from '../core/fault';
import { isObject, jsonOrUndefined } from '../core/json';
import { sentenceFor, type Tool, type ToolCall, type Workplace } from '../core/tools/tool';
import { toolNamed, tools } from '../core/tools/tools';
import { say } from './terminal';
import { version } from '../../package.json';

const INSTRUCTIONS =
  'Tandem plays collaborative programming tasks between an agent and a simulator, grades and logs the dialogues, and trains models on them. The usual way: list packs, collect some dialogues, show figures, start a run, list runs until it is done, evaluate its model against its base.';

/**
 * Serves stdin and stdout until stdin ends or the signal is aborted; calls that are not finished then are cancelled,
 * and their part of the log stays.
 */
export async function serveTools(at: Workplace, signal: AbortSignal): Promise<void> {
  const ended = new AbortController();
  const any = AbortSignal.any([signal, ended.signal]);
  const calls = new Set<Promise<unknown>>();
  const mcp = new McpServer(
    { name: 'tandem', version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  // The registry of the SDK would refuse bad input in its own words and list the tools a second time.
  mcp.server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: Object.entries(tools).map(listed) }));
  mcp.server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => {
    const tool = toolNamed(params.name);
    if (tool === undefined) throw new McpError(ErrorCode.InvalidParams, `There is no tool "${params.name}".`);
    const report = progressTo(params._meta?.progressToken, extra.sendNotification);
    const call = resultOf(tool, params.arguments ?? {}, at, {
      report,
      signal: AbortSignal.any([extra.signal, any]),
    }).finally(() => calls.delete(call));
    calls.add(call);
    return call;
  });
  const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
  const input = Readable.from(messagesIn(lines));
  await mcp.connect(new StdioServerTransport(input));
  input.once('close', () => ended.abort());
  if (!any.aborted) await once(any, 'abort');
  await Promise.all(calls);
  await mcp.close();
  lines.close();
}

/** The SDK refuses `null` for what is left out, as clients in other languages write it. */
async function* messagesIn(lines: AsyncIterable<string>): AsyncGenerator<Buffer> {
  for await (const line of lines) {
    const message = jsonOrUndefined(line.replace(/^\uFEFF/, ''));
    const text = isObject(message) ? JSON.stringify(withoutNulls(message)) : line;
    yield Buffer.from(`${text}\n`);
  }
}

const FIELDS_LEFT_OUT: ReadonlySet<string> = new Set(['params', '_meta', 'arguments', 'progressToken']);

/** @param value a message, its `params`, or what stands in them */
function withoutNulls(value: object): object {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([field, member]) => member !== null || !FIELDS_LEFT_OUT.has(field))
      .map(([field, member]) => [
        field,
        FIELDS_LEFT_OUT.has(field) && field !== 'arguments' && isObject(member)
          ? withoutNulls(member)
          : member,
      ]),
  );
}

function listed([name, { title, description, inputSchema, effect, asksModels }]: [string, Tool]): ListedTool {
  return {
    ...{ name, title, description },
    inputSchema: inputSchema as ListedTool['inputSchema'],
    annotations: {
      title,
      readOnlyHint: effect === 'reads',
      destructiveHint: effect === 'interrupts',
      openWorldHint: asksModels,
    },
  };
}

/** A fault is a result as well, which the model reads. */
async function resultOf(tool: Tool, given: unknown, at: Workplace, call: ToolCall): Promise<CallToolResult> {
  try {
    const { text, data } = await tool.call(given, at, call);
    return { content: [{ type: 'text', text }], structuredContent: data };
  } catch (error) {
    if (!(error instanceof Fault) && !call.signal.aborted)
      say(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return { isError: true, content: [{ type: 'text', text: sentenceFor(error) }] };
  }
}

/**
 * If the client asked for progress. The numbers grow with every notification, as the protocol demands, also where the
 * extent of the work is unknown.
 */
function progressTo(
  progressToken: string | number | undefined,
  send: (notification: ServerNotification) => Promise<void>,
): ToolCall['report'] {
  if (progressToken === undefined) return () => undefined;
  let last = -1;
  return (message, done, total) => {
    const progress = done ?? last + 1;
    if (progress <= last) return;
    last = progress;
    send({ method: 'notifications/progress', params: { progressToken, progress, total, message } }).catch(
      // The client has disconnected; the call ends with stdin.
      (error: unknown) => say(`No progress was reported: ${messageOf(error)}`),
    );
  };
}
