import { Fault } from '../fault';
import { notGguf, onlyGguf } from './local/gguf';
import { servedModel, type ServedModel } from './address';
import { LocalModel, type LocalModelOptions } from './local/model';
import type { Model } from './model';
import { OpenAiModel, type OpenAiOptions } from './openai';
import { ScriptModel } from './script';

/** What servers are asked with and what computes local models; scripts need none of it. */
export interface OpenModelOptions
  extends Omit<OpenAiOptions, 'model' | 'baseUrl'>, Pick<LocalModelOptions, 'inference' | 'memoryBytes'> {
  /** The folder of the model that ships with Tandem. */
  readonly starter?: string;
}

/**
 * Opens a model by its name on the command line: `starter`, `local:<folder>`, `openai:<model>[@<base URL>]` or
 * `script:<file>`. Whoever opens a model closes it.
 * The model's name may itself contain `/`, `:` and `@`; the base URL starts at the last `@http://` or `@https://`, in
 * capitals too.
 * Nothing is loaded, and nothing sent to a server, before the first turn is asked for.
 * @throws {Fault} `model/bad-spec` when the name is of no known kind, `model/bad-script`, `model/bad-address`;
 * those of `LocalModel`
 */
export function openModel(spec: string, options: OpenModelOptions = {}): Model {
  const colon = spec.indexOf(':');
  const served = servedModel(spec);
  const kind = spec.slice(0, Math.max(0, colon));
  const rest = spec.slice(colon + 1);
  if (spec === 'starter') return new LocalModel({ ...options, name: spec, folder: starterFolder(options) });
  if (kind === 'local' && rest !== '') return new LocalModel({ ...options, name: spec, folder: rest });
  if (served !== undefined && rest !== '') return new OpenAiModel({ ...options, ...named(spec, served) });
  if (kind === 'script' && rest !== '') return new ScriptModel(rest);
  throw unknownKind(spec);
}

/** @throws {Fault} when the name is nothing but an address */
function named(spec: string, served: ServedModel): ServedModel {
  if (served.model === '')
    throw new Fault(
      'model/bad-spec',
      `"${spec}" names no model. Write openai:<model>@${served.baseUrl ?? ''}.`,
    );
  return served;
}

function starterFolder({ starter }: OpenModelOptions): string {
  if (starter === undefined)
    throw new Fault(
      'model/bad-spec',
      'The starter model is not part of this program. Name a folder: local:<folder>.',
    );
  return starter;
}

function unknownKind(spec: string): Fault {
  const gguf = onlyGguf(spec);
  if (gguf !== undefined) return new Fault('model/bad-spec', notGguf(gguf));
  const hints: readonly (readonly [string, string])[] = [
    ['rules', ' The rules can only play the simulator.'],
    ['vscode:', ' The models that the editor offers can only play in the editor.'],
  ];
  const hint = hints.find(([name]) => spec.startsWith(name))?.[1] ?? '';
  return new Fault(
    'model/bad-spec',
    `"${spec}" is not a model that can play here: write starter for the model that ships with Tandem, local:<folder> for one of your own, openai:<model>[@<base URL>] for a server that speaks OpenAI's API, or script:<file> for canned turns.${hint}`,
  );
}
