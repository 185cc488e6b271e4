import type { ExportOptions, LeaveOut } from '../../trajectory/export/export';
import type { TrajectoryFilter } from '../../trajectory/log';
import { EDITOR_MODEL, writersOf } from '../../trajectory/terms';
import type { Trajectory } from '../../trajectory/trajectory';
import { EXCLUDED_MODELS, type LogSelection } from '../configuration';

type Chosen = Pick<
  ExportOptions,
  | 'leaveOut'
  | 'staysHere'
  | 'filter'
  | 'mode'
  | 'minReward'
  | 'withLeaked'
  | 'withEvaluations'
  | 'withEditorModels'
>;

/** Which trajectories of the log a selection takes, as the export knows it: to write them, and to count them before. */
export function chosenBy(selection: LogSelection): Chosen {
  return {
    leaveOut: forbiddenBy(selection),
    staysHere: true,
    filter: filterOf(selection),
    mode: selection.mode,
    minReward: selection.minimum_reward,
    withLeaked: selection.with_leaked,
    withEvaluations: selection.with_evaluations,
    withEditorModels: !excludedModels(selection).some((pattern) => pattern.test(EDITOR_MODEL)),
  };
}

function filterOf({ filter = {} }: LogSelection): TrajectoryFilter {
  const { collaborator_kind, ...rest } = filter;
  return { ...rest, collaboratorKind: collaborator_kind };
}

/** Leaves out what must not be trained on against the terms of a model. */
function forbiddenBy(selection: LogSelection): LeaveOut {
  const excluded = excludedModels(selection);
  return (trajectory) => {
    const isExcluded = (model: string): boolean => excluded.some((pattern) => pattern.test(model));
    return modelsOf(trajectory).some(isExcluded) ? 'model terms' : undefined;
  };
}

function excludedModels({ exclude_models = EXCLUDED_MODELS }: LogSelection): RegExp[] {
  return exclude_models.map(patternOf);
}

/** Every model that played in it or wrote some of it. */
function modelsOf(trajectory: Trajectory): string[] {
  const { started, agent, collaborator } = trajectory;
  return [started.agent, agent, started.collaborator.name, collaborator.name, ...writersOf(trajectory)];
}

function patternOf(text: string): RegExp {
  const escaped = text.split('*').map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${escaped.join('.*')}$`, 's');
}
