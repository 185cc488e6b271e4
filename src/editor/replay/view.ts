import { signed } from '../../core/evaluation/words';
import { verdictOf, type Grade, type PageMeasure } from '../../core/grading/grade';
import { isOwnFunction } from '../../core/task/own';
import { isProgram, type Task } from '../../core/task/task';
import { taskTitle } from '../../core/task/title';
import { PERSON, type Collaborator, type Shown } from '../../core/trajectory/event';
import {
  isChoice,
  isOver,
  type Choice,
  type Trajectory,
  type TrajectorySummary,
  type Turn,
} from '../../core/trajectory/trajectory';
import { summarize } from '../../core/trajectory/fold';
import type { TrajectoryLog } from '../../core/trajectory/log';
import { opinionsOn, verdictsOf } from '../../core/trajectory/opinions';
import type {
  LabelView,
  Replay,
  ReplayedChoice,
  ReplayedReply,
  ReplayedTurn,
  Credits,
  TurnCredit,
} from '../../../webview/replay/protocol';
import type { ReplyView, Seat } from '../../../webview/session/protocol';
import { choiceView, cut, messageView, partsOf, turnRating, turnView } from '../../views/turnView';
import { gradeView } from '../../views/gradeView';
import { allTags, becameWords, givenTitle, outcomeWords, shownNote, shownReason } from '../dialogue/words';
import type { DrawPage } from '../../views/pageViews';
import { reasonWords } from '../reasons';
import type { Translate } from '../translate';
import { gainsOf } from '../../core/training/scoring/dialogues';
import { duration } from '../words';
import type { Credit } from '../../core/training/credit/credit';
import type { AdvantageUnit } from '../../core/training/credit/critics';
import type { KnownCredit } from '../credit/credits';
import { agreementWords } from '../credit/words';

/**
 * @param own pseudonym of the person at this editor
 * @param language of dates
 * @param draw in tasks of pages
 */
export function replayOf(
  trajectory: Trajectory,
  own: string | undefined,
  t: Translate,
  language: string,
  draw?: DrawPage,
): Replay {
  const { id, task, started, agent, collaborator, turns, pending = [], answer } = trajectory;
  const { ratings = [], labels = [], review } = trajectory;
  const { outcome: became, doubtful, damaged = doubtful } = trajectory;
  const summary = summarize(trajectory);
  const grades = new Map(trajectory.grades.map(({ grade }) => [grade.mode, grade]));
  const grade = grades.get('fixed') ?? grades.get('paper');
  const verdict =
    summary.state === 'answered' && grade && grade.page === undefined ? verdictOf(grade) : undefined;
  return {
    episode: id,
    agent,
    collaborator: collaborator.name,
    seat: seatOf(collaborator),
    outcome:
      became === undefined ? outcomeWords(summary, testsShown(task, grade), t) : becameWords(became, t),
    ...(verdict && { verdict }),
    details: [[t('Started'), startedWords(started.at, language)], ...detailsOf(trajectory, t)],
    turns: turns.map((turn) => replayedTurn(turn, trajectory, { own, t, draw, page: grade?.page })),
    refused: pending.filter(isChoice).map((choice) => replayedChoice(choice, trajectory, { own, t, draw })),
    ending: endingOf(trajectory, t),
    hasAnswer: answer !== undefined && (answer.answer !== '' || started.imported?.harness === undefined),
    ...withoutReference(trajectory, t),
    canContinue: started.imported?.harness === undefined,
    grades: [...grades.values()].map((one) =>
      gradeView({ task, turns, answer: answer?.answer, own }, one, t),
    ),
    ratings: ratings.map(({ stars, comment, by }) => ({ stars, comment, by: personOf(by, own, t) })),
    ...(labels.length > 0 && { label: labelView(summary, labels, own, t) }),
    canReview: trajectory.state !== 'open',
    ...(review && {
      review: {
        state: review.state,
        ...(review.reason !== undefined && { reason: shownReason(review.reason, t) }),
        by: personOf(review.by, own, t),
      },
    }),
    ...(damaged !== undefined && { damaged }),
  };
}

function withoutReference(
  { task, started, agent, answer }: Trajectory,
  t: Translate,
): Pick<Replay, 'withoutReference'> {
  if (started.imported?.harness !== undefined) return { withoutReference: t('a session without a task') };
  if (isOwnFunction(task))
    return { withoutReference: t('a developer’s own function: what was hidden was in the developer’s head') };
  if (agent !== PERSON || answer !== undefined) return {};
  return { withoutReference: t('a person plays the agent, and sees the reference after the answer') };
}

/** The parent of a fork, unless it was deleted, and the forks of a dialogue. */
export function relatedTo(
  { id, started: { parent } }: Trajectory,
  log: Pick<TrajectoryLog, 'summary' | 'forksOf'>,
  t: Translate,
): Pick<Replay, 'related'> {
  const forks = log.forksOf(id).map((episode) => ({ episode, parting: log.summary(episode)?.parent }));
  const related = [
    ...(parent === undefined || log.summary(parent.id) === undefined
      ? []
      : [{ words: t('continues another dialogue from turn {0} on', parent.turn), episode: parent.id }]),
    ...forks.map(({ episode, parting }) => ({
      words: t('continued otherwise from turn {0} on', parting?.turn ?? 1),
      episode,
    })),
  ];
  return related.length > 0 ? { related } : {};
}

/** Undefined where the tests of the grade are not known, and of a page. */
const testsShown = (task: Task, grade: Grade | undefined): number | undefined =>
  grade?.tests.length === 0 || !isProgram(task) ? undefined : task.testCases.length;

function labelView(
  summary: TrajectorySummary,
  labels: NonNullable<Trajectory['labels']>,
  own: string | undefined,
  t: Translate,
): LabelView {
  const title = givenTitle(summary);
  return {
    ...(title !== undefined && { title }),
    tags: allTags(summary),
    notes: labels.flatMap(({ note = '', by }) =>
      note === '' ? [] : [{ by: personOf(by, own, t), text: shownNote(note) }],
    ),
  };
}

function detailsOf({ id, task, started, turns }: Trajectory, t: Translate): Replay['details'] {
  const { pack, seed, rollout, collection, protocol, prompts, imported } = started;
  const temperatures = new Set(turns.flatMap(({ agent }) => agent.sampling?.temperature ?? []));
  const files = Object.entries(prompts).map(([file, hash]) => `${file} (${hash.slice(0, 8)})`);
  const details: readonly [string, string | undefined][] = [
    [t('Task'), taskTitle(task)],
    [t('Pack'), pack],
    [t('Collection'), collection],
    [t('Rollout'), rollout === undefined ? undefined : String(rollout + 1)],
    [t('Seed'), String(seed)],
    [t('Temperature'), [...temperatures].join(', ')],
    [t('Turn limit'), String(protocol.maxTurns)],
    [t('Prompts'), files.join(', ')],
    [t('Recorded'), imported?.at],
    [t('Imported from'), imported && t('{0}, line {1}', imported.file, imported.line)],
    [t('Dialogue'), id],
  ];
  return details.flatMap(([name, value = '']) => (value === '' ? [] : [[name, shownNote(value)] as const]));
}

/** English dates take the locale of the machine, which knows which English it is. */
const startedWords = (at: string, language: string): string =>
  new Date(at).toLocaleString(language === 'en' ? undefined : language, {
    dateStyle: 'medium',
    timeStyle: 'short',
  });

interface Reader {
  readonly own: string | undefined;
  readonly t: Translate;
  readonly draw: DrawPage | undefined;
  /** Of the grade that is shown first. */
  readonly page?: PageMeasure | undefined;
}

function replayedTurn(turn: Turn, trajectory: Trajectory, { own, t, draw, page }: Reader): ReplayedTurn {
  const { candidates, superseded = [] } = turn;
  const { rating: _, choices: __, ...view } = turnView(turn, false, draw);
  const did = partsOf(turn.agent, t);
  const here = trajectory.handOvers.filter((handOver) => handOver.turn === turn.agent.turn);
  return {
    ...view,
    ...(candidates && {
      choices: candidates.map((choice) => replayedChoice(choice, trajectory, { own, t, draw })),
    }),
    ...(did.length > 0 && didView(did, view.left)),
    ...(page && { gain: gainWords(page, turn.agent.turn, t) }),
    earlier: superseded.map((sample) => messageView(sample, draw)),
    ratings: (turn.ratings ?? []).map((rating) => ({
      ...turnRating(rating),
      by: personOf(rating.by, own, t),
    })),
    reply: view.reply && replayedReply(turn, view.reply, t),
    handOvers: here.map(({ to }) => ({ name: to.name, seat: seatOf(to) })),
  };
}

/** Maximum number of parts of a turn, and of characters of each, that are drawn; the transcript has all. */
const [MAX_PARTS, MAX_PART_CHARS] = [300, 4_000];

function didView(parts: ReturnType<typeof partsOf>, left = 0): Pick<ReplayedTurn, 'did' | 'left'> {
  let characters = left;
  for (const { text } of parts.slice(MAX_PARTS)) characters += text.length;
  const did = parts.slice(0, MAX_PARTS).map(({ name, text }) => {
    const drawn = cut(text, MAX_PART_CHARS);
    characters += drawn.left;
    return { name, text: drawn.shown };
  });
  return { did, ...(characters > 0 && { left: characters }) };
}

function gainWords({ measure, drafts }: PageMeasure, turn: number, t: Translate): string | undefined {
  const draft = drafts.find((one) => one.turn === turn);
  if (draft === undefined) return undefined;
  const score = draft.score.toFixed(2);
  if (draft === drafts[0]) return t('Score of this page ({0}): {1}', measure, score);
  const gain = gainsOf(drafts, turn).get(turn)!;
  return t('Score of this page ({0}): {1}, {2} on the one before', measure, score, signed(gain, 2));
}

const tellsNames = ({ state, abandoned }: Trajectory): boolean => isOver(state, abandoned?.reason);

function replayedChoice(choice: Choice, trajectory: Trajectory, { own, t, draw }: Reader): ReplayedChoice {
  const { milliseconds, by: chooser } = choice.choice;
  const judges = opinionsOn(choice).filter(({ by }) => by !== chooser);
  return {
    ...choiceView(choice, tellsNames(trajectory), draw),
    judgements: judges.map(({ by, picked }) => ({ by: personOf(by, own, t), picked })),
    ...(milliseconds !== undefined && { took: t('After {0}.', took(milliseconds, t)) }),
  };
}

function replayedReply({ reply }: Turn, view: ReplyView, t: Translate): ReplayedReply {
  const { author, suggestion, fullText, milliseconds, shown } = reply!;
  const origins = {
    developer: t('developer'),
    simulator: t('simulator'),
    'developer-edited-suggestion': t('suggested by simulator, edited by developer'),
    'developer-sent-suggestion': t('suggested by simulator, sent unchanged'),
  };
  const saw = shown === undefined ? undefined : shownWords(shown, t);
  const time = milliseconds === undefined ? undefined : took(milliseconds, t);
  const origin = [origins[author], saw, time].filter((part) => part !== undefined).join(' · ');
  return { ...view, origin, suggestion, fullText };
}

/** Undefined for what a later version shows. */
function shownWords(shown: string, t: Translate): string | undefined {
  const words: Readonly<Record<Shown, string>> = {
    pictures: t('saw the pictures of both pages'),
    outlines: t('read the outlines of both pages'),
    differences: t('read the differences of both pages'),
    frames: t('saw both pages'),
  };
  return Object.hasOwn(words, shown) ? words[shown as Shown] : undefined;
}

const seatOf = ({ kind }: Collaborator): Seat => (kind === 'developer' ? 'developer' : 'simulator');

const personOf = (name: string, own: string | undefined, t: Translate): string =>
  name === own ? t('you') : name;

const took = (milliseconds: number, t: Translate): string =>
  milliseconds < 1000 ? t('<1 s') : duration(milliseconds / 1000, t);

function endingOf({ answer, abandoned, turns, started }: Trajectory, t: Translate): string {
  if (abandoned !== undefined) return abandonedWords(abandoned, t);
  if (answer === undefined) return t('The dialogue is not finished.');
  const count = turns.length === 1 ? t('1 turn') : t('{0} turns', turns.length);
  const { harness } = started.imported ?? {};
  if (harness !== undefined)
    return t('A session of {0}, {1}. It has no tests, so it has no grade.', harness, count);
  const endings = {
    answered: t('The agent answered after {0}.', count),
    'turn-limit': t(
      'The turn limit was reached, so the agent’s message of turn {0} counts as the answer.',
      turns.length,
    ),
    'context-limit': t(
      'The agent’s context was full, so its message of turn {0} counts as the answer.',
      turns.length,
    ),
    'ended-by-developer': t(
      'The developer ended the dialogue after {0} and took the last message as the answer.',
      count,
    ),
    'ended-by-simulator': t(
      'The simulator ended the dialogue after {0} without an answer; its last reply says why.',
      count,
    ),
  };
  return endings[answer.reason];
}

function abandonedWords({ reason, message }: NonNullable<Trajectory['abandoned']>, t: Translate): string {
  const words = reasonWords(message, t);
  return {
    skipped: t('The dialogue was skipped: {0}', words),
    cancelled: t('The dialogue was canceled: {0}', words),
    failed: t('The dialogue failed: {0}', words),
  }[reason];
}

/** @param own pseudonym of the person at this editor @param restriction the reason why no critic runs here */
export function creditsView(
  known: KnownCredit | undefined,
  trajectories: readonly Trajectory[],
  { own, restriction }: { readonly own: string | undefined; readonly restriction?: string | undefined },
  t: Translate,
): Credits {
  const message = { type: 'credit', episodes: trajectories.map(({ id }) => id) } as const;
  const none = trajectories.map(() => null);
  if (known === undefined) return { ...message, canScore: false, credits: none };
  const { place, critic, problem, agreement } = known;
  const credits = trajectories.map((trajectory, index) => {
    const credit = known.credits[index];
    return credit === undefined ? null : turnsOf(credit, trajectory, own, t);
  });
  return {
    ...message,
    critic: {
      ...{ name: place.name, folder: place.folder, isCritic: place.by === undefined },
      unit: critic === undefined ? '' : unitWords(critic.unit, t),
      scale: scaleOf(credits.flatMap((turns) => turns ?? [])),
      agreement: agreement === undefined ? [] : agreementWords(agreement, t),
    },
    ...(problem !== undefined && { problem }),
    ...(restriction !== undefined && { restriction }),
    canScore:
      critic !== undefined &&
      trajectories.some(({ turns }, index) => turns.length > 0 && credits[index] === null),
    credits,
  };
}

function turnsOf(
  { critic, turns }: Credit,
  trajectory: Trajectory,
  own: string | undefined,
  t: Translate,
): TurnCredit[] {
  const verdicts = verdictsOf(trajectory).filter((verdict) => verdict.critic === critic);
  return turns.flatMap(({ turn, advantage, untrained, tokens }) => {
    if (advantage === null) return [];
    const ofTurn = verdicts.filter((verdict) => verdict.turn === turn);
    const mine = ofTurn.find(({ by }) => by === own);
    const others = ofTurn.filter((verdict) => verdict !== mine);
    return [
      {
        ...{ turn, advantage, untrained },
        ...(tokens && { tokens }),
        ...(mine && { agrees: mine.agrees }),
        others: others.map(({ by, agrees }) =>
          agrees ? t('{0} agrees with the critic', by) : t('{0} disagrees with the critic', by),
        ),
      },
    ];
  });
}

/** Returns one scale for all bars that are seen together, so that they can be compared. */
const scaleOf = (turns: readonly TurnCredit[]): number =>
  Math.max(
    0,
    ...turns.flatMap(({ advantage, untrained }) => [Math.abs(advantage), Math.abs(untrained ?? 0)]),
  );

const unitWords = (unit: AdvantageUnit, t: Translate): string =>
  ({
    'nats-per-token': t('nats/token'),
    nats: t('nats'),
    logit: t('logit of the reward after the turn'),
    reward: t('reward'),
  })[unit];
