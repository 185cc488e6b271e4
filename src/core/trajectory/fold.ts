import type { Task } from '../task/task';
import { choicesOf, isChoice } from './choices';
import { verdictsOf, withVerdict } from './verdicts';
import type { EventOf, LogEvent } from './event';
import type { Choice, ShownCandidates, Trajectory, TrajectorySummary, Turn } from './trajectory';

/** What is known of an episode while its events are folded one after the other. */
interface Folding {
  readonly started: EventOf<'episode-started'>;
  agent: string;
  collaborator: Trajectory['collaborator'];
  turns: Turn[];
  handOvers: EventOf<'hand-over'>[];
  pending: ShownCandidates[];
  /** The turn of which another sample follows. */
  superseding: number | undefined;
  answer: EventOf<'answered'> | undefined;
  abandoned: EventOf<'abandoned'> | undefined;
  grades: EventOf<'grade'>[];
  rating: EventOf<'rating'> | undefined;
  outcome: EventOf<'outcome'> | undefined;
  deleted: boolean;
  damaged: string | undefined;
  isDoubtful: boolean;
}

/** Stands among the events of an episode where lines were lost of which nobody can tell what they said. */
export interface Loss {
  readonly event: 'loss';
  readonly at: string;
}

const DOUBT =
  'Lines of the log were lost after this dialogue began, and nobody can tell whether they deleted it or marked a leak in it.';

/** The trajectory that the events of one episode tell, as `foldEpisode`; undefined also when it was deleted. */
export function foldTrajectory(events: readonly LogEvent[]): Trajectory | undefined {
  const folded = foldEpisode(events);
  return folded?.deleted === false ? folded.trajectory : undefined;
}

/**
 * Folds the events of one episode, in the order they were logged, into the trajectory they tell; the task is the last
 * `task` event of that id among them. Undefined when the episode never started, or when its task is not there.
 *
 * - An `agent-turn` whose number was played before, or candidates for it, take that turn and everything after it back.
 *   After `turn-superseded` the turn remembers the message that it replaces.
 * - `resumed` opens an episode again; an answer given before no longer counts, nor do its grades.
 * - A `loss` after the start makes it doubtful, unless it was deleted or restored later.
 * - A second `episode-started` begins anew: it comes from an import that was repeated after it had been interrupted.
 */
export function foldEpisode(
  events: readonly (LogEvent | Loss)[],
): { readonly trajectory: Trajectory; readonly deleted: boolean } | undefined {
  const tasks = new Map<string, Task>();
  let folding: Folding | undefined;
  for (const event of events) {
    if (event.event === 'task') tasks.set(event.task.id, event.task);
    else if (event.event === 'episode-started') folding = begin(event, folding);
    else if (folding) apply(folding, event);
  }
  const task = folding && tasks.get(folding.started.task);
  if (!folding || !task) return undefined;
  const { started, agent, collaborator, turns, handOvers, pending } = folding;
  const { answer, grades, rating, outcome, abandoned, damaged, isDoubtful } = folding;
  const trajectory: Trajectory = {
    id: started.episode,
    task,
    started,
    agent,
    collaborator,
    state: answer ? 'answered' : abandoned ? 'abandoned' : 'open',
    turns,
    handOvers,
    grades,
    ...(pending.length > 0 && { pending }),
    ...(answer && { answer }),
    ...(rating && { rating }),
    ...(outcome && { outcome }),
    ...(abandoned && { abandoned }),
    ...(damaged !== undefined && { damaged }),
    ...(isDoubtful && { doubtful: DOUBT }),
  };
  return { trajectory, deleted: folding.deleted };
}

function begin(started: EventOf<'episode-started'>, before: Folding | undefined): Folding {
  return {
    started,
    agent: started.agent,
    collaborator: started.collaborator,
    turns: [],
    handOvers: [],
    pending: [],
    superseding: undefined,
    answer: undefined,
    abandoned: undefined,
    grades: [],
    rating: undefined,
    outcome: undefined,
    deleted: before?.deleted ?? false,
    damaged: undefined,
    isDoubtful: before?.isDoubtful ?? false,
  };
}

function apply(folding: Folding, event: LogEvent | Loss): void {
  switch (event.event) {
    case 'agent-turn':
      playTurn(folding, event);
      return;
    case 'candidates':
      showCandidates(folding, event);
      return;
    case 'choice':
      choose(folding, event);
      return;
    case 'reply':
      amendTurn(folding, event.turn, { reply: event }, 'reply');
      return;
    case 'leak':
      amendTurn(folding, event.turn, { leak: event }, 'leak');
      return;
    case 'turn-rating':
      amendTurn(folding, event.turn, { rating: event }, 'rating');
      return;
    case 'credit-verdict':
      judgeCredit(folding, event);
      return;
    case 'turn-superseded':
      folding.superseding = event.turn;
      return;
    case 'hand-over':
      folding.collaborator = event.to;
      folding.handOvers.push(event);
      return;
    case 'answered':
      folding.answer = event;
      folding.abandoned = undefined;
      return;
    case 'abandoned':
      takeAnswerBack(folding);
      folding.abandoned = event;
      return;
    case 'resumed':
      folding.agent = event.agent ?? folding.agent;
      takeAnswerBack(folding);
      folding.abandoned = undefined;
      return;
    case 'grade':
      folding.grades.push(event);
      return;
    case 'rating':
      folding.rating = event;
      return;
    case 'outcome':
      folding.outcome = event;
      return;
    case 'deleted':
    case 'undeleted':
      folding.deleted = event.event === 'deleted';
      folding.isDoubtful = false;
      return;
    case 'loss':
      folding.isDoubtful = true;
      return;
    case 'lines-lost':
      folding.damaged ??= event.reason;
      return;
    case 'segment':
    case 'task':
    case 'consent':
    case 'episode-started':
      return;
  }
}

function playTurn(folding: Folding, event: EventOf<'agent-turn'>): void {
  const before = folding.turns.find(({ agent }) => agent.turn === event.turn);
  const another = folding.superseding === event.turn ? before : undefined;
  folding.superseding = undefined;
  reach(folding, event.turn);
  const candidates = [...(another?.candidates ?? []), ...judged(folding, event.turn)];
  folding.pending = [];
  folding.turns.push({
    agent: event,
    ...(candidates.length > 0 && { candidates }),
    ...(another && { superseded: [...(another.superseded ?? []), another.agent] }),
  });
}

/** Goes to where `turn` is the next to be played. */
function reach(folding: Folding, turn: number): void {
  const last = folding.turns.at(-1)?.agent.turn ?? 0;
  if (turn <= last) {
    folding.turns = folding.turns.filter(({ agent }) => agent.turn < turn);
    takeAnswerBack(folding);
  } else if (turn > last + 1) {
    folding.damaged ??= `Turn ${last + 1} is missing from the log.`;
  }
  const before = folding.turns.at(-1);
  if (before && !before.reply)
    folding.damaged ??= `The reply to turn ${before.agent.turn} is missing from the log.`;
}

function showCandidates(folding: Folding, event: EventOf<'candidates'>): void {
  reach(folding, event.turn);
  // Those that nobody chose from are void.
  folding.pending = [...judged(folding, event.turn), { shown: event }];
}

/** The candidates for a turn of which a person has said something. */
function judged({ pending }: Folding, turn: number): Choice[] {
  return pending.filter(isChoice).filter(({ shown }) => shown.turn === turn);
}

function choose(folding: Folding, choice: EventOf<'choice'>): void {
  const last = folding.pending.at(-1);
  if (last === undefined || last.choice || last.shown.turn !== choice.turn) {
    folding.damaged ??= `A choice for turn ${choice.turn} is in the log, but its candidates are not.`;
    return;
  }
  folding.pending = [...folding.pending.slice(0, -1), { ...last, choice }];
}

function judgeCredit(folding: Folding, verdict: EventOf<'credit-verdict'>): void {
  const before = folding.turns.find(({ agent }) => agent.turn === verdict.turn)?.verdicts;
  amendTurn(folding, verdict.turn, { verdicts: withVerdict(before, verdict) }, 'verdict');
}

function amendTurn(folding: Folding, turn: number, with_: Partial<Turn>, what: string): void {
  const index = folding.turns.findIndex(({ agent }) => agent.turn === turn);
  if (index === -1) {
    folding.damaged ??= `A ${what} to turn ${turn} is in the log, but the turn is not.`;
    return;
  }
  folding.turns[index] = { ...folding.turns[index]!, ...with_ };
}

function takeAnswerBack(folding: Folding): void {
  if (!folding.answer) return;
  folding.answer = undefined;
  folding.outcome = undefined;
  folding.grades = [];
}

/** The summary that a list shows of a trajectory. The index keeps the same without reading the episode. */
export function summarize(trajectory: Trajectory): TrajectorySummary {
  const { id, started, agent, collaborator, state, turns, grades, rating, abandoned, doubtful } = trajectory;
  const leaks = turns.flatMap(({ leak }) => leak ?? []);
  const replyTime = replyTimeOf(turns);
  const verdicts = verdictsOf(trajectory).length;
  return {
    id,
    taskId: started.task,
    ...(started.pack !== undefined && { pack: started.pack }),
    agent,
    collaborator,
    startedAt: new Date(started.at).toISOString(),
    state,
    ...(abandoned && { abandoned: abandoned.reason }),
    turns: turns.at(-1)?.agent.turn ?? 0,
    grades: Object.fromEntries(
      grades.map(({ grade: { mode, reward, success } }) => [mode, { reward, success }]),
    ),
    leak: Math.max(0, ...leaks.map(({ fraction }) => fraction)),
    leaked: leaks.some(({ leaked }) => leaked),
    ...(doubtful !== undefined && { doubtful: true }),
    choices: choicesOf(trajectory).length,
    ...(verdicts > 0 && { verdicts }),
    ...(rating?.stars !== undefined && { stars: rating.stars }),
    ...(replyTime && { replyTime }),
    seed: started.seed,
    ...(started.rollout !== undefined && { rollout: started.rollout }),
    ...(started.collection !== undefined && { collection: started.collection }),
  };
}

function replyTimeOf(turns: readonly Turn[]): TrajectorySummary['replyTime'] {
  const times = turns.flatMap(({ reply }) =>
    reply === undefined || reply.author === 'simulator' ? [] : (reply.milliseconds ?? []),
  );
  if (times.length === 0) return undefined;
  return { replies: times.length, milliseconds: times.reduce((sum, time) => sum + time, 0) };
}
