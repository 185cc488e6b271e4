import { createHash } from 'node:crypto';
import { taskToRow } from '../../task/row';
import type { Turn } from '../trajectory';
import { origin, turnOrigin, type ExportedTrajectory, type Rendered } from './rows';

/*
 * A dialogue as a sample of Inspect AI (inspect.aisi.org.uk, EvalLog of its version 2), so that its viewer and its
 * data frames read Tandem's dialogues.
 */

interface InspectUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly total_tokens: number;
}

export type InspectSample = ReturnType<typeof inspectSample>;

/** @param epoch 1 for the first dialogue of the task in the log, 2 for the second, and so on */
export function inspectSample(of: Rendered, epoch: number) {
  const { trajectory, messages } = of;
  const { task, turns, started } = trajectory;
  const opening = messages.findIndex(({ role }) => role === 'assistant');
  const input = messages.slice(0, opening).map((message) => ({ ...message, source: 'input' }));
  const spoken = turns.flatMap((turn) => [agentMessage(turn), ...replyMessage(turn)]);
  return {
    ...{ id: task.id, epoch, uuid: trajectory.id },
    input,
    // The agent never saw it.
    target: task.reference,
    messages: [...input, ...spoken],
    output: outputOf(turns.at(-1)!),
    scores: scoresOf(of),
    metadata: {
      ...origin(of),
      agent: trajectory.agent,
      task_row: taskToRow(task),
      turns: turns.map((turn) => turnOrigin(turn, trajectory, of.consents)),
    },
    model_usage: usageOf(turns),
    started_at: started.at,
    completed_at: (trajectory.answer ?? turns.at(-1)!.agent).at,
  };
}

const agentMessage = ({ agent: { text, model } }: Turn): object => ({
  ...{ role: 'assistant', content: text, source: 'generate', model },
});

function replyMessage({ reply }: Turn): object[] {
  if (reply === undefined) return [];
  return [{ role: 'user', content: reply.text, metadata: { author: reply.author, by: reply.by } }];
}

const STOP_REASONS = { stop: 'stop', length: 'max_tokens', other: 'unknown' };

function outputOf(turn: Turn): object {
  const { model, text, finishReason, timing } = turn.agent;
  return {
    model,
    choices: [{ message: agentMessage(turn), stop_reason: STOP_REASONS[finishReason] }],
    completion: text,
    ...(timing && { time: timing.totalMs / 1000 }),
  };
}

/** The score is the reward of the export's grading mode; a dialogue without a grade has no score. */
function scoresOf({ trajectory, grade }: ExportedTrajectory) {
  if (grade === undefined) return undefined;
  const { mode, reward, success } = grade;
  const metadata = { grading_mode: mode, success };
  return { reward: { value: reward, answer: trajectory.answer?.answer ?? '', metadata } };
}

function usageOf(turns: readonly Turn[]): Readonly<Record<string, InspectUsage>> {
  const sums = new Map<string, InspectUsage>();
  const reported = turns.flatMap(({ agent, reply }) => [
    { name: agent.model.toWellFormed(), usage: agent.usage },
    ...(reply ? [{ name: reply.by.toWellFormed(), usage: reply.usage }] : []),
  ]);
  for (const { name, usage } of reported) {
    if (usage === undefined) continue;
    const { input_tokens: read, output_tokens: written } = sums.get(name) ?? {
      input_tokens: 0,
      output_tokens: 0,
    };
    const input_tokens = read + usage.promptTokens;
    const output_tokens = written + usage.completionTokens;
    sums.set(name, { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens });
  }
  return Object.fromEntries(sums);
}

/** Bytes before the samples: the header is written last, when the counts are known, and filled up with spaces. */
export const HEADER_LENGTH = 8192;
const MAX_NAME_CHARS = 500;

export class InspectHeader {
  private readonly agents = new Set<string>();
  private readonly rewards: number[] = [];
  private readonly hash = createHash('sha256');
  private samples = 0;
  private first = '';
  private last = '';

  add({ id, epoch, uuid, metadata, scores, started_at, completed_at }: InspectSample): void {
    this.samples += 1;
    this.agents.add(metadata.agent);
    if (scores) this.rewards.push(scores.reward.value);
    this.hash.update(JSON.stringify([id, epoch, uuid]));
    if (this.first === '' || started_at < this.first) this.first = started_at;
    if (completed_at > this.last) this.last = completed_at;
  }

  text(): string {
    const { samples, rewards } = this;
    const model = [...this.agents].join(', ').slice(0, MAX_NAME_CHARS).toWellFormed();
    const digest = this.hash.digest('hex').slice(0, 22);
    const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
    const score = { name: 'reward', scorer: 'reward', scored_samples: rewards.length };
    const metrics = { mean: { name: 'mean', value: mean } };
    const scores = rewards.length === 0 ? [] : [{ ...score, metrics }];
    const header = JSON.stringify({
      version: 2,
      status: 'success',
      eval: {
        ...{
          eval_id: digest,
          run_id: digest,
          created: this.last || new Date().toISOString(),
          task: 'tandem',
          task_id: digest,
        },
        ...{ dataset: { name: 'tandem', samples }, model, config: {}, scorers: [{ name: 'reward' }] },
      },
      plan: { name: 'tandem', steps: [] },
      results: { total_samples: samples, completed_samples: samples, scores },
      stats: { started_at: this.first, completed_at: this.last },
    });
    const begun = `${header.slice(0, -1)},`;
    const samplesKey = '"samples":[';
    const left = HEADER_LENGTH - Buffer.byteLength(begun) - samplesKey.length;
    return `${begun}${' '.repeat(left)}${samplesKey}`;
  }
}
