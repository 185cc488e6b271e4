import type { Settings } from '../settings';

/** A role of a model; the second agent writes the second of two candidates. */
export type Role = 'agent' | 'secondAgent' | 'simulator';

export const roles = ['agent', 'secondAgent', 'simulator'] as const satisfies readonly Role[];

/** Setting that names the model of each role. */
export const settingOf = {
  agent: 'agent',
  secondAgent: 'candidates.secondAgent',
  simulator: 'simulator',
} as const satisfies Record<Role, keyof Settings>;

/** Models of the roles as the settings name them; empty where none is set. */
type RoleSettings = Readonly<Record<Role, string>> & { readonly showsCandidates: boolean };

/** Returns the roles that a model plays now; a second agent plays only while two candidates are shown. */
export function rolesOf(spec: string, settings: RoleSettings): Role[] {
  return roles.filter(
    (role) => settings[role] === spec && (role !== 'secondAgent' || settings.showsCandidates),
  );
}

/** Returns the roles for which the settings name a model, even if it does not play now. */
export function namedFor(spec: string, settings: RoleSettings): Role[] {
  return roles.filter((role) => settings[role] === spec);
}
