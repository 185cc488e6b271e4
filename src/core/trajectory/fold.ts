import {
  choicesOf,
  isChoice,
  type Choice,
  type DialogueReview,
  type ShownCandidates,
  type Trajectory,
  type TrajectorySummary,
  type Turn,
  playerOf,
} from './trajectory';
import {
  countedRating,
  countedTurnRating,
  noteOf,
  ratersOf,
  tagsOf,
  titleOf,
  putJudgement,
  putLabel,
  putRating,
  putTurnRating,
  putVerdict,
  verdictsOf,
  type Words,
} from './opinions';
import type { EventOf, LogEvent } from './event';

type FoldedTurn = { -readonly [Field in keyof Turn]: Turn[Field] } & {
  candidates?: Choice[];
  superseded?: EventOf<'agent-turn'>[];
};

interface TurnWords {
  readonly ratings: Words<EventOf<'turn-rating'>>;
  readonly verdicts: Words<EventOf<'credit-verdict'>>;
}

/** An episode while its events are folded. */
export class Folding {
  agent: string;
  collaborator: Trajectory['collaborator'];
  /** Their numbers ascend. */
  readonly turns: FoldedTurn[] = [];
  /** They come into the turns when all events are folded. */
  readonly turnWords = new Map<FoldedTurn, TurnWords>();
  readonly handOvers: EventOf<'hand-over'>[] = [];
  /** Of one turn. */
  pending: ShownCandidates[] = [];
  /** Number of the turn that is sampled again next. */
  superseding: number | undefined;
  answer: EventOf<'answered'> | undefined;
  abandoned: EventOf<'abandoned'> | undefined;
  grades: EventOf<'grade'>[] = [];
  readonly ratings: Words<EventOf<'rating'>> = new Map();
  readonly labels: Words<EventOf<'label'>> = new Map();
  review: DialogueReview | undefined;
  outcome: EventOf<'outcome'> | undefined;
  deleted: boolean;
  /** True once it was deleted or restored: then it depends on the order of its events whether it is doubtful. */
  wasDeleted: boolean;
  damaged: string | undefined;
  isDoubtful: boolean;

  constructor(
    readonly started: EventOf<'episode-started'>,
    before: Folding | undefined,
  ) {
    this.agent = started.agent;
    this.collaborator = started.collaborator;
    this.deleted = before?.deleted ?? false;
    this.wasDeleted = before?.wasDeleted ?? false;
    this.isDoubtful = before?.isDoubtful ?? false;
  }
}

/** A trajectory without its task, which is all that a list needs. */
export type Episode = Omit<Trajectory, 'task'>;

/** Lines were lost here, and their content is unknown. */
export interface Loss {
  readonly event: 'loss';
  readonly at: string;
}

const DOUBT =
  'Lines of the log were lost after this dialogue began; they may have deleted it or marked a leak in it.';

/**
 * Folds the next event of an episode, in the order they were logged. Undefined while the episode has not started.
 *
 * - An `agent-turn` with a number that was played before, or candidates for it, removes that turn and all later ones.
 *   After `turn-superseded` the new turn remembers the message that it replaces.
 * - `resumed` reopens an episode; an earlier answer, its grades and reviews no longer count.
 * - A `loss` after the start makes it doubtful, unless it was deleted or restored later.
 * - A second `episode-started` starts over: an interrupted import was repeated.
 */
export function foldEvent(folding: Folding | undefined, event: LogEvent | Loss): Folding | undefined {
  if (event.event === 'episode-started') return new Folding(event, folding);
  if (folding) (APPLY[event.event] as Apply<typeof event>)(folding, event);
  return folding;
}

export function episodeOf(folding: Folding): Episode {
  const { started, agent, collaborator, turns, handOvers, pending } = folding;
  const { answer, grades, review, outcome, abandoned, damaged, isDoubtful } = folding;
  const [ratings, labels] = [said(folding.ratings), said(folding.labels)];
  const rating = countedRating(ratings);
  for (const [turn, words] of folding.turnWords) {
    turn.ratings = said(words.ratings);
    turn.rating = countedTurnRating(turn.ratings);
    if (words.verdicts.size > 0) turn.verdicts = [...words.verdicts.values()];
  }
  return {
    id: started.episode,
    started,
    agent,
    collaborator,
    state: answer ? 'answered' : abandoned ? 'abandoned' : 'open',
    turns,
    handOvers,
    grades,
    pending: pending.length > 0 ? pending : undefined,
    answer,
    ratings,
    rating,
    labels,
    review,
    outcome,
    abandoned,
    damaged,
    doubtful: isDoubtful ? DOUBT : undefined,
  };
}

const said = <E>(words: Words<E>): E[] | undefined => (words.size === 0 ? undefined : [...words.values()]);

type Foldable = LogEvent | Loss;
type Apply<E extends Foldable> = (folding: Folding, event: E) => void;

const nothing: Apply<Foldable> = () => undefined;

/** What an event of each kind changes. */
const APPLY: { readonly [Kind in Foldable['event']]: Apply<Extract<Foldable, { event: Kind }>> } = {
  'agent-turn': playTurn,
  candidates: showCandidates,
  choice: choose,
  reply: (folding, event) => amendTurn(folding, event.turn, { reply: event }, 'reply'),
  leak: (folding, event) => amendTurn(folding, event.turn, { leak: event }, 'leak'),
  'turn-rating': (folding, event) => {
    const words = wordsOf(folding, event.turn);
    if (words) putTurnRating(words.ratings, event);
  },
  'credit-verdict': (folding, event) => {
    const words = wordsOf(folding, event.turn);
    if (words) putVerdict(words.verdicts, event);
  },
  'turn-superseded': (folding, event) => {
    folding.superseding = event.turn;
  },
  'hand-over': (folding, event) => {
    folding.collaborator = event.to;
    folding.handOvers.push(event);
  },
  answered: (folding, event) => {
    folding.answer = event;
    folding.abandoned = undefined;
  },
  abandoned: (folding, event) => {
    takeAnswerBack(folding);
    folding.abandoned = event;
  },
  resumed: (folding, event) => {
    folding.agent = event.agent ?? folding.agent;
    takeAnswerBack(folding);
    folding.review = undefined;
    folding.abandoned = undefined;
  },
  grade: (folding, event) => {
    folding.grades.push(event);
  },
  rating: (folding, event) => putRating(folding.ratings, event),
  label: (folding, event) => putLabel(folding.labels, event),
  review: (folding, event) => {
    folding.review = isReview(event) ? event : undefined;
  },
  judgement: (folding, event) =>
    putJudgement(turnOf(folding, event.turn)?.candidates ?? folding.pending, event),
  outcome: (folding, event) => {
    folding.outcome = event;
  },
  deleted: (folding) => setDeleted(folding, true),
  undeleted: (folding) => setDeleted(folding, false),
  loss: (folding) => {
    folding.isDoubtful = true;
  },
  'lines-lost': (folding, event) => {
    folding.damaged ??= event.reason;
  },
  segment: nothing,
  task: nothing,
  consent: nothing,
  assignment: nothing,
  'episode-started': nothing,
};

function setDeleted(folding: Folding, deleted: boolean): void {
  folding.deleted = deleted;
  folding.wasDeleted = true;
  folding.isDoubtful = false;
}

function playTurn(folding: Folding, event: EventOf<'agent-turn'>): void {
  const another = folding.superseding === event.turn ? turnOf(folding, event.turn) : undefined;
  folding.superseding = undefined;
  reach(folding, event.turn);
  // Fast path for most turns: a log of a hundred thousand dialogues has half a million of them.
  if (!another && folding.pending.length === 0) {
    folding.turns.push({ agent: event });
    return;
  }
  const candidates = another?.candidates ?? [];
  for (const pair of folding.pending)
    if (isChoice(pair) && pair.shown.turn === event.turn) candidates.push(pair);
  folding.pending = [];
  const superseded = another?.superseded ?? [];
  if (another) superseded.push(another.agent);
  folding.turns.push({
    agent: event,
    ...(candidates.length > 0 && { candidates }),
    ...(another && { superseded }),
  });
}

function turnOf({ turns }: Folding, number: number): FoldedTurn | undefined {
  let low = 0;
  let high = turns.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (turns[middle]!.agent.turn < number) low = middle + 1;
    else high = middle;
  }
  return turns[low]?.agent.turn === number ? turns[low] : undefined;
}

/** Makes `turn` the next turn to be played, and removes it and all later ones if they were played before. */
function reach(folding: Folding, turn: number): void {
  const last = folding.turns.at(-1)?.agent.turn ?? 0;
  if (turn <= last) {
    for (let last = folding.turns.at(-1); last && last.agent.turn >= turn; last = folding.turns.at(-1)) {
      folding.turns.pop();
      folding.turnWords.delete(last);
    }
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
  const last = folding.pending.at(-1);
  if (last && last.shown.turn !== event.turn) folding.pending = [];
  else if (last && !isChoice(last)) folding.pending.pop(); // candidates without a choice are void
  folding.pending.push({ shown: event });
}

function choose(folding: Folding, choice: EventOf<'choice'>): void {
  const last = folding.pending.at(-1);
  if (last === undefined || last.choice || last.shown.turn !== choice.turn) {
    folding.damaged ??= `A choice for turn ${choice.turn} is in the log, but its candidates are not.`;
    return;
  }
  folding.pending[folding.pending.length - 1] = { ...last, choice };
}

const isReview = (review: EventOf<'review'>): review is DialogueReview => review.state !== undefined;

/** An opinion may be about a turn that was played elsewhere; its absence shows no loss. */
function wordsOf(folding: Folding, number: number): TurnWords | undefined {
  const turn = turnOf(folding, number);
  if (!turn) return undefined;
  let words = folding.turnWords.get(turn);
  if (!words) folding.turnWords.set(turn, (words = { ratings: new Map(), verdicts: new Map() }));
  return words;
}

function amendTurn(folding: Folding, turn: number, with_: Partial<FoldedTurn>, what: string): void {
  const amended = turnOf(folding, turn);
  if (amended) Object.assign(amended, with_);
  else folding.damaged ??= `A ${what} to turn ${turn} is in the log, but the turn is not.`;
}

function takeAnswerBack(folding: Folding): void {
  if (!folding.answer) return;
  folding.answer = undefined;
  folding.outcome = undefined;
  folding.review = undefined;
  folding.grades = [];
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** The index keeps the same without reading the episode. */
export function summarize(trajectory: Episode): TrajectorySummary {
  const { id, started, agent, collaborator, state, turns, rating, abandoned, doubtful } = trajectory;
  const { review, labels = [] } = trajectory;
  const { parent } = started;
  const grades: Partial<Record<'fixed' | 'paper', { reward: number | null; success: boolean | null }>> = {};
  for (const { grade } of trajectory.grades)
    grades[grade.mode] = { reward: grade.reward, success: grade.success };
  let leak = 0;
  let leaked = false;
  let hasVerdicts = false;
  for (const turn of turns) {
    leak = Math.max(leak, turn.leak?.fraction ?? 0);
    leaked ||= turn.leak?.leaked ?? false;
    hasVerdicts ||= turn.verdicts !== undefined;
  }
  const tags = tagsOf(labels);
  // Fields without a value are undefined: an object that grows by spreads costs an index more than parsing its lines.
  return {
    id,
    taskId: started.task,
    pack: started.pack,
    agent,
    collaborator,
    startedAt: TIME.test(started.at) ? started.at : new Date(started.at).toISOString(),
    state,
    abandoned: abandoned?.reason,
    turns: turns.at(-1)?.agent.turn ?? 0,
    grades,
    leak,
    leaked,
    doubtful: doubtful === undefined ? undefined : true,
    choices: choicesOf(trajectory).length,
    verdicts: (hasVerdicts && verdictsOf(trajectory).length) || undefined,
    stars: rating?.stars,
    player: playerOf(trajectory),
    raters: ratersOf(trajectory).size || undefined,
    review: review?.state,
    reviewReason: review?.reason,
    title: titleOf(labels),
    tags: tags.length > 0 ? tags : undefined,
    note: noteOf(labels) || undefined,
    replyTime: replyTimeOf(turns),
    seed: started.seed,
    rollout: started.rollout,
    collection: started.collection,
    parent: parent && { id: parent.id, turn: parent.turn, by: parent.by },
  };
}

function replyTimeOf(turns: readonly Turn[]): TrajectorySummary['replyTime'] {
  let replies = 0;
  let milliseconds = 0;
  for (const { reply } of turns) {
    if (reply?.milliseconds === undefined || reply.author === 'simulator') continue;
    replies += 1;
    milliseconds += reply.milliseconds;
  }
  return replies === 0 ? undefined : { replies, milliseconds };
}
