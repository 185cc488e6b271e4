import type { SecretStorage } from 'vscode';
import { withoutEnd } from '../core/text';

/** Where the `openai` package sends requests when no base URL is given. */
const OPENAI = 'https://api.openai.com/v1';

/** The base URL of the server that plays a model; undefined for models that need none. */
export function serverOf(model: string): string | undefined {
  if (!model.startsWith('openai:')) return undefined;
  const at = /@(https?:\/\/.+)/.exec(model.split(/\s/).at(-1)!)?.[1];
  return withoutEnd(at ?? process.env.OPENAI_BASE_URL ?? OPENAI, '/');
}

/** API keys, one for each server, in the editor's secret storage and nowhere else. */
export class ApiKeys {
  constructor(private readonly secrets: Pick<SecretStorage, 'get' | 'store' | 'delete'>) {}

  async forModel(model: string): Promise<string | undefined> {
    const server = serverOf(model);
    return server === undefined ? undefined : this.forServer(server);
  }

  async forServer(server: string): Promise<string | undefined> {
    return this.secrets.get(keyOf(server));
  }

  /** An empty key removes the one that is there. */
  async set(server: string, key: string): Promise<void> {
    if (key === '') await this.secrets.delete(keyOf(server));
    else await this.secrets.store(keyOf(server), key);
  }
}

const keyOf = (server: string): string => `tandem.apiKey ${withoutEnd(server, '/')}`;
