import * as z from 'zod';
import { lazily } from '../core/lazily';
import { readAddress } from '../core/model/address';
import { numberSchema } from '../core/numberRange';
import { eachSamplingNumber } from '../core/samplingSettings';
import type { Translate } from './translate';
import { withoutEnd } from '../core/text';

/** As `tandem.servers` holds it; the key is in the secret storage. */
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
    /** They override the settings of the same name. */
    sampling: z.object(eachSamplingNumber((_, setting) => numberSchema(setting).optional())).optional(),
    /** US dollars per million tokens. */
    price: z.object({ prompt: z.number().min(0), completion: z.number().min(0) }).optional(),
  }),
);

export type Server = z.infer<ReturnType<typeof serverSchema>>;

/** Since this window was opened. */
export type ServerState =
  | { readonly kind: 'untested' }
  | { readonly kind: 'testing' }
  | { readonly kind: 'works'; readonly notes: readonly string[] }
  /** Problem and remedy. */
  | { readonly kind: 'fails'; readonly why: string };

/** Its name in the settings and the log. */
export function specOf({ model, baseUrl }: Pick<Server, 'model' | 'baseUrl'>): string {
  return `openai:${model}@${baseUrl}`;
}

/** Returns a sentence when the text is not a base URL. */
export function validateAddress(text: string, t: Translate): string | undefined {
  const address = readAddress(text);
  if (address === 'none') return t('Enter an address such as {0}.', 'http://127.0.0.1:8000/v1');
  if (address === 'has-user')
    return t('Leave name and password out of the address; the key is asked for next.');
  return undefined;
}

/** The log names the model by it. */
export function withoutSlash(address: string): string {
  return withoutEnd(address.trim(), '/');
}
