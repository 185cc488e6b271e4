import * as z from 'zod';
import { lazily } from '../../core/lazily';
import type { Source } from '../../core/trajectory/index/filter';
import type { TrajectoryCounts, TrajectoryFilter, TrajectoryLog } from '../../core/trajectory/log';
import { namesOf } from '../displayNames';
import type { Translate } from '../translate';
import { sourceName, agentsByRun, type RunNamer } from '../dialogue/filter';

export const groupings = ['source', 'run', 'agent', 'collaborator', 'task', 'none'] as const;
export type ListGrouping = (typeof groupings)[number];

export const groupingSchema = lazily(() => z.enum(groupings));

export interface DialogueGroup {
  readonly key: string;
  readonly label: string;
  /** Filter that leaves the group's dialogues of those that the list shows. */
  readonly filter: TrajectoryFilter;
  readonly counts: TrajectoryCounts;
  readonly isFolded: boolean;
}

export const groupingName = (grouping: ListGrouping, t: Translate): string =>
  ({
    source: t('Source'),
    run: t('Run'),
    agent: t('Agent'),
    collaborator: t('Collaborator'),
    task: t('Task'),
    none: t('None'),
  })[grouping];

export function groupingWords(grouping: ListGrouping, t: Translate): string | undefined {
  if (grouping === 'source') return t('played, collected, evaluation');
  if (grouping === 'collaborator') return t('who replied at the end: a person or a simulator');
  return grouping === 'run' ? t('by trained model') : undefined;
}

interface ListGroups {
  readonly groups: readonly DialogueGroup[];
  readonly total: number;
  readonly counts: TrajectoryCounts;
}

/**
 * Sources in their order, other groups by the number of dialogues; agents that no run has trained come last.
 * @param titleOf returns the title of a task by its id
 */
export function groupsOf(
  log: Pick<TrajectoryLog, 'count' | 'countBy' | 'valuesOf'>,
  filter: TrajectoryFilter,
  grouping: Exclude<ListGrouping, 'none'>,
  titleOf: (task: string) => string,
  limit: number,
  namer: RunNamer,
  t: Translate,
): ListGroups {
  if (grouping === 'run') return groupsOfRuns(log, filter, limit, namer, t);
  const { all, each } = log.countBy(grouping, filter);
  const isOfModels = grouping === 'agent' || grouping === 'collaborator';
  const names = isOfModels ? namesOf([...each.keys()], grouping, log, namer) : undefined;
  const labelOf = (value: string): string =>
    grouping === 'source' ? sourceName(value as Source, t) : (names?.get(value) ?? titleOf(value));
  const groups = [...each].slice(0, limit).map(([value, counts]) => ({
    key: `${grouping}/${value}`,
    label: labelOf(value),
    filter: { ...filter, [grouping]: value },
    counts,
    // A single evaluation has hundreds of dialogues.
    isFolded: grouping !== 'source' || value === 'evaluation',
  }));
  return { groups, total: each.size, counts: all };
}

function groupsOfRuns(
  log: Pick<TrajectoryLog, 'count' | 'valuesOf'>,
  filter: TrajectoryFilter,
  limit: number,
  namer: RunNamer,
  t: Translate,
): ListGroups {
  const { runs, others } = agentsByRun(log, filter, namer);
  const group = (id: string, label: string, agents: ReadonlySet<string>): DialogueGroup => {
    const ofRun = { ...filter, agents };
    return { key: `run/${id}`, label, filter: ofRun, counts: log.count(ofRun), isFolded: true };
  };
  const groups = runs.slice(0, limit).map(({ id, name, agents }) => group(id, name, agents));
  const total = runs.length + Math.min(1, others.size);
  if (groups.length < limit && others.size > 0) groups.push(group('', t('Other agents'), others));
  return { groups, total, counts: log.count(filter) };
}
