import type { SecretStorage } from 'vscode';
import { baseUrlOf, onEachServer, originOf } from '../core/model/address';
import { withoutSlash } from './server';

const PREFIX = 'tandem.apiKey ';

/** Keeps API keys, one for each origin, in the editor's secret storage and nowhere else. */
export class ApiKeys {
  constructor(private readonly secrets: Pick<SecretStorage, 'get' | 'store' | 'delete' | 'keys'>) {}

  /** Returns the keys for a model on each of its servers, by its name there (`onEachServer`). */
  async forModel(model: string): Promise<(on: string) => string | undefined> {
    const keys = new Map<string, string | undefined>();
    for (const on of onEachServer(model)) {
      const server = baseUrlOf(on);
      if (server !== undefined) keys.set(on, await this.forServer(server));
    }
    return (on) => keys.get(on);
  }

  /** @param server the server's base URL; an invalid URL has no key */
  async forServer(server: string): Promise<string | undefined> {
    const origin = originOf(server);
    if (origin === undefined) return undefined;
    const key = await this.secrets.get(nameOf(origin));
    if (key !== undefined) return key;
    const names = await this.namesBefore(origin);
    const name = names.find((one) => one === nameOf(withoutSlash(server))) ?? names[0];
    return name === undefined ? undefined : this.secrets.get(name);
  }

  /** Sets the key of a server and of all others at its origin. An empty key removes the stored one. */
  async set(server: string, key: string): Promise<void> {
    const origin = originOf(server);
    if (origin === undefined) throw new Error(`${server} is not the address of a server`);
    const before = await this.namesBefore(origin);
    if (key === '') await this.secrets.delete(nameOf(origin));
    else await this.secrets.store(nameOf(origin), key);
    for (const name of before) await this.secrets.delete(name);
  }

  /** Returns the names under which earlier versions stored keys of this origin: the base URL as it was written. */
  private async namesBefore(origin: string): Promise<string[]> {
    const names = await this.secrets.keys();
    return names.filter(
      (name) =>
        name.startsWith(PREFIX) && name !== nameOf(origin) && originOf(name.slice(PREFIX.length)) === origin,
    );
  }
}

const nameOf = (server: string): string => `${PREFIX}${server}`;
