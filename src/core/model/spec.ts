import { Fault } from '../fault';
import type { Model } from './model';
import { OpenAiModel, type OpenAiOptions } from './openai';
import { ScriptModel } from './script';

/** What every server is asked with; scripts need none of it. */
export type OpenModelOptions = Omit<OpenAiOptions, 'model' | 'baseUrl'>;

/**
 * Opens a model by its name on the command line: `openai:<model>[@<base URL>]` or `script:<file>`.
 * The model's name may itself contain `/`, `:` and `@`; the base URL starts at the last `@http://` or `@https://`.
 * Nothing is sent to a server before the first turn is asked for.
 * @throws {Fault} `model/bad-spec` when the name is of no known kind, `model/bad-script`, `model/bad-address`
 */
export function openModel(spec: string, options: OpenModelOptions = {}): Model {
  const colon = spec.indexOf(':');
  const kind = spec.slice(0, Math.max(0, colon));
  const rest = spec.slice(colon + 1);
  if (kind === 'openai' && rest !== '') return new OpenAiModel({ ...options, ...parseServed(spec, rest) });
  if (kind === 'script' && rest !== '') return new ScriptModel(rest);
  throw unknownKind(spec);
}

function parseServed(spec: string, rest: string): Pick<OpenAiOptions, 'model' | 'baseUrl'> {
  const at = Math.max(rest.lastIndexOf('@http://'), rest.lastIndexOf('@https://'));
  if (at === 0)
    throw new Fault('model/bad-spec', `"${spec}" names no model. Write openai:<model>@${rest.slice(1)}.`);
  return at < 0 ? { model: rest } : { model: rest.slice(0, at), baseUrl: rest.slice(at + 1) };
}

function unknownKind(spec: string): Fault {
  const rules = spec === 'rules' ? ' The rules can only play the simulator.' : '';
  return new Fault(
    'model/bad-spec',
    `"${spec}" is not a model that can play here: write openai:<model>[@<base URL>] for a server that speaks OpenAI's API, or script:<file> for canned turns.${rules}`,
  );
}
