import { simulatorModel } from '../core/dialogue/specification/specificationSpec';
import type { Settings } from './settings';
import type { Translate } from './translate';

export type Role = 'agent' | 'secondAgent' | 'simulator';

export const roles = ['agent', 'secondAgent', 'simulator'] as const satisfies readonly Role[];

export const settingOf = {
  agent: 'agent',
  secondAgent: 'candidates.secondAgent',
  simulator: 'simulator',
} as const satisfies Record<Role, keyof Settings>;

type RoleSettings = Readonly<Record<Role, string>> & { readonly showsCandidates: boolean };

/** A second agent plays only while two candidates are shown. */
export function rolesOf(spec: string, settings: RoleSettings): Role[] {
  return roles.filter(
    (role) => modelIn(role, settings) === spec && (role !== 'secondAgent' || settings.showsCandidates),
  );
}

export function namedFor(spec: string, settings: RoleSettings): Role[] {
  return roles.filter((role) => modelIn(role, settings) === spec);
}

/** A simulator with a specification is played by the model that it names. */
const modelIn = (role: Role, settings: RoleSettings): string =>
  role === 'simulator' ? simulatorModel(settings.simulator) : settings[role];

export const inUse = (name: string, role: Role, t: Translate): string =>
  ({
    agent: t('{0} is the agent. Choose another agent, then remove it.', name),
    secondAgent: t(
      '{0} writes the second candidate. Choose another model with Compare Two Candidates…, then remove it.',
      name,
    ),
    simulator: t('{0} is the simulator. Choose another simulator, then remove it.', name),
  })[role];
