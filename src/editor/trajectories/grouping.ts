import * as z from 'zod';
import { lazily } from '../../core/lazily';
import { sources, type Source } from '../../core/trajectory/index/query';
import type { TrajectoryCounts, TrajectoryFilter, TrajectoryLog } from '../../core/trajectory/log';
import { shortened } from '../../../webview/dialogue/protocol';
import { sharedCalled, type Namer } from '../models/called';
import type { Translate } from '../translate';

/** Criteria by which the list is grouped. */
export const groupings = ['source', 'agent', 'task', 'none'] as const;
export type ListGrouping = (typeof groupings)[number];

export const groupingSchema = lazily(() => z.enum(groupings));

/** Dialogues of one value of the criterion. */
export interface DialogueGroup {
  /** Identifies the group, also after a reload. */
  readonly key: string;
  readonly label: string;
  /** Filter that leaves the group's dialogues of those that the list shows. */
  readonly filter: TrajectoryFilter;
  readonly counts: TrajectoryCounts;
  /** True when its dialogues are listed only on request. */
  readonly isFolded: boolean;
}

export function groupingName(grouping: ListGrouping, t: Translate): string {
  switch (grouping) {
    case 'source':
      return t('Source: played, collected, evaluation');
    case 'agent':
      return t('Agent');
    case 'task':
      return t('Task');
    case 'none':
      return t('None');
  }
}

function sourceName(source: Source, t: Translate): string {
  switch (source) {
    case 'played':
      return t('Played');
    case 'collected':
      return t('Collected');
    case 'evaluation':
      return t('Evaluation');
  }
}

/**
 * Returns the groups of the dialogues that a filter leaves: sources in their order, agents and tasks by the number of
 * dialogues.
 * @param titleOf returns the title of a task by its id
 * @param limit maximum number of groups; `total` is the number of all groups
 */
export function groupsOf(
  log: Pick<TrajectoryLog, 'count' | 'valuesOf'>,
  filter: TrajectoryFilter,
  grouping: Exclude<ListGrouping, 'none'>,
  titleOf: (task: string) => string,
  limit: number,
  namer: Namer,
  t: Translate,
): { readonly groups: readonly DialogueGroup[]; readonly total: number } {
  const group = (value: string, label: string, isFolded: boolean): DialogueGroup => {
    const ofGroup = { ...filter, [grouping]: value };
    const counts = log.count(ofGroup);
    return { key: `${grouping}/${value}`, label, filter: ofGroup, counts, isFolded };
  };
  if (grouping === 'source') {
    // A single evaluation has hundreds of dialogues, which nobody reads one after the other.
    const groups = sources
      .map((source) => group(source, sourceName(source, t), source === 'evaluation'))
      .filter(({ counts }) => counts.total > 0);
    return { groups, total: groups.length };
  }
  const values = log.valuesOf(grouping, filter);
  const groups = values.slice(0, limit).map(({ value }) => {
    const label = grouping === 'task' ? titleOf(value) : shortened(sharedCalled(value, grouping, log, namer));
    return group(value, label, true);
  });
  return { groups, total: values.length };
}
