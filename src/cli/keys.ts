import { Option } from 'commander';
import { refinedModels } from '../core/dialogue/refinement/refineSpec';
import { simulatorModel } from '../core/dialogue/specification/specificationSpec';
import { onEachServer, originOf, originOfModel } from '../core/model/address';
import { mixedModels } from '../core/model/mixtureSpec';
import { wrongUse } from './command';

/** Takes the name of a model on one server; undefined when `--key-env` names no key for it. */
export type KeyOf = (spec: string) => string | undefined;

/** The option takes names of variables and no keys, because other users of the machine can read a command line. */
export const keyEnvOption = (): Option =>
  new Option(
    '--key-env <name[@address]>',
    'the variable that holds the key of a server other than that of OPENAI_API_KEY; with its address when models play on several',
  ).argParser(append);

export const append = (value: string, before: readonly string[] | undefined): readonly string[] => [
  ...(before ?? []),
  value,
];

/**
 * Each key goes only to the server at one origin.
 * @param specs the models that the command plays
 * @throws {Fault} `usage` when a variable is not set, or it is not clear which server its key is for
 */
export function namedKeys(variables: readonly string[] = [], specs: readonly string[]): KeyOf {
  const origins = new Set(
    specs
      .map(simulatorModel)
      .flatMap(refinedModels)
      .flatMap(mixedModels)
      .flatMap(onEachServer)
      .flatMap((spec) => originOfModel(spec) ?? []),
  );
  const keys = new Map<string, string>();
  for (const text of variables) {
    const at = text.indexOf('@');
    const [name, address] = at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
    const key = valueOf(name);
    const origin = address === undefined ? onlyOne(origins, name) : played(origins, name, address);
    if (keys.has(origin)) throw wrongUse(`--key-env names two keys for ${origin}. Leave one out.`);
    keys.set(origin, key);
  }
  return (spec) => keys.get(originOfModel(spec) ?? '');
}

function valueOf(name: string): string {
  if (!/^[a-z_]\w*$/i.test(name))
    throw wrongUse(
      '--key-env takes the name of the variable that holds a key, such as LAB_KEY, not the key.',
    );
  const key = process.env[name]?.trim() ?? '';
  if (key === '')
    throw wrongUse(`--key-env names the variable ${name}, which is not set. Set it to the key.`);
  return key;
}

function onlyOne(origins: ReadonlySet<string>, name: string): string {
  const [first, ...others] = origins;
  if (first === undefined)
    throw wrongUse(`--key-env names ${name}, but no model here plays on a server. Leave it out.`);
  if (others.length > 0)
    throw wrongUse(
      `--key-env ${name} does not say for which server: ${[...origins].join(' or ')}. Write ${name}@${first}.`,
    );
  return first;
}

function played(origins: ReadonlySet<string>, name: string, address: string): string {
  const origin = originOf(address);
  if (origin === undefined)
    throw wrongUse(
      `--key-env ${name}: "${address}" is not the address of a server, such as http://127.0.0.1:8000.`,
    );
  if (!origins.has(origin)) throw wrongUse(`--key-env ${name}: no model here plays at ${origin}.`);
  return origin;
}
