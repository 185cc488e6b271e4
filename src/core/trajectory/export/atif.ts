import { version } from '../../../../package.json';
import { developersOf, type Turn } from '../trajectory';
import { argumentsOf, stepsOf, timeOf, type TurnStep } from './steps';
import { agentOrigin, origin, replyOrigin, sampledOrigin, type Rendered } from './rows';

/*
 * A dialogue as a trajectory of the Agent Trajectory Interchange Format (github.com/harbor-framework/harbor,
 * rfcs/0001-trajectory-format.md), by the models of Harbor 0.26.0 (harbor.models.trajectories), which refuse unknown
 * fields. It has no place for a reward, so the grade is in `extra`.
 */

const SCHEMA_VERSION = 'ATIF-v1.8';

interface Step {
  readonly timestamp: string | undefined;
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
    ...opening.map(({ role, content }) => ({ timestamp: timeOf(started), source: role, message: content })),
    ...turns.flatMap((turn) => [...agentSteps(turn, of), ...userStep(turn, of)]),
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

/** Of a session that another program recorded, with its tool calls. */
function agentSteps(turn: Turn, of: Rendered): Step[] {
  const steps = stepsOf(turn);
  if (steps === undefined) return [agentStep(turn, of)];
  return steps.map((step) => {
    const { at: timestamp, text: message, isNote } = step;
    return isNote
      ? { timestamp, source: 'system', message }
      : { timestamp, source: 'agent', model_name: turn.agent.model, message, ...toolsOf(step) };
  });
}

function toolsOf({ thoughts, calls, results }: TurnStep): object {
  const tool_calls = calls.map((call) => ({
    tool_call_id: call.id,
    function_name: call.name,
    arguments: argumentsOf(call),
  }));
  const observed = results.map(({ id, text }) => ({ source_call_id: id, content: text }));
  return {
    reasoning_content: thoughts,
    tool_calls: tool_calls.length > 0 ? tool_calls : undefined,
    observation: observed.length > 0 ? { results: observed } : undefined,
  };
}

function agentStep(turn: Turn, { trajectory, consents }: Rendered): Step {
  const { text, usage } = turn.agent;
  const { model, reasoning, token_ids, logprobs, prompt_token_ids, ...sampled } = sampledOrigin(turn.agent);
  const metrics = {
    prompt_tokens: usage?.promptTokens,
    completion_tokens: usage?.completionTokens,
    prompt_token_ids,
    completion_token_ids: token_ids,
    logprobs,
  };
  return {
    timestamp: timeOf(turn.agent),
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
  const { text } = turn.reply;
  return [
    { timestamp: timeOf(turn.reply), source: 'user', message: text, extra: replyOrigin(turn, consents) },
  ];
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
