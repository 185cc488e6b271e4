import { Fault } from '../fault';
import { wrappedSpec } from './wrappedSpec';

/** `mixture:A+B,critic=RUN/critic,n=4,lambda=0.1` */
export interface MixtureSpec {
  readonly models: readonly string[];
  /** Folder of an exported critic. */
  readonly critic: string;
  /** Candidates of each model. */
  readonly n: number;
  /** 0: the best candidate is said. */
  readonly lambda: number;
}

const KIND = 'mixture';
const CANDIDATES = 4;
const MAX_CANDIDATES = 64;

/** A `+` may be part of a name, so that only one before the beginning of another name separates two. */
const SEPARATOR = /\+(?=(?:starter(?:-pages)?(?:\+|$)|local:|openai:|script:|vscode:))/;

/**
 * Undefined for an agent of another kind.
 * @throws {Fault} `model/bad-spec`
 */
export function mixtureSpec(spec: string): MixtureSpec | undefined {
  const wrapped = wrappedSpec(spec, KIND);
  if (wrapped === undefined) return undefined;
  const {
    critic = '',
    n = String(CANDIDATES),
    lambda = '0',
    ...unknown
  } = Object.fromEntries(wrapped.settings);
  const models = mixedModels(spec);
  const [other] = Object.keys(unknown);
  const twice = models.find((model, index) => models.indexOf(model) < index);
  if (other !== undefined) throw bad(spec, `has no setting ${other}`);
  if (models.includes('')) throw bad(spec, 'names no model');
  if (twice !== undefined) throw bad(spec, `names ${twice} twice, where n sets the number of its candidates`);
  if (critic === '') throw bad(spec, 'names no critic, which must choose');
  if (!/^\d{1,2}$/.test(n) || Number(n) < 1 || Number(n) > MAX_CANDIDATES)
    throw bad(spec, `has the n "${n}", which must be a whole number from 1 to ${MAX_CANDIDATES}`);
  if (!/^\d+(\.\d+)?$/.test(lambda))
    throw bad(spec, `has the lambda "${lambda}", which must be a number from 0`);
  return { models, critic, n: Number(n), lambda: Number(lambda) };
}

export const isMixture = (spec: string): boolean => wrappedSpec(spec, KIND) !== undefined;

/** The models of a mixture, even of one that cannot play; of another agent only itself. */
export const mixedModels = (spec: string): readonly string[] =>
  wrappedSpec(spec, KIND)?.inner.split(SEPARATOR) ?? [spec];

const bad = (spec: string, why: string): Fault =>
  new Fault(
    'model/bad-spec',
    `"${spec}" ${why}. Write mixture:<model>+<model>,critic=<folder of a critic>, with ,n=<candidates of each model> if it is not to be ${CANDIDATES}, and ,lambda=<number> to draw among them.`,
  );
