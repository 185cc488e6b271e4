import { refinedModels } from '../../dialogue/refinement/refineSpec';
import { mixedModels } from '../../model/mixtureSpec';
import { isProgram } from '../../task/task';
import type { ExportOptions, LeaveOut } from '../../trajectory/export/export';
import type { TrajectoryFilter } from '../../trajectory/log';
import { EDITOR_MODEL, writersOf } from '../../trajectory/modelTerms';
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
  | 'withRedo'
  | 'withDoubtful'
>;

export function chosenBy(selection: LogSelection): Chosen {
  return {
    leaveOut: forbiddenBy(selection),
    staysHere: true,
    filter: filterOf(selection),
    mode: selection.mode,
    minReward: selection.minimum_reward,
    withLeaked: selection.with_leaked,
    withRedo: selection.with_redo,
    withDoubtful: selection.with_doubtful,
    withEvaluations: selection.with_evaluations,
    withEditorModels: !excludedModels(selection).some((pattern) => fits(pattern, EDITOR_MODEL)),
  };
}

function filterOf({ filter = {} }: LogSelection): TrajectoryFilter {
  const { collaborator_kind, ...rest } = filter;
  return { ...rest, collaboratorKind: collaborator_kind };
}

/** Excludes trajectories with text of an excluded model, or a reward of another measure. */
function forbiddenBy(selection: LogSelection): LeaveOut {
  const excluded = excludedModels(selection);
  return (trajectory) => {
    const otherwise = measuredOtherwise(trajectory, selection);
    if (otherwise !== undefined) return otherwise;
    const isExcluded = (model: string): boolean => excluded.some((pattern) => fits(pattern, model));
    return modelsOf(trajectory).some(isExcluded) ? 'model terms' : undefined;
  };
}

/** As `why_unwanted` of the trainer's `data/measures.py`. */
function measuredOtherwise(
  { task, grades }: Trajectory,
  { mode = 'fixed', measure, renderer }: LogSelection,
): ReturnType<LeaveOut> {
  const page = grades.findLast(({ grade }) => grade.mode === mode)?.grade.page;
  const ofPage = page === undefined ? [] : [page.measure, `${page.measure} ${page.version}`];
  const names = isProgram(task) ? ['tests'] : ofPage;
  if (measure !== undefined && !names.includes(measure)) return 'of another measure';
  const isDrawnOtherwise = page !== undefined && renderer !== undefined && page.renderer !== renderer;
  return isDrawnOtherwise ? 'drawn by another renderer' : undefined;
}

const excludedModels = ({ exclude_models = EXCLUDED_MODELS }: LogSelection): readonly string[] =>
  exclude_models;

function modelsOf(trajectory: Trajectory): string[] {
  const { started, agent, collaborator } = trajectory;
  const names = [started.agent, agent, started.collaborator.name, collaborator.name];
  return [...names, ...writersOf(trajectory)].flatMap((name) => [
    name,
    ...refinedModels(name).flatMap(mixedModels),
  ]);
}

/** `*` stands for any characters. Taking the first match of each piece is enough. */
function fits(pattern: string, name: string): boolean {
  const [first, ...others] = pattern.split('*') as [string, ...string[]];
  const last = others.pop();
  if (last === undefined) return name === pattern;
  let at = first.length;
  if (!name.startsWith(first)) return false;
  for (const piece of others) {
    const found = name.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return name.endsWith(last) && name.length - last.length >= at;
}
