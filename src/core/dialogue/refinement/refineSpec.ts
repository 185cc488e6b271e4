import { Fault } from '../../fault';
import { wrappedSpec, type WrappedSpec } from '../../model/wrappedSpec';

/** `refine:<model>,verifier=<model>,refiner=<model>,drafts=2` */
export interface RefineSpec {
  readonly model: string;
  readonly verifier: string | undefined;
  /** Speaks after the reply to a question of the verifier. */
  readonly refiner: string | undefined;
  /** How many answers are compared; 1: the model plays alone. */
  readonly drafts: number;
}

const KIND = 'refine';
const SETTINGS: readonly string[] = ['verifier', 'refiner', 'drafts'];
const DRAFTS = 2;
const MAX_DRAFTS = 8;

/** Undefined for an agent of another kind. @throws {Fault} `model/bad-spec` */
export function refineSpec(spec: string): RefineSpec | undefined {
  const wrapped = wrappedSpec(spec, KIND);
  if (wrapped === undefined) return undefined;
  const { verifier, refiner, drafts = String(DRAFTS), ...others } = Object.fromEntries(wrapped.settings);
  const [other] = Object.keys(others);
  if (other !== undefined && !HAS_SETTINGS.test(wrapped.inner)) throw bad(spec, `has no setting ${other}`);
  if (wrapped.inner === '') throw bad(spec, 'names no model');
  if (verifier === '') throw bad(spec, 'names no model as its verifier');
  if (refiner === '') throw bad(spec, 'names no model as its refiner');
  if (!/^\d$/.test(drafts) || Number(drafts) < 1 || Number(drafts) > MAX_DRAFTS)
    throw bad(spec, `has the drafts "${drafts}", which must be a whole number from 1 to ${MAX_DRAFTS}`);
  if ((verifier ?? refiner) !== undefined && drafts === '1')
    throw bad(spec, 'has one draft, which leaves a verifier nothing to compare');
  return { model: modelOf(wrapped), verifier, refiner, drafts: Number(drafts) };
}

/** The models of a refining agent, even of one that cannot play; of another agent only itself. */
export function refinedModels(spec: string): readonly string[] {
  const wrapped = wrappedSpec(spec, KIND);
  if (wrapped === undefined) return [spec];
  const others = ['verifier', 'refiner'].map((role) => wrapped.settings.get(role) ?? '');
  return [modelOf(wrapped), ...others].filter((name) => name !== '');
}

/** Agents whose settings stand before those of the refining agent, or among them. */
const HAS_SETTINGS = /^(?:mixture|guided):/;

function modelOf({ inner, settings }: WrappedSpec): string {
  const others = [...settings].filter(([name]) => !SETTINGS.includes(name));
  return [inner, ...others.map(([name, value]) => `${name}=${value}`)].join(',');
}

const bad = (spec: string, why: string): Fault =>
  new Fault(
    'model/bad-spec',
    `"${spec}" ${why}. Write refine:<model>, with ,drafts=<n> behind it if it is not to compare ${DRAFTS}, and ,verifier=<model> and ,refiner=<model> for models that word the questions and go on after the replies.`,
  );
