import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import type { SecretStorage } from 'vscode';
import { messageOf } from '../core/fault';
import { originOf, originOfModel, readAddress, baseUrlOf, onEachServer } from '../core/model/address';
import type { Trial } from '../core/model/connection';
import type { Model } from '../core/model/model';
import type { FolderSettings } from './configuration';
import type { Translate } from './translate';
import { lazily } from '../core/lazily';
import { numberSchema } from '../core/numberRange';
import { eachSamplingNumber } from '../core/samplingSettings';
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
    sampling: z.object(eachSamplingNumber((_, setting) => numberSchema(setting).optional())).optional(),
    /** US dollars per million tokens. */
    price: z.object({ prompt: z.number().min(0), completion: z.number().min(0) }).optional(),
  }),
);

export type Server = z.infer<ReturnType<typeof serverSchema>>;

export type ServerState =
  | { readonly kind: 'untested' }
  | { readonly kind: 'testing' }
  | { readonly kind: 'works'; readonly notes: readonly string[] }
  | { readonly kind: 'fails'; readonly why: string };

/** Its name in the settings and the log. */
export function specOf({ model, baseUrl }: Pick<Server, 'model' | 'baseUrl'>): string {
  return `openai:${model}@${baseUrl}`;
}

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

const UNTESTED: ServerState = { kind: 'untested' };

/** Entries that cannot be used, and fields of other versions of Tandem, stay in the setting. */
export class Servers {
  private readonly states = new Map<string, ServerState>();

  constructor(
    private readonly settings: Pick<FolderSettings, 'servers'> & {
      set(name: 'servers', value: unknown[]): Promise<void>;
    },
    private readonly keys: ApiKeys,
    private readonly changed: () => void,
    private readonly t: Translate,
  ) {}

  get all(): readonly Server[] {
    return this.settings.servers.flatMap((entry) => read(entry) ?? []);
  }

  get problems(): readonly string[] {
    return this.settings.servers.flatMap((entry, index) => {
      const issue = serverSchema().safeParse(entry).error?.issues[0];
      if (issue === undefined) return [];
      const where = issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
      const why = `${where}${issue.message}`;
      return [this.t('Entry {0} of tandem.servers cannot be used. {1}.', index + 1, why)];
    });
  }

  find(spec: string): Server | undefined {
    return this.all.find((server) => specOf(server) === spec);
  }

  state(server: Server): ServerState {
    return this.states.get(specOf(server)) ?? UNTESTED;
  }

  async save(server: Server, instead: Server = server): Promise<void> {
    const { servers } = this.settings;
    const at = servers.findIndex((entry) => isOf(entry, instead));
    const entry = at === -1 ? server : edited(servers[at], server);
    const others = this.without(instead);
    await this.settings.set('servers', others.toSpliced(at === -1 ? others.length : at, 0, entry));
    this.forget(instead.baseUrl);
  }

  /** Removes its key, too, when no other model at its origin needs it. */
  async remove(server: Server): Promise<void> {
    const others = this.without(server);
    await this.settings.set('servers', others);
    this.states.delete(specOf(server));
    const origin = originOf(server.baseUrl);
    const isNeeded = others.some((entry) => originOf(read(entry)?.baseUrl ?? '') === origin);
    if (!isNeeded) await this.keys.set(server.baseUrl, '');
  }

  async setKey(baseUrl: string, key: string): Promise<void> {
    await this.keys.set(baseUrl, key);
    this.forget(baseUrl);
  }

  async test(server: Server, signal?: AbortSignal): Promise<Trial> {
    const { tryModel } = await import('../core/model/connection');
    this.note(specOf(server), { kind: 'testing' });
    try {
      const key = await this.keys.forServer(server.baseUrl);
      const trial = await tryModel({ ...server, key }, { signal });
      this.tested(server, trial);
      return trial;
    } catch (error) {
      this.note(specOf(server), UNTESTED);
      throw error;
    }
  }

  tested(server: Server, trial: Trial): void {
    this.note(specOf(server), stateOf(trial));
  }

  watched(model: Model): Model {
    return {
      name: model.name,
      ...(model.terms === undefined ? {} : { terms: model.terms }),
      forcesOpening: model.forcesOpening?.bind(model),
      generate: async (...request) => {
        try {
          const generation = await model.generate(...request);
          this.note(model.name, { kind: 'works', notes: model.notes ?? [] });
          return generation;
        } catch (error) {
          const isCancelled = error instanceof Error && error.name === 'AbortError';
          if (!isCancelled) this.note(model.name, { kind: 'fails', why: messageOf(error) });
          throw error;
        }
      },
    };
  }

  private without(server: Server): unknown[] {
    return this.settings.servers.filter((entry) => !isOf(entry, server));
  }

  private note(spec: string, state: ServerState): void {
    this.states.set(spec, state);
    this.changed();
  }

  private forget(baseUrl: string): void {
    const origin = originOf(baseUrl);
    for (const spec of this.states.keys()) if (originOfModel(spec) === origin) this.states.delete(spec);
    this.changed();
  }
}

const read = (entry: unknown): Server | undefined => serverSchema().safeParse(entry).data;

function isOf(entry: unknown, server: Server): boolean {
  const found = read(entry);
  return found !== undefined && specOf(found) === specOf(server);
}

function edited(entry: unknown, server: Server): unknown {
  const before = read(entry);
  const changed = serverSchema()
    .keyof()
    .options.filter((name) => !isDeepStrictEqual(before?.[name], server[name]))
    .map((name) => [name, server[name]]);
  return { ...(entry as object), ...Object.fromEntries(changed) };
}

function stateOf(trial: Trial): ServerState {
  if (trial.works) return { kind: 'works', notes: trial.notes };
  return { kind: 'fails', why: `${trial.what} ${trial.remedy}` };
}

const PREFIX = 'tandem.apiKey ';

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
