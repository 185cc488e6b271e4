import type { CandidatesView, Picked } from '../../../webview/session/protocol';
import type { JudgedPair, Outcome, PairView, ReadTurn, ToWebview } from '../../../webview/judging/protocol';
import { isProgram } from '../../core/task/task';
import { isOwnFunction } from '../../core/task/own';
import { isChoice, type Choice, type Trajectory, developersOf } from '../../core/trajectory/trajectory';
import type { EventOf } from '../../core/trajectory/event';
import type { TrajectoryFilter, TrajectoryLog } from '../../core/trajectory/log';
import { opinionsOn } from '../../core/trajectory/opinions';
import { calledOf, type Namer } from '../displayNames';
import type { DrawPage } from '../pageViews';
import { gradeView } from '../dialogue/gradeView';
import { messageView, taskView } from '../dialogue/turnView';
import type { Translate } from '../translate';

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

/** Undefined when none is left. */
export const nextPair = (trajectory: Trajectory, own: string): DecidedPair | undefined =>
  pairsOf(trajectory).find(({ choice }) => judgementBy(own, choice) === undefined);

const judgementBy = (own: string, { judgements = [] }: Choice): EventOf<'judgement'> | undefined =>
  judgements.find(({ by }) => by === own);

export const isDone = (trajectory: Trajectory, own: string): boolean =>
  starsBy(own, trajectory) !== undefined && nextPair(trajectory, own) === undefined;

const starsBy = (own: string, { ratings = [] }: Trajectory): number | undefined =>
  ratings.find(({ by }) => by === own)?.stars;

/** A finished dialogue that the person did not play. */
export const canJudge = (trajectory: Trajectory, own: string): boolean =>
  trajectory.state === 'answered' && !developersOf(trajectory).has(own);

/** One with candidates if there is one, else the newest. */
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
  candidates: candidatesView(choice, draw),
});

/** Reveals the chosen candidate, as the next message does. */
function judgedView(choice: Choice, picked: Picked, draw: DrawPage | undefined): JudgedPair {
  const wentOn = { 0: 0, 1: 1, equal: 0, neither: null } as const;
  return { picked, wentOn: wentOn[choice.choice.picked], candidates: candidatesView(choice, draw) };
}

function candidatesView({ shown }: Choice, draw: DrawPage | undefined): CandidatesView {
  const [first, second] = shown.candidates;
  return [messageView(first, draw), messageView(second, draw)];
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
