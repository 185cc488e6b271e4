import * as vscode from 'vscode';
import type { TrajectorySummary } from '../../core/trajectory/trajectory';
import type { App } from '../app';
import type { Engine } from '../engine';
import { askPseudonym } from '../pseudonym';
import { canJudge, nextToJudge } from '../judging/view';

const { t } = vscode.l10n;

export async function judge(
  { engines, judging, replays }: App,
  { id, state }: TrajectorySummary,
): Promise<void> {
  if (state !== 'answered') {
    void vscode.window.showInformationMessage(
      t('A dialogue is judged when it is finished, with an answer. Choose another one.'),
    );
    return;
  }
  const engine = await engines.withEpisode(id);
  const own = await pseudonym(engine);
  if (own === undefined) return;
  const trajectory = await (await engine.log()).trajectory(id);
  if (trajectory === undefined) return;
  if (!canJudge(trajectory, own)) {
    void vscode.window.showInformationMessage(
      t('You took part in this dialogue, so others judge it. Choose one that others played.'),
    );
    return;
  }
  await open(id, { judging, replays });
}

/** Dialogues with candidates first. */
export async function judgeNext({ engines, trajectories, judging, replays }: App): Promise<void> {
  const { engine } = engines.shown;
  const own = await pseudonym(engine);
  if (own === undefined) return;
  const log = await engine.log();
  await log.refresh();
  const next = await nextToJudge(log, await trajectories.namedFilter(log), own);
  if (next !== undefined) return open(next, { judging, replays });
  void vscode.window.showInformationMessage(
    t('Nothing is left to judge: you judged every finished dialogue of the list that others played.'),
  );
}

const pseudonym = (engine: Engine): Promise<string | undefined> =>
  askPseudonym(
    engine,
    t('Judgments are logged under a pseudonym. Choose one first, and how your data may be shared.'),
  );

/** Closes the replay, which shows what others said. */
async function open(episode: string, { judging, replays }: Pick<App, 'judging' | 'replays'>): Promise<void> {
  for (const replay of replays.all) if (replay.episodes.includes(episode)) replay.dispose();
  await judging.judge(episode);
}
