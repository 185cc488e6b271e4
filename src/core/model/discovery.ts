import { listModels } from './connection';

export interface FoundServer {
  readonly baseUrl: string;
  /** Where the server names it. */
  readonly program?: string;
  /** Empty when it lists none without a key. */
  readonly models: readonly string[];
  readonly wantsKey: boolean;
}

/** Programs by the owner that their lists name for every model. */
const PROGRAMS: Readonly<Record<string, string>> = {
  library: 'Ollama',
  llamacpp: 'llama.cpp',
  organization_owner: 'LM Studio',
  sglang: 'SGLang',
  tandem: 'Tandem',
  vllm: 'vLLM',
};

/** For each server; where none listens, that is known at once. */
const DISCOVERY_TIMEOUT_MS = 5000;

/**
 * Asks all at once and returns those that speak OpenAI's API. Sends no key, because any program may listen at such an
 * address, and follows no redirect to another address.
 */
export async function findServers(
  addresses: readonly string[],
  lookMs = DISCOVERY_TIMEOUT_MS,
): Promise<readonly FoundServer[]> {
  const found = await Promise.all(
    addresses.map(async (baseUrl): Promise<FoundServer[]> => {
      const list = await listModels({ baseUrl, key: '' }, { timeoutMs: lookMs, redirect: 'error' });
      if (!list.listed) return list.problem === 'no-key' ? [{ baseUrl, models: [], wantsKey: true }] : [];
      const program = list.owners.map((owner) => PROGRAMS[owner]).find((name) => name !== undefined);
      return [{ baseUrl, program, models: list.names, wantsKey: false }];
    }),
  );
  return found.flat();
}
