import { Fault } from '../../fault';
import { wrappedSpec } from '../../model/wrappedSpec';

/** Lines of the prompt, in the words of a person. */
export const PERSONAS = {
  patient:
    'You have time. Answer every question that was asked, in one or two plain sentences. Do not end the conversation as long as the assistant gets anywhere.',
  terse:
    'You are busy. Answer in as few words as you can, at most ten, and only the question that matters most to you. A second one has to be asked again.',
  vague:
    'You speak loosely. Say it first in everyday words without numbers or names. Be exact only when the assistant asks a second time about the same thing. Never say anything that a requirement contradicts.',
  'changes-mind':
    'You change your mind. Once in the conversation, state a preference about something that no requirement mentions, such as a name or a comment in the code, and later take it back. Never change, drop or contradict a requirement.',
} as const;

export type Persona = keyof typeof PERSONAS;

/** `specification:<model>,persona=terse` */
export interface SpecificationSpec {
  readonly model: string;
  readonly persona: Persona;
}

const KIND = 'specification';

const isPersona = (name: string): name is Persona => Object.hasOwn(PERSONAS, name);

/** Undefined for a simulator of another kind. @throws {Fault} `model/bad-spec` */
export function specificationSpec(spec: string): SpecificationSpec | undefined {
  const wrapped = wrappedSpec(spec, KIND);
  if (wrapped === undefined) return undefined;
  const { persona = 'patient', ...others } = Object.fromEntries(wrapped.settings);
  const [other] = Object.keys(others);
  if (other !== undefined) throw bad(spec, `has no setting ${other}`);
  if (wrapped.inner === '') throw bad(spec, 'names no model');
  if (wrapped.inner === 'rules') throw bad(spec, 'names the rules, which read facts and no specification');
  if (!isPersona(persona)) throw bad(spec, `has no persona "${persona}"`);
  return { model: wrapped.inner, persona };
}

/** By which logs and reports name the simulator, and a command opens it again. */
export const specificationName = ({ model, persona }: SpecificationSpec): string =>
  `${KIND}:${model},persona=${persona}`;

/** What a name says, even that of a simulator which cannot play; undefined for one of another kind. */
export function specifiedPlayer(
  name: string,
): { readonly model: string; readonly persona: string } | undefined {
  const wrapped = wrappedSpec(name, KIND);
  return wrapped && { model: wrapped.inner, persona: wrapped.settings.get('persona') ?? 'patient' };
}

/** Of a simulator without a specification, itself. */
export const simulatorModel = (spec: string): string => specifiedPlayer(spec)?.model ?? spec;

/** The same simulator, played by another model. */
export const withModel = (spec: string, model: string): string =>
  spec.replace(simulatorModel(spec), () => model);

/** A person's pseudonym may read like the name of such a simulator. */
export const isSpecified = ({ kind, name }: { readonly kind: string; readonly name: string }): boolean =>
  kind === 'simulator' && specifiedPlayer(name) !== undefined;

const bad = (spec: string, why: string): Fault =>
  new Fault(
    'model/bad-spec',
    `"${spec}" ${why}. Write specification:<model>, with ,persona=<${Object.keys(PERSONAS).join(', ')}> if it is not to be patient.`,
  );
