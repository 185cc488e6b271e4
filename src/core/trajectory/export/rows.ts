import { taskToRow, type TaskRow } from '../../task/row';
import { isProgram } from '../../task/task';
import type { Consents } from '../consent';
import type { Candidate } from '../event';
import { playerOf, type Trajectory, type Turn } from '../trajectory';
import { verdictsOf } from '../opinions';

export interface ChatMessageLike {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export interface ExportedGrade {
  readonly mode: 'fixed' | 'paper';
  readonly reward: number;
  /** Null for a page that has a score and no success. */
  readonly success: boolean | null;
}

export interface ExportedTrajectory {
  readonly trajectory: Trajectory;
  readonly grade: ExportedGrade | undefined;
  /** The whole conversation as the agent saw it; its own messages are raw. */
  readonly messages?: readonly ChatMessageLike[];
  /** Consents that decide what may be in the row. */
  readonly consents: Consents;
}

export type Rendered = ExportedTrajectory & { readonly messages: readonly ChatMessageLike[] };

/** Version of trajectory rows; the trainer rejects newer rows (`VERSION` in its data/rows.py). */
export const ROW_VERSION = 1;

/** A row of the published form, with Tandem's own fields under `tandem`; docs/data.md lists them. */
export interface TrajectoryRow {
  readonly task: TaskRow;
  readonly dialogue_history: readonly object[];
  readonly answer: string;
  readonly reward: number | null;
  /** The trainer uses it where there are no token ids. */
  readonly messages?: readonly ChatMessageLike[];
  readonly tandem: object;
}

/**
 * `dialogue_history` begins with the agent's first message. In an agent turn, `output` is the generated text, `content`
 * the part that the collaborator saw, and `input` the prompt, which only imported turns have.
 * @param visible returns the text that the collaborator sees of a turn played here
 */
export function trajectoryRow(
  { trajectory, grade, messages, consents }: ExportedTrajectory,
  visible: (turn: Turn) => string,
): TrajectoryRow {
  const { task, turns, answer } = trajectory;
  return {
    task: taskToRow(task),
    dialogue_history: turns.flatMap((turn) => {
      const { agent, reply } = turn;
      const input = agent.imported?.input;
      return [
        {
          role: 'agent',
          content: agent.imported?.content ?? visible(turn),
          ...(input !== undefined && { input }),
          output: agent.text,
        },
        ...(reply ? [{ role: 'human', content: reply.text }] : []),
      ];
    }),
    answer: answer?.answer ?? '',
    reward: grade?.reward ?? null,
    ...(messages && { messages }),
    tandem: {
      version: ROW_VERSION,
      ...origin({ trajectory, grade, consents }),
      turns: turns.map((turn) => turnOrigin(turn, trajectory, consents)),
    },
  };
}

export function turnOrigin(turn: Turn, trajectory: Trajectory, consents: Consents): object {
  return {
    ...sampledOrigin(turn.agent),
    ...agentOrigin(turn, trajectory, consents),
    ...replyOrigin(turn, consents),
  };
}

/** What people did with the agent's message, and said of it. */
export function agentOrigin(turn: Turn, trajectory: Trajectory, consents: Consents): object {
  const { candidates, superseded, ratings = [] } = turn;
  const thumbs = ratings.filter(({ thumb }) => thumb !== undefined);
  const thumb = exportedWord(thumbs, trajectory, consents)?.thumb;
  const verdicts = verdictsOf({ turns: [turn] }).filter(({ by }) => consents.mayLeave(by));
  return {
    // The developer had the message sampled again: it is not a plain sample of the model.
    superseded: superseded?.length,
    candidates: candidates?.length,
    thumb,
    verdicts:
      verdicts.length === 0
        ? undefined
        : verdicts.map(({ critic, advantage, agrees }) => ({ critic, advantage, agrees })),
  };
}

export function replyOrigin({ reply, leak }: Turn, consents: Consents): object {
  const isPerson = reply !== undefined && reply.author !== 'simulator';
  const edits = isPerson && consents.mayLeaveWithEdits(reply.by) ? reply : undefined;
  return {
    reply_author: reply?.author,
    reply_by: reply?.by,
    reply_suggested_by: reply?.suggestedBy,
    // The row has the HTML of both pages, of which whoever has that renderer can draw these pictures again.
    reply_shown: reply?.shown,
    reply_pictures: reply?.pictures,
    reply_pins: reply?.pins,
    reply_suggestion: edits?.suggestion,
    reply_full_text: edits?.fullText,
    reply_milliseconds: edits?.milliseconds,
    leak: leak?.fraction,
    leaked: leak?.leaked,
  };
}

/** The word of the player, or else the last word, of those that may leave this machine. */
function exportedWord<Word extends { readonly by: string }>(
  words: readonly Word[],
  trajectory: Trajectory,
  consents: Consents,
): Word | undefined {
  const leaving = words.filter(({ by }) => consents.mayLeave(by));
  const player = playerOf(trajectory);
  return leaving.find(({ by }) => by === player) ?? leaving.at(-1);
}

export function sampledOrigin(said: Omit<Candidate, 'agent' | 'sampling'>) {
  const { model, finishReason, reasoning, tokens, promptTokenIds, sawHidden, selection } = said;
  return {
    model,
    finish_reason: finishReason,
    saw_hidden: sawHidden,
    // The thoughts are in the token ids, but not in the text.
    reasoning,
    token_ids: tokens?.ids,
    logprobs: tokens?.logprobs,
    prompt_token_ids: promptTokenIds,
    // As a replaced message, not a plain sample of the model.
    selection,
  };
}

/** Fine-tuning row: the conversation as the agent saw it, with its own messages in full. */
export function chatRow({ messages, ...exported }: Rendered): object {
  return { messages, tandem: origin(exported) };
}

/** LLaMA-Factory drops a conversation that does not end with a message of the assistant. */
export function sftRow({ messages, ...exported }: Rendered): object {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  return { messages: messages.slice(0, last + 1), tandem: sourceOf(exported) };
}

/**
 * Every row has the same fields of the same types: Hugging Face `datasets` reads a file in blocks, and refuses one if a
 * field appears in a later block.
 */
export function sourceOf({
  trajectory: { id, task, agent },
}: Pick<ExportedTrajectory, 'trajectory'>): object {
  return { episode: id, task: task.id, agent };
}

/**
 * Preference row of two whole dialogues: `prompt` is their common beginning, up to the agent's first message, or of a fork
 * and its parent up to where they part; `chosen` and `rejected` are the rest of each. Undefined if they begin with
 * different messages, part at a reply, or their rewards measure different things.
 */
export function preferenceRow(chosen: Rendered, rejected: Rendered): object | undefined {
  const isFork = parentOf(chosen) === rejected.trajectory.id || parentOf(rejected) === chosen.trajectory.id;
  const prompt = isFork ? sharedBy(chosen.messages, rejected.messages) : openingOf(chosen.messages);
  if (prompt === undefined) return undefined;
  if (!isFork && JSON.stringify(prompt) !== JSON.stringify(openingOf(rejected.messages))) return undefined;
  if (measureOf(chosen) !== measureOf(rejected)) return undefined;
  return {
    prompt,
    chosen: chosen.messages.slice(prompt.length),
    rejected: rejected.messages.slice(prompt.length),
    tandem: {
      task: chosen.trajectory.task.id,
      chosen: origin(chosen),
      rejected: origin(rejected),
    },
  };
}

/** What the reward of a page measures, and what drew the page; undefined for a function. */
export function measureOf({
  trajectory,
  grade,
}: Pick<ExportedTrajectory, 'trajectory' | 'grade'>): string | undefined {
  if (isProgram(trajectory.task)) return undefined;
  const page = trajectory.grades.findLast((one) => one.grade.mode === grade?.mode)?.grade.page;
  return page === undefined
    ? 'of an unknown measure'
    : `${page.measure} ${page.version}${page.renderer === 'none' ? '' : `, drawn by ${page.renderer}`}`;
}

const parentOf = ({ trajectory }: Rendered): string | undefined => trajectory.started.parent?.id;

/** The messages before the first that differ; undefined unless both are the agent's. */
function sharedBy(
  one: readonly ChatMessageLike[],
  other: readonly ChatMessageLike[],
): readonly ChatMessageLike[] | undefined {
  const end = one.findIndex(
    ({ role, content }, index) => role !== other[index]?.role || content !== other[index].content,
  );
  return one[end]?.role === 'assistant' && other[end]?.role === 'assistant' ? one.slice(0, end) : undefined;
}

function openingOf(messages: readonly ChatMessageLike[]): readonly ChatMessageLike[] {
  const first = messages.findIndex(({ role }) => role === 'assistant');
  return first === -1 ? messages : messages.slice(0, first);
}

export function origin({ trajectory, grade, consents }: Omit<ExportedTrajectory, 'messages'>): object {
  const { id, task, started, turns, ratings = [], outcome } = trajectory;
  const rated = ratings.filter(({ stars }) => stars !== undefined);
  const stars = exportedWord(rated, trajectory, consents)?.stars;
  const leaks = turns.flatMap(({ leak }) => leak ?? []);
  return {
    episode: id,
    task: task.id,
    agent: trajectory.agent,
    collaborator: { ...started.collaborator },
    started_at: started.at,
    seed: started.seed,
    prompts: started.prompts,
    pack: started.pack,
    rollout: started.rollout,
    parent: started.parent && {
      episode: started.parent.id,
      turn: started.parent.turn,
      by: started.parent.by,
    },
    grading_mode: grade?.mode,
    reward: grade?.reward,
    success: grade?.success,
    page: grade && measuredPage(trajectory, grade.mode),
    leaked: leaks.some(({ leaked }) => leaked),
    stars,
    ...(outcome && consents.mayLeave(outcome.by) && outcomeOf(outcome, consents)),
  };
}

/** What the reward of a page measures: rewards of different measures or renderers are not compared. */
function measuredPage({ grades }: Trajectory, mode: ExportedGrade['mode']): object | undefined {
  const page = grades.findLast(({ grade }) => grade.mode === mode)?.grade.page;
  if (page === undefined) return undefined;
  const { measure, version, renderer, drafts } = page;
  return { measure, version, renderer, drafts };
}

/** A developer's changes to the answer count as edits, which only the level `export-with-edits` lets out. */
function outcomeOf(
  { outcome, survived, by }: NonNullable<Trajectory['outcome']>,
  consents: Consents,
): object {
  const isEdit = consents.mayLeaveWithEdits(by);
  return {
    outcome: outcome === 'edited' && !isEdit ? 'accepted' : outcome,
    ...(isEdit && survived !== undefined && { survived }),
  };
}
