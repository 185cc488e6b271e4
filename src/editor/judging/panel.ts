import * as vscode from 'vscode';
import * as z from 'zod';
import { actions, type FromWebview, type ToWebview } from '../../../webview/judging/protocol';
import { Fault } from '../../core/fault';
import { lazily } from '../../core/lazily';
import type { NewEvent } from '../../core/trajectory/event';
import type { Trajectory } from '../../core/trajectory/trajectory';
import { idOf } from '../contributions';
import { documentUri, showBeside, openLink } from '../documents';
import type { Engine } from '../engine';
import type { Engines } from '../engines';
import { Panel, type Asks } from '../panel';
import { Panels } from '../panels';
import { taskView } from '../dialogue/turnView';
import { canJudge, isDone, judgingView, nextPair } from './view';

const { t } = vscode.l10n;

interface JudgingContext {
  readonly extension: vscode.Uri;
  readonly engines: Engines;
  readonly openReplay: (episode: string) => Promise<unknown>;
}

class JudgingPanel extends Panel<FromWebview, ToWebview> {
  /** Logged one after the other, so that a second press cannot judge the same pair. */
  private writing: Promise<void> = Promise.resolve();

  constructor(
    panel: vscode.WebviewPanel,
    public episode: string,
    private readonly on: JudgingContext,
  ) {
    super(panel, { ...on, name: 'judging', icon: 'law', errors: on.engines.first, actions });
    this.owns(
      on.engines.onDidChangeLog(({ episodes }) => {
        if (episodes.length === 0 || episodes.includes(this.episode)) this.follow();
      }),
    );
  }

  async turnTo(episode: string): Promise<void> {
    this.episode = episode;
    await this.show();
  }

  override readonly asks: Asks<FromWebview> = {
    ready: () => this.show(),
    copy: ({ text }) => vscode.env.clipboard.writeText(text),
    'open-link': ({ address }) => openLink(address),
    choose: (message) => this.write((trajectory, by) => choiceOf(trajectory, by, message)),
    finish: (message) => this.write((trajectory, by) => ratingsOf(trajectory, by, message)),
    act: ({ action }) => this.act(action),
  };

  /** Closes when the dialogue is gone or not for this person to judge. */
  private async show(): Promise<void> {
    const engine = await this.engine();
    const own = engine.consent.given?.pseudonym;
    const trajectory = await (await engine.log()).trajectory(this.episode);
    if (trajectory === undefined || own === undefined || !canJudge(trajectory, own)) {
      this.dispose();
      return;
    }
    this.title = t('{0}: judge', taskView(trajectory.task, trajectory.started.pack).title);
    await this.post(judgingView(trajectory, own, engine, t, engine.drawPage));
  }

  private follow(): void {
    this.show().catch((error: unknown) => this.on.engines.first.report(error));
  }

  private engine(): Promise<Engine> {
    return this.on.engines.withEpisode(this.episode);
  }

  /** `events` returns undefined for a judgement of something that the page does not show. */
  private write(
    events: (trajectory: Trajectory, by: string) => readonly NewEvent[] | undefined,
  ): Promise<void> {
    const { episode } = this;
    this.writing = this.writing
      .catch(() => undefined)
      .then(async () => {
        const engine = await this.engine();
        const by = engine.consent.given?.pseudonym;
        const log = await engine.log();
        // Another window of this person may have written since.
        await log.refresh();
        const trajectory = await log.trajectory(episode);
        const said =
          by === undefined || trajectory === undefined || !canJudge(trajectory, by)
            ? undefined
            : events(trajectory, by);
        if (said === undefined) {
          const sentence = 'The page judged what it does not show. Nothing was done.';
          this.on.engines.first.report(new Fault('editor/not-shown', sentence));
        } else {
          await engine.consent.record();
          await log.appendAll(said, { durable: true });
        }
        await this.show();
      });
    return this.writing;
  }

  private async act(action: Extract<FromWebview, { type: 'act' }>['action']): Promise<unknown> {
    const { episode } = this;
    switch (action) {
      case 'open-reference':
      case 'open-tests': {
        const trajectory = await (await (await this.engine()).log()).trajectory(episode);
        if (trajectory === undefined) return undefined;
        const of = action === 'open-reference' ? 'reference' : 'tests';
        return showBeside(this.panel, documentUri(of, trajectory.task, { episode }));
      }
      case 'open-replay':
        return this.on.openReplay(episode);
      case 'next':
        return vscode.commands.executeCommand(idOf('judgeNext'));
    }
  }
}

type Chosen = Extract<FromWebview, { type: 'choose' }>;
type Finished = Extract<FromWebview, { type: 'finish' }>;

/** Undefined for a second press on the pair before. */
function choiceOf(
  trajectory: Trajectory,
  by: string,
  { turn, pair, picked, milliseconds }: Chosen,
): NewEvent[] | undefined {
  const next = nextPair(trajectory, by);
  if (next?.turn !== turn || next.pair !== pair) return undefined;
  const { episode, at } = next.choice.shown;
  return [{ event: 'judgement', episode, turn, pair, shown: at, picked, by, milliseconds }];
}

/** Only after all pairs, and once. */
function ratingsOf(
  trajectory: Trajectory,
  by: string,
  { stars, comment, thumbs }: Finished,
): NewEvent[] | undefined {
  const { id: episode, turns } = trajectory;
  const isOfTurns = thumbs.every(({ turn }) => turns.some(({ agent }) => agent.turn === turn));
  if (nextPair(trajectory, by) !== undefined || isDone(trajectory, by) || !isOfTurns) return undefined;
  return [
    ...thumbs.map(({ turn, thumb }): NewEvent => ({ event: 'turn-rating', episode, turn, thumb, by })),
    { event: 'rating', episode, stars, ...(comment !== undefined && { comment }), by },
  ];
}

const keptSchema = lazily(() => z.object({ episode: z.string() }));

export class JudgingPanels extends Panels<string, JudgingPanel> {
  constructor(on: JudgingContext) {
    super({
      name: 'judging',
      errors: on.engines.first,
      shows: () => true,
      // A page that was closed before it drew anything has kept nothing.
      restore: (kept) => keptSchema().safeParse(kept).data?.episode,
      load: () => (panel, episode) => new JudgingPanel(panel, episode, on),
    });
  }

  async judge(episode: string): Promise<void> {
    const panel = await this.open(episode);
    if (panel.episode !== episode) await panel.turnTo(episode);
  }
}
