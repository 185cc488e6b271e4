import type { Settings } from '../contributions';

/** What a model is chosen for; the second agent writes the other one of two candidates. */
export type Role = 'agent' | 'secondAgent' | 'simulator';

export const roles = ['agent', 'secondAgent', 'simulator'] as const satisfies readonly Role[];

/** The setting that names who plays each. */
export const settingOf = {
  agent: 'agent',
  secondAgent: 'candidates.secondAgent',
  simulator: 'simulator',
} as const satisfies Record<Role, keyof Settings>;

/** As the settings name them; empty where none is. */
export type RoleSettings = Readonly<Record<Role, string>> & { readonly showsCandidates: boolean };

/** What a model plays now: a second agent plays only while two candidates are shown. */
export function rolesOf(spec: string, settings: RoleSettings): Role[] {
  return roles.filter(
    (role) => settings[role] === spec && (role !== 'secondAgent' || settings.showsCandidates),
  );
}

/** The settings that name a model, also of one that does not play now. */
export function namedFor(spec: string, settings: RoleSettings): Role[] {
  return roles.filter((role) => settings[role] === spec);
}
