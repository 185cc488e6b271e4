import type { Settings } from '../settings';

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
