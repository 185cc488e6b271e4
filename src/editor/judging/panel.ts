import * as vscode from 'vscode';
import * as z from 'zod';
import {
  actions,
  type FromWebview,
  type ToWebview,
  type JudgedPair,
  type Outcome,
  type PairView,
  type ReadTurn,
} from '../../../webview/judging/protocol';
import { Fault } from '../../core/fault';
import { lazily } from '../../core/lazily';
import type { NewEvent, EventOf } from '../../core/trajectory/event';
import { type Trajectory, isChoice, type Choice, developersOf } from '../../core/trajectory/trajectory';
import { idOf } from '../contributions';
import { documentUri, showBeside, openLink } from '../documents';
import type { Engine } from '../engine';
import type { Engines } from '../engines';
import { Panel, type Asks } from '../panel';
import { Panels } from '../panels';
import { candidatesView, taskView, messageView } from '../../views/turnView';
import type { Picked } from '../../../webview/session/protocol';
import { isProgram } from '../../core/task/task';
import { isOwnFunction } from '../../core/task/own';
import type { TrajectoryFilter, TrajectoryLog } from '../../core/trajectory/log';
import { opinionsOn } from '../../core/trajectory/opinions';
import { calledOf, type Namer } from '../displayNames';
import type { DrawPage } from '../../views/pageViews';
import { gradeView } from '../../views/gradeView';
import type { Translate } from '../translate';

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

function choiceOf(
  trajectory: Trajectory,
  by: string,
  { turn, pair, picked, milliseconds }: Extract<FromWebview, { type: 'choose' }>,
): NewEvent[] | undefined {
  const next = nextPair(trajectory, by);
  if (next?.turn !== turn || next.pair !== pair) return undefined;
  const { episode, at } = next.choice.shown;
  return [{ event: 'judgement', episode, turn, pair, shown: at, picked, by, milliseconds }];
}

function ratingsOf(
  trajectory: Trajectory,
  by: string,
  { stars, comment, thumbs }: Extract<FromWebview, { type: 'finish' }>,
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

interface DecidedPair {
  readonly turn: number;
  readonly pair: number;
  readonly choice: Choice;
}

/** In the order in which they were shown. */
export function pairsOf({ turns, pending = [] }: Pick<Trajectory, 'turns' | 'pending'>): DecidedPair[] {
  const all = [...turns.map(({ candidates = [] }) => candidates), pending];
  return all.flatMap((pairs) =>
    pairs.flatMap((one, pair) => (isChoice(one) ? [{ turn: one.shown.turn, pair, choice: one }] : [])),
  );
}

export const nextPair = (trajectory: Trajectory, own: string): DecidedPair | undefined =>
  pairsOf(trajectory).find(({ choice }) => judgementBy(own, choice) === undefined);

const judgementBy = (own: string, { judgements = [] }: Choice): EventOf<'judgement'> | undefined =>
  judgements.find(({ by }) => by === own);

export const isDone = (trajectory: Trajectory, own: string): boolean =>
  starsBy(own, trajectory) !== undefined && nextPair(trajectory, own) === undefined;

const starsBy = (own: string, { ratings = [] }: Trajectory): number | undefined =>
  ratings.find(({ by }) => by === own)?.stars;

export const canJudge = (trajectory: Trajectory, own: string): boolean =>
  trajectory.state === 'answered' && !developersOf(trajectory).has(own);

export async function nextToJudge(
  log: Pick<TrajectoryLog, 'list' | 'trajectories'>,
  filter: TrajectoryFilter,
  own: string,
): Promise<string | undefined> {
  const all = { offset: 0, limit: Number.POSITIVE_INFINITY };
  for (const chosen of [true, false]) {
    const { rows } = log.list({ ...all, filter: { ...filter, state: 'answered', chosen } });
    const ids = rows.flatMap(({ id, player }) => (player === own ? [] : [id]));
    for await (const trajectory of log.trajectories(ids)) {
      if (canJudge(trajectory, own) && !isDone(trajectory, own)) return trajectory.id;
    }
  }
  return undefined;
}

/**
 * Candidates stand in the order of their first display. What follows a pair is hidden until it is judged, because it
 * shows the choice.
 * @param own pseudonym of the judge
 * @param drawPage for tasks of pages
 */
export function judgingView(
  trajectory: Trajectory,
  own: string,
  namer: Namer,
  t: Translate,
  drawPage?: DrawPage,
): ToWebview {
  const { id, task, started, turns } = trajectory;
  const draw = isProgram(task) ? undefined : drawPage;
  const pairs = pairsOf(trajectory);
  const next = nextPair(trajectory, own);
  const read = next === undefined ? turns : turns.filter(({ agent }) => agent.turn < next.turn);
  return {
    ...{ type: 'show', episode: id, task: taskView(task, started.pack), hasReference: !isOwnFunction(task) },
    ...(draw && { wanted: draw(task.reference) }),
    turns: read.map(({ agent, reply, candidates = [] }): ReadTurn => ({
      turn: agent.turn,
      ...messageView(agent, draw),
      ...(reply && { reply: reply.text }),
      ...(reply?.pins && { pins: reply.pins }),
      judged: candidates.flatMap((choice) => {
        const judgement = judgementBy(own, choice);
        return judgement === undefined || !isChoice(choice)
          ? []
          : [judgedView(choice, judgement.picked, draw)];
      }),
    })),
    ...(next && { pair: pairView(next, draw) }),
    pairs: pairs.length,
    judged: pairs.filter(({ choice }) => judgementBy(own, choice) !== undefined).length,
    ...(isDone(trajectory, own) && { outcome: outcomeOf(trajectory, own, namer, t) }),
  };
}

const pairView = ({ turn, pair, choice }: DecidedPair, draw: DrawPage | undefined): PairView => ({
  turn,
  pair,
  candidates: candidatesView(choice.shown, draw),
});

/** Reveals the chosen candidate, as the next message does. */
function judgedView(choice: Choice, picked: Picked, draw: DrawPage | undefined): JudgedPair {
  const wentOn = { 0: 0, 1: 1, equal: 0, neither: null } as const;
  return { picked, wentOn: wentOn[choice.choice.picked], candidates: candidatesView(choice.shown, draw) };
}

function outcomeOf(trajectory: Trajectory, own: string, namer: Namer, t: Translate): Outcome {
  const { agent, task, turns, grades, answer, ratings = [] } = trajectory;
  const grade = (grades.findLast(({ grade: { mode } }) => mode === 'fixed') ?? grades.at(-1))?.grade;
  const pairs = pairsOf(trajectory).map(({ turn, choice }) => {
    const [first, second] = choice.shown.candidates;
    return {
      turn,
      agents: [first.agent, second.agent] as const,
      own: judgementBy(own, choice)!.picked,
      others: opinionsOn(choice).filter(({ by }) => by !== own),
    };
  });
  const stars = starsBy(own, trajectory);
  return {
    called: calledOf([agent, ...pairs.flatMap(({ agents }) => agents)], namer),
    agent,
    pairs,
    ...(stars !== undefined && { stars }),
    others: ratings.flatMap(({ by, stars: given, comment }) =>
      by === own
        ? []
        : [{ by, ...(given !== undefined && { stars: given }), ...(comment !== undefined && { comment }) }],
    ),
    thumbs: turns.flatMap(({ agent: { turn }, ratings: given = [] }) => {
      const thumb = given.find(({ by }) => by === own)?.thumb;
      return thumb === undefined ? [] : [{ turn, thumb }];
    }),
    ...(grade && { grade: gradeView({ task, turns, answer: answer?.answer, own }, grade, t) }),
  };
}
