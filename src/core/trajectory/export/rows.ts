import { taskToRow, type TaskRow } from '../../task/row';
import type { Consents } from '../consent';
import type { Candidate } from '../event';
import type { Trajectory, Turn } from '../trajectory';
import { verdictsOf } from '../verdicts';

/** One message of a conversation with a model, as chat completion interfaces take it. */
export interface ChatMessageLike {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** A grade in the mode that an export was asked for. */
export interface ExportedGrade {
  readonly mode: 'fixed' | 'paper';
  readonly reward: number;
  readonly success: boolean;
}

/** A trajectory that goes into an export, with all that its row is made of. */
export interface Exported {
  readonly trajectory: Trajectory;
  readonly grade: ExportedGrade | undefined;
  /** The whole conversation as the agent saw it, its own messages raw. */
  readonly messages?: readonly ChatMessageLike[];
  /** What the people in it allow. */
  readonly consents: Consents;
}

export type Rendered = Exported & { readonly messages: readonly ChatMessageLike[] };

/** A row of the published form, with what Tandem knows beyond it under `tandem`. */
export interface TrajectoryRow {
  readonly task: TaskRow;
  readonly dialogue_history: readonly object[];
  readonly answer: string;
  /** Null when it is not graded. */
  readonly reward: number | null;
  /** The whole conversation as the agent saw it, its own messages raw; what is trained on, where there are no ids. */
  readonly messages?: readonly ChatMessageLike[];
  readonly tandem: object;
}

/**
 * `dialogue_history` opens with the agent's first message. Of an agent turn, `output` is what was generated, `content`
 * what the collaborator saw of it, and `input` the prompt, which only imported turns carry.
 *
 * @param visible what the collaborator sees of a turn that was played here
 */
export function trajectoryRow(
  { trajectory, grade, messages, consents }: Exported,
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
      ...origin({ trajectory, grade, consents }),
      turns: turns.map((turn) => turnOrigin(turn, consents)),
    },
  };
}

function turnOrigin(turn: Turn, consents: Consents): object {
  const { agent, candidates, superseded, reply, leak, rating } = turn;
  const verdicts = verdictsOf({ turns: [turn] }).filter(({ by }) => consents.mayLeave(by));
  const withEdits = reply && reply.author !== 'simulator' && consents.mayLeaveWithEdits(reply.by);
  return {
    ...sampledOrigin(agent),
    // The developer chose among samples: the message is not a plain sample of the model.
    ...(superseded && { superseded: superseded.length }),
    ...(candidates && { candidates: candidates.length }),
    ...(reply && { reply_author: reply.author, reply_by: reply.by }),
    ...(reply?.suggestedBy !== undefined && { reply_suggested_by: reply.suggestedBy }),
    ...(withEdits && editsOf(reply)),
    ...(rating?.thumb && { thumb: rating.thumb }),
    ...(verdicts.length > 0 && {
      verdicts: verdicts.map(({ critic, advantage, agrees }) => ({ critic, advantage, agrees })),
    }),
    ...(leak && { leak: leak.fraction, leaked: leak.leaked }),
  };
}

/** What the sampler said of a message. */
export function sampledOrigin(said: Omit<Candidate, 'agent' | 'sampling'>): object {
  const { model, finishReason, reasoning, tokens, promptTokenIds } = said;
  return {
    model,
    finish_reason: finishReason,
    // Among the token ids, but not in the text.
    ...(reasoning !== undefined && { reasoning }),
    ...(tokens?.ids && { token_ids: tokens.ids }),
    ...(tokens?.logprobs && { logprobs: tokens.logprobs }),
    ...(promptTokenIds && { prompt_token_ids: promptTokenIds }),
  };
}

/** How a person's reply came about. */
function editsOf({ suggestion, fullText, milliseconds }: NonNullable<Turn['reply']>): object {
  return {
    ...(suggestion !== undefined && { reply_suggestion: suggestion }),
    ...(fullText !== undefined && { reply_full_text: fullText }),
    ...(milliseconds !== undefined && { reply_milliseconds: milliseconds }),
  };
}

/** A fine-tuning row: the conversation as the agent saw it, its own messages whole. */
export function chatRow({ messages, ...exported }: Rendered): object {
  return { messages, tandem: origin(exported) };
}

/**
 * A preference row of two whole dialogues: `prompt` is what both begin with, up to the agent's first message; `chosen`
 * and `rejected` are the rest of each. Undefined when they do not begin with the same messages.
 */
export function preferenceRow(chosen: Rendered, rejected: Rendered): object | undefined {
  const prompt = openingOf(chosen.messages);
  if (JSON.stringify(prompt) !== JSON.stringify(openingOf(rejected.messages))) return undefined;
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

function openingOf(messages: readonly ChatMessageLike[]): readonly ChatMessageLike[] {
  const first = messages.findIndex(({ role }) => role === 'assistant');
  return first === -1 ? messages : messages.slice(0, first);
}

/** Where a trajectory comes from and how it went. */
export function origin({ trajectory, grade, consents }: Omit<Exported, 'messages'>): object {
  const { id, task, started, turns, rating, outcome } = trajectory;
  const leaks = turns.flatMap(({ leak }) => leak ?? []);
  return {
    episode: id,
    task: task.id,
    agent: trajectory.agent,
    collaborator: { ...started.collaborator },
    started_at: started.at,
    seed: started.seed,
    prompts: started.prompts,
    ...(started.pack !== undefined && { pack: started.pack }),
    ...(started.rollout !== undefined && { rollout: started.rollout }),
    ...(grade && { grading_mode: grade.mode, reward: grade.reward, success: grade.success }),
    leaked: leaks.some(({ leaked }) => leaked),
    ...(rating?.stars !== undefined && consents.mayLeave(rating.by) && { stars: rating.stars }),
    ...(outcome && consents.mayLeave(outcome.by) && outcomeOf(outcome, consents)),
  };
}

/** How much a developer changed is an edit, which the widest level alone lets out. */
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
