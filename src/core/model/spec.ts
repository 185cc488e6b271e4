import path from 'node:path';
import { Fault } from '../fault';
import { notGguf, onlyGguf } from './local/files';
import { onEachServer, servedModel } from './address';
import { GuidedModel } from './guided';
import { LocalModel, type LocalModelOptions } from './local/model';
import type { Model } from './model';
import { mixtureSpec } from './mixtureSpec';
import { CriticScorer } from './local/critic/turnScorer';
import { MixtureModel } from './mixture';
import { OpenAiModel, type OpenAiOptions } from './openai';
import { ScriptModel } from './script';
import { isShipped } from './shippedModels';
import { ServerPool } from './serverPool';
import { wrappedSpec } from './wrappedSpec';

/** For models on servers and local models; scripts need none. */
export interface OpenModelOptions
  extends
    Omit<OpenAiOptions, 'model' | 'baseUrl' | 'apiKey'>,
    Pick<LocalModelOptions, 'inference' | 'memoryBytes'> {
  /** The folder that holds those of the shipped models. */
  readonly shipped?: string;
  /** The built scoring.js, with which a critic scores candidates; defaults to the one beside the running program. */
  readonly scoring?: string;
  /** By default the key of the environment. */
  readonly keyOf?: (spec: string) => string | undefined;
}

/**
 * `starter`, `starter-pages`, `starter-questions`, `local:<folder>`, `openai:<model>[@<base URL>]` (several base URLs separated by commas), or
 * `script:<file>`. The caller must close the model. Nothing is loaded or sent to a server before the first turn.
 * The model's name may itself contain `/`, `:` and `@`; the base URL starts at the last `@http://` or `@https://`, in
 * any case.
 * @throws {Fault} `model/bad-spec` for a name of an unknown kind, `model/bad-script`, `model/bad-address`, and the
 * faults of `LocalModel`
 */
export function openModel(spec: string, options: OpenModelOptions = {}): Model {
  const folder = localFolder(spec, options);
  if (folder !== undefined) return new LocalModel({ ...options, name: spec, folder });
  const [, kind, rest = ''] = /^(openai|script):(.+)$/s.exec(spec) ?? [];
  if (kind === 'openai') return onServers(spec, options);
  if (kind === 'script') return new ScriptModel(rest);
  throw unknownKind(spec);
}

/**
 * As `openModel`, and `mixture:<model>+<model>,critic=<folder>[,n=<candidates>][,lambda=<number>]`.
 * @throws {Fault} as `openModel` and `CriticScorer`
 */
export function openPlayer(spec: string, options: OpenModelOptions = {}): Model {
  const mixture = mixtureSpec(spec);
  if (mixture === undefined) return openModel(spec, options);
  const scorer = new CriticScorer(mixture.critic, options.scoring ?? path.join(__dirname, 'scoring.js'));
  const models = mixture.models.map((model) => openModel(model, options));
  return new MixtureModel(spec, models, scorer, mixture);
}

const ETA = 4;

/**
 * As `openPlayer`, and `guided:<model>[,eta=<n>]`, which reads hidden information and plays only where a dialogue is
 * known to be a teacher's.
 * @throws {Fault} as `openPlayer`
 */
export function openAgent(spec: string, options: OpenModelOptions = {}): Model {
  const wrapped = wrappedSpec(spec, GUIDED);
  if (wrapped === undefined) return openPlayer(spec, options);
  const { eta = String(ETA), ...unknown } = Object.fromEntries(wrapped.settings);
  const other = Object.keys(unknown)[0];
  if (other !== undefined) throw badGuided(spec, `has no setting ${other}`);
  if (!/^\d+(\.\d+)?$/.test(eta))
    throw badGuided(spec, `has the eta "${eta}", which must be a number from 0`);
  const { shipped } = options;
  if (shipped === undefined) throw badGuided(spec, 'needs the prompts of Tandem');
  const folder = localFolder(wrapped.inner, options);
  if (folder === undefined)
    throw badGuided(spec, `needs a model on this machine, because a server does not return all logits`);
  return new GuidedModel({ ...options, name: spec, folder }, Number(eta), path.join(shipped, 'prompts'));
}

const GUIDED = 'guided';

const badGuided = (spec: string, why: string): Fault =>
  new Fault(
    'model/bad-spec',
    `"${spec}" ${why}. Write guided:starter or guided:local:<folder>, with ,eta=<number> behind it if it is not to be ${ETA}.`,
  );

function onServers(spec: string, { keyOf, ...options }: OpenModelOptions): Model {
  const servers = onEachServer(spec).map((one) => {
    const served = servedModel(one)!;
    if (served.model === '')
      throw new Fault(
        'model/bad-spec',
        `"${one}" names no model. Write openai:<model>@${served.baseUrl ?? ''}.`,
      );
    return { ...options, ...served, apiKey: keyOf?.(one) };
  });
  return servers.length === 1 ? new OpenAiModel(servers[0]!) : new ServerPool(spec, servers);
}

/** Undefined for a model that is not in a folder. */
function localFolder(spec: string, { shipped }: OpenModelOptions): string | undefined {
  if (!isShipped(spec)) return /^local:(.+)$/s.exec(spec)?.[1];
  if (shipped !== undefined) return path.join(shipped, spec);
  throw new Fault(
    'model/bad-spec',
    'The starter model is not part of this program. Name a folder: local:<folder>.',
  );
}

function unknownKind(spec: string): Fault {
  const gguf = onlyGguf(spec);
  if (gguf !== undefined) return new Fault('model/bad-spec', notGguf(gguf));
  const hints: readonly (readonly [string, string])[] = [
    ['rules', ' The rules can only play the simulator.'],
    [
      `${GUIDED}:`,
      ' Teachers, which see hidden information, play only in tandem evaluate and tandem collect.',
    ],
    ['mixture:', ' A mixture plays the agent, in tandem evaluate, tandem collect and tandem mcp.'],
    [
      'refine:',
      ' A refining agent plays the agent, in tandem evaluate, tandem collect, tandem mcp and the editor.',
    ],
    ['specification:', ' A simulator with a specification plays only the simulator.'],
    ['vscode:', ' The models that the editor offers can only play in the editor.'],
  ];
  const hint = hints.find(([name]) => spec.startsWith(name))?.[1] ?? '';
  return new Fault(
    'model/bad-spec',
    `"${spec}" is not a model that can play here: write starter, starter-pages or starter-questions for the models that ship with Tandem, local:<folder> for one of your own, openai:<model>[@<base URL>] for a server that speaks OpenAI's API, or script:<file> for canned turns.${hint}`,
  );
}
