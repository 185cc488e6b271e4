import * as vscode from 'vscode';
import { MAX_LENGTHS } from '../../core/training/runNotes';
import type { NewEvent, ReviewState } from '../../core/trajectory/event';
import type { TrajectorySummary } from '../../core/trajectory/trajectory';
import { inOneLine } from '../../core/text';
import { askLine, pickOne, valueOf } from '../inputSteps';
import { idOf, type CommandName } from '../contributions';
import type { Engines } from '../engines';
import { loggedReason, redoReasons } from '../reasons';
import { askPseudonym } from '../pseudonym';
import { dialogues } from '../words';
import type { TrajectoryTree } from './tree';

const { t } = vscode.l10n;

interface List {
  readonly engines: Engines;
  readonly trajectories: TrajectoryTree;
}

export const acceptDialogues = (list: List, chosen: readonly TrajectorySummary[]): Promise<void> =>
  review(list, chosen, () => Promise.resolve({ state: 'accepted' }));

export const redoDialogues = (list: List, chosen: readonly TrajectorySummary[]): Promise<void> =>
  review(list, chosen, async (titled) => {
    const reason = await askReason(t('Redo {0}', titled));
    return reason === undefined ? undefined : { state: 'redo', reason };
  });

/** Also reviews that others gave. */
export const takeReviewsBack = (list: List, chosen: readonly TrajectorySummary[]): Promise<void> =>
  review(list, chosen, () => Promise.resolve({}));

/** Asks what to do with the chosen dialogues; without any, which dialogue to go on with. */
export async function chooseReview(
  {
    titles,
    trajectories,
  }: { readonly titles: () => ReadonlyMap<string, string>; readonly trajectories: TrajectoryTree },
  chosen: readonly TrajectorySummary[],
): Promise<void> {
  const finished = chosen.filter(({ state }) => state !== 'open');
  const [first, ...others] = finished;
  const named = titles();
  const item = (name: CommandName, detail?: string) => ({ label: named.get(idOf(name)) ?? '', detail, name });
  const isReviewed = finished.some(({ review }) => review !== undefined);
  const title = first && (others.length === 0 ? trajectories.title(first) : dialogues(finished.length, t));
  const picked = await pickOne({
    title: title === undefined ? t('Review') : t('Review {0}', title),
    items: [
      ...(first === undefined ? [] : [item('acceptTrajectories'), item('redoTrajectories')]),
      ...(isReviewed ? [item('unreviewTrajectories')] : []),
      item('nextUnreviewed', t('Opens the next dialogue of the list without a review')),
      item('judgeNext', t('Opens one that others played, without what they said of it')),
    ],
  });
  const name = valueOf(picked)?.name;
  if (name !== undefined) await vscode.commands.executeCommand(idOf(name));
}

/** Without a state it takes the earlier review back. */
interface Verdict {
  readonly state?: ReviewState;
  readonly reason?: string;
}

/** Leaves out unfinished dialogues, which can still change. @param ask is given the dialogues in words */
async function review(
  { engines, trajectories }: List,
  chosen: readonly TrajectorySummary[],
  ask: (titled: string) => Promise<Verdict | undefined>,
): Promise<void> {
  const finished = chosen.filter(({ state }) => state !== 'open');
  const [first] = finished;
  if (first === undefined) {
    if (chosen.length > 0)
      void vscode.window.showInformationMessage(
        t('Nothing was reviewed: the dialogue is not finished. Play it to its end first.'),
      );
    return;
  }
  const engine = await engines.withEpisode(first.id);
  const by = await askPseudonym(
    engine,
    t('Reviews are logged under a pseudonym. Choose one first, and how your data may be shared.'),
  );
  if (by === undefined) return;
  const titled = finished.length === 1 ? trajectories.title(first) : dialogues(finished.length, t);
  const verdict = await ask(titled);
  if (verdict === undefined) return;
  const log = await engine.log();
  // Another window may have written since.
  await log.refresh();
  const events = finished.flatMap(({ id }): NewEvent[] => {
    const before = log.summary(id);
    const isSame = before?.review === verdict.state && before?.reviewReason === verdict.reason;
    return before === undefined || isSame ? [] : [{ event: 'review', episode: id, ...verdict, by }];
  });
  if (events.length === 0) return;
  await engine.consent.record();
  await log.appendAll(events, { durable: true });
}

/** @returns the reason as it is logged; undefined when the person cancelled */
async function askReason(title: string): Promise<string | undefined> {
  const other = t('Another reason…');
  const placeholder = t('Why? The reason is logged.');
  const items = [...redoReasons(t), other].map((label) => ({ label }));
  const chosen = valueOf(await pickOne({ title, placeholder, items }))?.label;
  const reason =
    chosen === other
      ? await askLine({ title, prompt: placeholder, value: '', most: MAX_LENGTHS.note })
      : chosen;
  return reason === undefined || reason === '' ? undefined : loggedReason(inOneLine(reason), t);
}
