import * as z from 'zod';

const requestSchema = z.object({
  jsonrpc: z.literal('2.0'),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).default({}),
  id: z.union([z.string(), z.number()]).nullish(),
});

/** OpenEnv requires the address to exist; this environment has no tools, because its agent speaks in messages. */
export function mcpResponse(body: unknown): object {
  const request = requestSchema.safeParse(body);
  if (!request.success) return failure(-32_600, 'This is not a request of JSON-RPC 2.0.', undefined);
  const { method, id } = request.data;
  if (method === 'tools/list' || method === 'tools/call') {
    return failure(-32_603, 'This environment has no tools; play it over /ws.', id);
  }
  return failure(-32_601, `Method not found: ${method.slice(0, 80)}`, id);
}

const failure = (code: number, message: string, id: string | number | null | undefined): object => ({
  jsonrpc: '2.0',
  error: { code, message },
  ...(id !== undefined && id !== null && { id }),
});
