import * as z from 'zod';
import { lazily } from '../../core/lazily';
import { readAddress } from '../../core/model/address';
import type { Translate } from '../translate';
import { withoutEnd } from '../../core/text';

/** A model behind a server that speaks OpenAI's API, as `tandem.servers` holds it; the key is in the secret storage. */
export const serverSchema = lazily(() =>
  z.object({
    name: z.string().trim().min(1),
    baseUrl: z
      .string()
      .refine(
        (text) => typeof readAddress(text) !== 'string',
        'Write an address such as http://127.0.0.1:8000/v1',
      )
      .transform(withoutSlash),
    model: z.string().trim().min(1),
    /** Where it plays the agent, in place of the settings of the same name. */
    sampling: z
      .object({
        temperature: z.number().min(0).max(2).optional(),
        topP: z.number().positive().max(1).optional(),
        topK: z.int().min(0).optional(),
        maxTokens: z.int().positive().optional(),
      })
      .optional(),
    /** US dollars per million tokens. */
    price: z.object({ prompt: z.number().min(0), completion: z.number().min(0) }).optional(),
  }),
);

export type Server = z.infer<ReturnType<typeof serverSchema>>;

/** What is known of a server since this window was opened. */
export type ServerState =
  | { readonly kind: 'untested' }
  | { readonly kind: 'testing' }
  | { readonly kind: 'works'; readonly notes: readonly string[] }
  /** In a sentence or two: what is wrong, what to do. */
  | { readonly kind: 'fails'; readonly why: string };

/** As the settings and the log name it. */
export function specOf({ model, baseUrl }: Pick<Server, 'model' | 'baseUrl'>): string {
  return `openai:${model}@${baseUrl}`;
}

/** A sentence when the text is no base URL. */
export function validateAddress(text: string, t: Translate): string | undefined {
  const address = readAddress(text);
  if (address === 'none') return t('Enter an address such as {0}.', 'http://127.0.0.1:8000/v1');
  if (address === 'has-user')
    return t('Leave name and password out of the address; the key is asked for next.');
  return undefined;
}

/** A base URL as settings keep it: as it was written, because the log names the model by it. */
export function withoutSlash(address: string): string {
  return withoutEnd(address.trim(), '/');
}
