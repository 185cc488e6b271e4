import { isObject } from '../../json';
import {
  blocksIn,
  jsonText,
  others,
  SessionBuilder,
  textIn,
  textOrUndefined,
  timeIn,
  type Fields,
  type Session,
  type SessionFormat,
  type SessionReading,
} from './session';

/*
 * The Agent Trajectory Interchange Format (harborframework.com/docs/trajectory-format), v1.0 to v1.8, one trajectory in a
 * file or in each line, as Harbor, the chat of VS Code and `tandem export` write it.
 */

export const ATIF: SessionFormat = {
  is: 'trajectories in the Agent Trajectory Interchange Format (ATIF), as Harbor, the chat of VS Code and tandem export write them',
  recognises: ({ schema_version: version, steps, agent }) =>
    Array.isArray(steps) && (isObject(agent) || (typeof version === 'string' && version.startsWith('ATIF'))),
  isWhole: true,
  read: (): SessionReading => ({ add: sessionOf, end: () => undefined }),
};

const TRAJECTORY = ['schema_version', 'session_id', 'agent', 'steps'];
const STEP = [
  ...['step_id', 'timestamp', 'source', 'message', 'model_name', 'reasoning_content'],
  ...['tool_calls', 'observation'],
];

function sessionOf(trajectory: Fields): Session | string {
  const { session_id: id, trajectory_id: trajectoryId, steps, extra } = trajectory;
  const agent = isObject(trajectory.agent) ? trajectory.agent : {};
  if (!Array.isArray(steps))
    return 'The trajectory has no list of steps; export it again from the program that wrote it.';
  const session = new SessionBuilder();
  for (const step of steps) {
    if (isObject(step)) addStep(session, step);
    else session.leaveOut();
  }
  return session.build({
    harness: textOrUndefined(agent.name) ?? 'atif',
    id: textOrUndefined(id) ?? textOrUndefined(trajectoryId),
    model: textOrUndefined(agent.model_name),
    answer: isObject(extra) ? textOrUndefined(extra.answer) : undefined,
    extra: others(trajectory, TRAJECTORY),
  });
}

function addStep(session: SessionBuilder, step: Fields): void {
  const { source, message, reasoning_content: thoughts, tool_calls: calls, observation } = step;
  const at = timeIn(step.timestamp);
  const extra = others(step, STEP);
  const text = textIn(message);
  if (source === 'user') session.user(text, { at, extra });
  else if (source === 'system') session.system(text, { at, extra });
  else {
    if (typeof thoughts === 'string' && thoughts !== '')
      session.part({ kind: 'thoughts', text: thoughts, at });
    session.agent(text, { at, extra, model: textOrUndefined(step.model_name) });
  }
  for (const call of blocksIn(calls)) {
    const { tool_call_id: id, function_name: name, arguments: given } = call;
    session.part({
      kind: 'call',
      text: jsonText(given),
      ...{ id: textOrUndefined(id), name: textOrUndefined(name), at },
      extra: others(call, ['tool_call_id', 'function_name', 'arguments']),
    });
  }
  for (const result of blocksIn(isObject(observation) ? observation.results : undefined)) {
    const id = textOrUndefined(result.source_call_id);
    const more = others(result, ['source_call_id', 'content']);
    session.part({ kind: 'result', text: textIn(result.content), id, at, extra: more });
  }
}
