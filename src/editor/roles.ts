import type { Settings } from './settings';
import type { Translate } from './translate';

/** The second agent writes the second of two candidates. */
export type Role = 'agent' | 'secondAgent' | 'simulator';

export const roles = ['agent', 'secondAgent', 'simulator'] as const satisfies readonly Role[];

export const settingOf = {
  agent: 'agent',
  secondAgent: 'candidates.secondAgent',
  simulator: 'simulator',
} as const satisfies Record<Role, keyof Settings>;

/** Empty where none is set. */
type RoleSettings = Readonly<Record<Role, string>> & { readonly showsCandidates: boolean };

/** A second agent plays only while two candidates are shown. */
export function rolesOf(spec: string, settings: RoleSettings): Role[] {
  return roles.filter(
    (role) => settings[role] === spec && (role !== 'secondAgent' || settings.showsCandidates),
  );
}

/** Includes a second agent that does not play now. */
export function namedFor(spec: string, settings: RoleSettings): Role[] {
  return roles.filter((role) => settings[role] === spec);
}

/** Why a model cannot be removed. */
export function inUse(name: string, role: Role, t: Translate): string {
  switch (role) {
    case 'agent':
      return t('{0} is the agent. Choose another agent, then remove it.', name);
    case 'secondAgent':
      return t(
        '{0} writes the second candidate. Choose another model with Compare Two Candidates…, then remove it.',
        name,
      );
    case 'simulator':
      return t('{0} is the simulator. Choose another simulator, then remove it.', name);
  }
}
