import { setImmediate as yielding } from 'node:timers/promises';
import { inFlight } from '../../concurrency';
import { askedIn } from '../../dialogue/factMatcher';
import { leakOf } from '../../dialogue/leak';
import { saysNoPreference } from '../../dialogue/noPreference';
import { limitReply, parseAgentMessage } from '../../dialogue/protocol';
import type { Simulator } from '../../dialogue/simulator';
import { statedFacts } from '../../dialogue/statedFacts';
import { Fault } from '../../fault';
import { deriveSeed } from '../../seed';
import { type Fact, isProgram, type ProgramTask } from '../../task/task';
import type { TrajectoryLog } from '../../trajectory/log';
import type { Trajectory, TrajectorySummary } from '../../trajectory/trajectory';
import type { PairedDifference } from '../figureSchemas';
import { isFinished } from '../figures';
import { average, meanFigure, taskMeans, wilson, type Figure } from '../interval';
import { pairedDifference } from '../paired';

/** Of one reply; shares are 0 to 1. Undefined where it has no meaning. */
interface Habits {
  readonly words: number;
  /** Share of the facts that the message asked about which the reply states. */
  readonly answers?: number;
  /** 0 or 1, as the next ones: it says that there is no preference, or that it is not known. */
  readonly noPreference: number;
  readonly leaks: number;
  /** It states a fact that no message asked about. */
  readonly volunteers?: number;
}

export type GapFigure = keyof Habits | 'success';

export interface Gap {
  readonly people: Figure;
  readonly simulator: Figure;
  /** Simulator − people; `tasks` counts dialogues, except of success. */
  readonly difference: PairedDifference;
}

export interface SimulatorGap {
  readonly simulator: string;
  /** Those with a compared reply. */
  readonly people: readonly string[];
  readonly dialogues: number;
  readonly replies: number;
  /** Suggestions of a simulator that people sent unchanged, which are not compared. */
  readonly suggested: number;
  /** Why replies could not be simulated, and which ones. */
  readonly failures: readonly {
    readonly message: string;
    readonly replies: readonly { readonly episode: string; readonly turn: number }[];
  }[];
  readonly figures: Readonly<Partial<Record<GapFigure, Gap>>>;
}

export interface GapPlan {
  readonly log: TrajectoryLog;
  readonly simulator: Simulator;
  /** Pseudonyms; everyone by default. */
  readonly people?: readonly string[];
  /** Only the newest dialogues, so many. */
  readonly limit?: number;
  readonly concurrency: number;
  readonly signal: AbortSignal;
  readonly onProgress?: (done: number, total: number, failed: number) => void;
}

/** A reply of a person, and what was known when it was given. */
interface Position {
  readonly trajectory: Trajectory & { readonly task: ProgramTask };
  readonly index: number;
  readonly by: string;
  readonly said: string;
  /** Facts that the message asks about. */
  readonly asked: readonly Fact[];
  /** Facts that were asked about or stated before. */
  readonly known: ReadonlySet<Fact>;
}

interface Pair {
  readonly position: Position;
  readonly people: Habits;
  readonly simulator: Habits;
}

const FAILURES_IN_A_ROW = 20;

/**
 * Sets each reply of a person beside what a simulator says at the same point: to the same history, by the prompt and the
 * seed that it would have got in that dialogue. Values are averaged per dialogue first, and intervals are over dialogues.
 * Success is that of dialogues in the log which the same agents played about the same tasks with either.
 * @throws {Fault} what the simulator throws, when it does nothing else
 */
export async function simulatorGap(plan: GapPlan): Promise<SimulatorGap> {
  const { log, simulator, people } = plan;
  const isMeant = (name: string): boolean => people?.includes(name) ?? true;
  const everything = { sort: 'newest', offset: 0, limit: Number.POSITIVE_INFINITY } as const;
  const { rows } = log.list({ filter: { state: 'answered' }, ...everything });
  const played = rows.filter(({ player }) => player !== undefined && isMeant(player));
  const dialogues = await programDialogues(plan, played);
  const replies = [...dialogues.values()].flatMap(positionsIn);
  const own = replies.filter(({ by }) => isMeant(by));
  const compared = own.filter(({ trajectory, index }) => !isSentSuggestion(trajectory, index));
  const { pairs, failures } = await simulate(plan, compared);
  const byDialogue = [...Map.groupBy(pairs, ({ position }) => position.trajectory.id).values()];
  const success = successGap(
    played.filter(({ id, collaborator }) => dialogues.has(id) && collaborator.kind === 'developer'),
    rows.filter(
      ({ player, collaborator: { kind, name } }) =>
        player === undefined && kind === simulator.kind && name === simulator.name,
    ),
  );
  const figures = Object.fromEntries(
    HABITS.flatMap((habit) => {
      const gap = habitGap(byDialogue, habit);
      return gap === undefined ? [] : [[habit, gap]];
    }),
  );
  return {
    simulator: simulator.name,
    people: [...new Set(pairs.map(({ position }) => position.by))].sort(),
    dialogues: byDialogue.length,
    replies: pairs.length,
    suggested: own.length - compared.length,
    failures,
    figures: { ...figures, ...(success && { success }) },
  };
}

const HABITS = ['words', 'answers', 'noPreference', 'leaks', 'volunteers'] as const;

/** Functions of a developer's own have no hidden information, so nothing could simulate their replies. */
async function programDialogues(
  { log, limit = Number.POSITIVE_INFINITY, signal }: GapPlan,
  played: readonly TrajectorySummary[],
): Promise<Map<string, Position['trajectory']>> {
  const found = new Map<string, Position['trajectory']>();
  for await (const trajectory of log.trajectories(played.map(({ id }) => id))) {
    signal.throwIfAborted();
    const { id, task } = trajectory;
    if (!isProgram(task) || task.hiddenInformation === '' || !isFinished(trajectory)) continue;
    found.set(id, { ...trajectory, task });
    if (found.size === limit) break;
  }
  return found;
}

function positionsIn(trajectory: Position['trajectory']): Position[] {
  const { task, turns } = trajectory;
  const positions: Position[] = [];
  const known = new Set<Fact>();
  let lastReply: string | undefined;
  for (const [index, { agent, reply }] of turns.entries()) {
    if (reply === undefined) continue;
    const questions = askedIn(task, parseAgentMessage(agent.text).visible, lastReply);
    const asked = [...new Set(questions.flatMap(({ fact }) => fact ?? []))];
    const { author, by, text: said } = reply;
    if (author !== 'simulator') positions.push({ trajectory, index, by, said, asked, known: new Set(known) });
    for (const fact of [...asked, ...statedFacts(task, said, asked)]) known.add(fact);
    lastReply = said;
  }
  return positions;
}

const isSentSuggestion = ({ turns }: Trajectory, index: number): boolean =>
  turns[index]?.reply?.author === 'developer-sent-suggestion';

async function simulate(
  { simulator, concurrency, signal, onProgress }: GapPlan,
  positions: readonly Position[],
): Promise<{ readonly pairs: readonly Pair[]; readonly failures: SimulatorGap['failures'] }> {
  // By position, because the order in which they arrive must not change an interval.
  const outcomes: (Pair | Fault)[] = [];
  let [done, failed, failedInARow] = [0, 0, 0];
  onProgress?.(0, positions.length, 0);
  await inFlight(positions, concurrency, async (position, index) => {
    // Rules reply at once, and the editor's host has to answer others meanwhile.
    await yielding();
    signal.throwIfAborted();
    try {
      const said = await simulatedReply(position, simulator, signal);
      const [people, simulated] = [position.said, said].map((text) => habitsOf(text, position));
      outcomes[index] = { position, people: people!, simulator: simulated! };
      failedInARow = 0;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof Fault)) throw error;
      failedInARow += 1;
      // Rules fail at once, and only where a task has no facts.
      const isDown = simulator.kind === 'simulator' && failedInARow >= FAILURES_IN_A_ROW;
      if (isDown) throw error;
      outcomes[index] = error;
      failed += 1;
    }
    onProgress?.(++done, positions.length, failed);
  });
  signal.throwIfAborted();
  const failures = positions.flatMap(({ trajectory: { id: episode }, index }, at) => {
    const outcome = outcomes[at];
    return outcome instanceof Fault ? [{ message: outcome.message, episode, turn: index + 1 }] : [];
  });
  return {
    pairs: outcomes.flatMap((outcome) => (outcome instanceof Fault ? [] : [outcome])),
    failures: [...Map.groupBy(failures, ({ message }) => message)].map(([message, of]) => ({
      message,
      replies: of.map(({ episode, turn }) => ({ episode, turn })),
    })),
  };
}

/** As a dialogue asks its simulator. */
async function simulatedReply(
  { trajectory: { task, turns, started }, index }: Position,
  simulator: Simulator,
  signal: AbortSignal,
): Promise<string> {
  const { protocol, seed } = started;
  const history = [...turns.slice(0, index), { agent: turns[index]!.agent }];
  const view = { task, turns: history, protocol, seed: deriveSeed(seed, 'simulator', history.length) };
  const { text } = await simulator.reply(view, { signal });
  return limitReply(text, protocol.replyLimit);
}

function habitsOf(reply: string, { trajectory: { task }, asked, known }: Position): Habits {
  const stated = statedFacts(task, reply, asked);
  const isVolunteered = (fact: Fact): boolean => !asked.includes(fact) && !known.has(fact);
  return {
    words: reply.match(/\S+/g)?.length ?? 0,
    noPreference: Number(saysNoPreference(reply)),
    leaks: Number(leakOf(task, reply).leaked),
    ...(asked.length > 0 && {
      answers: asked.filter((fact) => stated.has(fact)).length / asked.length,
    }),
    ...(task.facts?.length && { volunteers: Number([...stated].some(isVolunteered)) }),
  };
}

function habitGap(dialogues: readonly (readonly Pair[])[], habit: keyof Habits): Gap | undefined {
  const meansOf = (side: 'people' | 'simulator'): number[] =>
    dialogues.flatMap((pairs) => {
      const values = pairs.flatMap((pair) => pair[side][habit] ?? []);
      return values.length === 0 ? [] : [average(values)];
    });
  return gapOf(meansOf('people'), meansOf('simulator'), habit === 'words' ? meanFigure : shareFigure);
}

/** @param people one value for each dialogue or task, as `simulator` */
function gapOf(
  people: readonly number[],
  simulator: readonly number[],
  figureOf: (values: readonly number[]) => Figure,
): Gap | undefined {
  if (people.length === 0) return undefined;
  return {
    people: figureOf(people),
    simulator: figureOf(simulator),
    difference: pairedDifference(people, simulator),
  };
}

function shareFigure(values: readonly number[]): Figure {
  const value = average(values);
  return { value, interval: wilson(value, values.length) };
}

/** Per agent and task first, then per task. */
function successGap(
  withPeople: readonly TrajectorySummary[],
  withSimulator: readonly TrajectorySummary[],
): Gap | undefined {
  const [ofPeople, ofSimulator] = [successes(withPeople), successes(withSimulator)];
  const both = [...ofPeople].flatMap(([key, { task, success }]) => {
    const other = ofSimulator.get(key);
    return other === undefined ? [] : [{ task, people: success, simulator: other.success }];
  });
  const people = taskMeans(both, (one) => one.people);
  const simulator = taskMeans(both, (one) => one.simulator);
  return gapOf(people, simulator, shareFigure);
}

/** By agent, task and grading mode. */
function successes(
  rows: readonly TrajectorySummary[],
): Map<string, { readonly task: string; readonly success: number }> {
  const graded = rows.flatMap(({ agent, taskId: task, grades }) => {
    const mode = grades.fixed === undefined ? 'paper' : 'fixed';
    const success = grades[mode]?.success ?? null;
    return success === null ? [] : [{ key: JSON.stringify([agent, task, mode]), task, success }];
  });
  const byKey = Map.groupBy(graded, ({ key }) => key);
  return new Map(
    [...byKey].map(([key, of]) => [
      key,
      { task: of[0]!.task, success: average(of.map(({ success }) => Number(success))) },
    ]),
  );
}
