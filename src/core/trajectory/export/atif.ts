import { version } from '../../../../package.json';
import { developersOf, type Turn } from '../trajectory';
import { agentOrigin, origin, replyOrigin, sampledOrigin, type Rendered } from './rows';

/*
 * A dialogue as a trajectory of the Agent Trajectory Interchange Format (github.com/harbor-framework/harbor,
 * rfcs/0001-trajectory-format.md), by the models of Harbor 0.26.0 (harbor.models.trajectories), which refuse unknown
 * fields. It has no place for a reward, so the grade is in `extra`.
 */

const SCHEMA_VERSION = 'ATIF-v1.8';

interface Step {
  readonly timestamp: string;
  readonly [field: string]: unknown;
}

export function atifTrajectory(of: Rendered): object {
  const { trajectory, messages, consents } = of;
  const { id, agent, turns, started, answer } = trajectory;
  const opening = messages.slice(
    0,
    messages.findIndex(({ role }) => role === 'assistant'),
  );
  const steps: Step[] = [
    ...opening.map(({ role, content }) => ({ timestamp: started.at, source: role, message: content })),
    ...turns.flatMap((turn) => [agentStep(turn, of), ...userStep(turn, of)]),
  ];
  // From the times of the steps one sees how long a person took, which is exported only as far as edits are.
  const isTimed = [...developersOf(trajectory)].every((by) => consents.mayLeaveWithEdits(by));
  return {
    schema_version: SCHEMA_VERSION,
    session_id: id,
    trajectory_id: id,
    agent: { name: 'tandem', version, model_name: agent },
    steps: steps.map(({ timestamp, ...step }, index) => ({
      step_id: index + 1,
      timestamp: isTimed ? timestamp : undefined,
      ...step,
    })),
    final_metrics: finalMetrics(turns, steps.length),
    extra: { ...origin(of), answer: answer?.answer },
  };
}

function agentStep(turn: Turn, { trajectory, consents }: Rendered): Step {
  const { at, text, usage } = turn.agent;
  const { model, reasoning, token_ids, logprobs, prompt_token_ids, ...sampled } = sampledOrigin(turn.agent);
  const metrics = {
    prompt_tokens: usage?.promptTokens,
    completion_tokens: usage?.completionTokens,
    prompt_token_ids,
    completion_token_ids: token_ids,
    logprobs,
  };
  return {
    timestamp: at,
    source: 'agent',
    model_name: model,
    message: text,
    reasoning_content: reasoning,
    // Parquet, into which `datasets` writes rows, has no object without fields.
    metrics: Object.values(metrics).some((value) => value !== undefined) ? metrics : undefined,
    extra: { ...sampled, ...agentOrigin(turn, trajectory, consents) },
  };
}

function userStep(turn: Turn, { consents }: Rendered): Step[] {
  if (turn.reply === undefined) return [];
  const { at, text } = turn.reply;
  return [{ timestamp: at, source: 'user', message: text, extra: replyOrigin(turn, consents) }];
}

function finalMetrics(turns: readonly Turn[], total_steps: number): object {
  const usages = turns.flatMap(({ agent }) => agent.usage ?? []);
  // The totals are sums over all steps.
  if (usages.length < turns.length) return { total_steps };
  return {
    total_prompt_tokens: usages.reduce((sum, { promptTokens }) => sum + promptTokens, 0),
    total_completion_tokens: usages.reduce((sum, { completionTokens }) => sum + completionTokens, 0),
    total_steps,
  };
}
