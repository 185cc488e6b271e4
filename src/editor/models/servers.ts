import { z } from 'zod';
import { messageOf } from '../../core/fault';

/** What a server said when it was asked which models it has. */
export type ModelList =
  | { readonly kind: 'models'; readonly names: readonly string[] }
  | { readonly kind: 'unauthorized' }
  | { readonly kind: 'failed'; readonly reason: string };

const listSchema = z.object({ data: z.array(z.object({ id: z.string() })) });
/** A person waits for this; a server that does not answer by then is typed for instead. */
const TIME_LIMIT_MS = 5_000;

/** Asks an OpenAI-compatible server for its models. */
export async function listModels(server: string, key: string | undefined): Promise<ModelList> {
  try {
    const answer = await fetch(`${server}/models`, {
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(TIME_LIMIT_MS),
    });
    if (answer.status === 401 || answer.status === 403) return { kind: 'unauthorized' };
    if (!answer.ok)
      return { kind: 'failed', reason: `${server} answers ${answer.status} when asked for its models.` };
    const list = listSchema.safeParse(await answer.json());
    if (!list.success) return { kind: 'failed', reason: `${server} gives no list of its models.` };
    return { kind: 'models', names: list.data.data.map(({ id }) => id).sort() };
  } catch (error) {
    return { kind: 'failed', reason: `${server} cannot be reached now (${messageOf(error)}).` };
  }
}

/** A sentence when the text is no base URL. */
export function validateAddress(text: string): string | undefined {
  const address = URL.parse(text.trim());
  const fits = address !== null && /^https?:$/.test(address.protocol) && address.search === '';
  return fits ? undefined : 'Write an address such as http://127.0.0.1:8000/v1.';
}
