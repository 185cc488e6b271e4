import * as vscode from 'vscode';
import type { TrajectoryFilter, TrajectoryLog } from '../../core/trajectory/log';
import type { App } from '../app';
import { idOf } from '../contributions';
import { isFiltered } from '../dialogue/filter';

const { t } = vscode.l10n;

type Wanted = 'failed' | 'unreviewed';
type Direction = 'next' | 'previous';

/** Replays the next or the previous dialogue of this kind in the list, as it is filtered and grouped now. */
export async function openBeside(
  { engines, trajectories, replays }: App,
  wanted: Wanted,
  direction: Direction,
): Promise<void> {
  const log = await engines.shown.engine.log();
  const list = narrowed(await trajectories.inOrder(log), wanted);
  const found = dialogueBeside(log, list, replays.single, direction);
  if (found !== undefined) {
    await replays.replay(found, true);
    // The list may be redrawn at this moment; then the editor does not find the row.
    await trajectories.select(found).catch((error: unknown) => engines.first.report(error));
    return;
  }
  const isAny = dialogueBeside(log, list, undefined, direction) !== undefined;
  const clear = isFiltered(trajectories.filter) ? [t('Clear Filter')] : [];
  const pressed = await vscode.window.showInformationMessage(noneWords(wanted, direction, isAny), ...clear);
  if (pressed !== undefined) await vscode.commands.executeCommand(idOf('clearTrajectoryFilter'));
}

function noneWords(wanted: Wanted, direction: Direction, isAny: boolean): string {
  if (wanted === 'unreviewed') {
    return isAny
      ? t('No dialogue that is not reviewed follows in the list.')
      : t('Every answered dialogue in the list is reviewed.');
  }
  if (!isAny) return t('The list has no failed dialogue.');
  return direction === 'next'
    ? t('No failed dialogue follows in the list.')
    : t('No failed dialogue comes before this one in the list.');
}

/** A part of a list, and those of its dialogues that are wanted; undefined when it can have none. */
interface Part {
  readonly all: TrajectoryFilter;
  readonly wanted: TrajectoryFilter | undefined;
}

/** @param list filters in the order of the list; each gives its dialogues, newest first */
export const narrowed = (list: readonly TrajectoryFilter[], wanted: Wanted): Part[] =>
  list.map((all) => {
    if (wanted === 'failed') return { all, wanted: { ...all, state: 'answered', success: false } };
    const isReviewed = all.review !== undefined && all.review !== 'none';
    return { all, wanted: isReviewed ? undefined : { ...all, state: 'answered', review: 'none' } };
  });

/** @param episode where to begin; without one that the list has, at its beginning or its end */
export function dialogueBeside(
  log: Pick<TrajectoryLog, 'list'>,
  list: readonly Part[],
  episode: string | undefined,
  direction: Direction,
): string | undefined {
  const parts = direction === 'next' ? list : list.toReversed();
  const sort = direction === 'next' ? 'newest' : 'oldest';
  const one = { offset: 0, limit: 1 } as const;
  const here =
    episode === undefined
      ? -1
      : parts.findIndex(({ all }) => log.list({ ...one, filter: { ...all, id: episode } }).rows.length > 0);
  for (const [index, { wanted: filter }] of parts.entries()) {
    if (index < here || filter === undefined) continue;
    const after = index === here ? episode : undefined;
    const [found] = log.list({ ...one, filter, sort, ...(after !== undefined && { after }) }).rows;
    if (found !== undefined) return found.id;
  }
  return undefined;
}
