import { ApiKeys, Servers } from '../../../src/editor/servers';
import { english } from './translate';

/** Makes the editor's settings and secrets in memory. */
export function kept(servers: readonly unknown[] = []) {
  const settings = {
    servers,
    set(_: 'servers', value: unknown[]): Promise<void> {
      // The value is serialized as in a settings file.
      settings.servers = JSON.parse(JSON.stringify(value)) as unknown[];
      return Promise.resolve();
    },
  };
  const secrets = new Map<string, string>();
  const keys = new ApiKeys({
    get: (key) => Promise.resolve(secrets.get(key)),
    store: (key, value) => Promise.resolve(void secrets.set(key, value)),
    keys: () => Promise.resolve([...secrets.keys()]),
    delete: (key) => Promise.resolve(void secrets.delete(key)),
  });
  const changes: string[] = [];
  return {
    settings,
    secrets,
    changes,
    keys,
    servers: new Servers(settings, keys, () => changes.push('changed'), english),
  };
}
