import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../core/fault';
import { originOf, originOfModel } from '../core/model/address';
import type { Trial } from '../core/model/connection';
import type { Model } from '../core/model/model';
import type { ApiKeys } from './apiKeys';
import type { Translate } from './translate';
import { serverSchema, specOf, type Server, type ServerState } from './server';

const UNTESTED: ServerState = { kind: 'untested' };

interface ServerSettings {
  /** As written in the setting; they may be anything. */
  readonly servers: readonly unknown[];
  set(name: 'servers', value: unknown[]): Promise<void>;
}

/** Entries that cannot be used, and fields of other versions of Tandem, stay in the setting. */
export class Servers {
  private readonly states = new Map<string, ServerState>();

  /** @param changed called when the state of a server has changed */
  constructor(
    private readonly settings: ServerSettings,
    private readonly keys: ApiKeys,
    private readonly changed: () => void,
    private readonly t: Translate,
  ) {}

  get all(): readonly Server[] {
    return this.settings.servers.flatMap((entry) => read(entry) ?? []);
  }

  /** One sentence for each entry that cannot be used. */
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

  /** @param instead the server that it replaces */
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

  /** @throws AbortError on cancel */
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

  /** Its own requests update the state of the server. */
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

  /** Forgets states found with another key or name. */
  private forget(baseUrl: string): void {
    const origin = originOf(baseUrl);
    for (const spec of this.states.keys()) if (originOfModel(spec) === origin) this.states.delete(spec);
    this.changed();
  }
}

/** Undefined when the entry cannot be used. */
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
