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
 * Sessions of Codex (~/.codex/sessions/…/rollout-*.jsonl), by `RolloutItem`, `ResponseItem` and `EventMsg` of
 * github.com/openai/codex (codex-rs/protocol). `response_item` lines are what the model read and wrote; `event_msg` lines
 * are what the screen showed, mostly the same again. Until September 2025 the items stood bare in the lines, after a header
 * and with `{"record_type":"state"}` between them; before that, in one document with `session` and `items`.
 */

const KINDS: readonly unknown[] = ['session_meta', 'turn_context', 'response_item', 'event_msg', 'compacted'];

export const CODEX: SessionFormat = {
  is: 'sessions of Codex (~/.codex/sessions, rollout-*.jsonl)',
  recognises: (line) =>
    (KINDS.includes(line.type) && isObject(line.payload)) ||
    isState(line) ||
    isHeader(line) ||
    isDocument(line),
  read: () => new CodexReading(),
};

const isState = (line: Fields): boolean => line.record_type === 'state';
const isHeader = (line: Fields): boolean =>
  line.type === undefined &&
  ['id', 'timestamp'].every((name) => typeof line[name] === 'string') &&
  'instructions' in line;
const isDocument = ({ session, items }: Fields): boolean => isObject(session) && Array.isArray(items);

class CodexReading implements SessionReading {
  private readonly lines: Fields[] = [];
  private meta: Fields | undefined;
  private passedOver = 0;

  add(line: Fields): undefined {
    const payload = payloadOf(line);
    if (line.type === 'session_meta') this.meta ??= payload;
    else if (KINDS.includes(line.type)) this.lines.push(line);
    else if (isHeader(line)) this.meta ??= line;
    else if (isDocument(line)) {
      this.meta ??= line.session as Fields;
      for (const bare of blocksIn(line.items)) this.lines.push(itemLine(bare));
    } else if (typeof line.type === 'string') this.lines.push(itemLine(line));
    else this.passedOver += isState(line) ? 0 : 1;
  }

  end(): Session | string | undefined {
    const { meta } = this;
    const isSaid = (line: Fields): boolean =>
      line.type === 'response_item' && payloadOf(line).role === 'assistant';
    const kind = this.lines.some(isSaid) ? 'response_item' : 'event_msg';
    const session = new SessionBuilder();
    session.leaveOut(this.passedOver);
    let model: string | undefined;
    for (const line of this.lines) {
      const payload = payloadOf(line);
      const at = timeIn(line.timestamp);
      if (line.type === 'turn_context') model = textOrUndefined(payload.model) ?? model;
      else if (line.type === 'compacted') session.system(jsonText(payload.message), { at });
      else if (line.type === 'response_item')
        addItem(session, payload, { at, model }, kind === 'response_item');
      else if (kind === 'event_msg') addEvent(session, payload, { at, model });
    }
    session.begun(timeIn(meta?.timestamp));
    return session.build({
      harness: 'codex',
      id: textOrUndefined(meta?.id),
      model,
      extra: meta && others(meta, ['id', 'base_instructions', 'instructions', 'dynamic_tools']),
    });
  }
}

const itemLine = (item: Fields): Fields => ({
  type: 'response_item',
  timestamp: item.timestamp,
  payload: item,
});
const payloadOf = ({ payload }: Fields): Fields => (isObject(payload) ? payload : {});

interface Told {
  readonly at: string | undefined;
  readonly model: string | undefined;
}

/** Written by the program in the user's name, around what the user wrote. */
const SCAFFOLDING =
  /^\s*(?:<(environment_context|user_instructions|permissions instructions|turn_aborted|skills?|INSTRUCTIONS)>|# AGENTS\.md instructions)/;

function addItem(session: SessionBuilder, item: Fields, told: Told, withMessages: boolean): void {
  const { at } = told;
  const names = { id: textOrUndefined(item.call_id) ?? textOrUndefined(item.id), at };
  switch (item.type) {
    case 'message': {
      const text = textIn(item.content);
      if (item.role === 'assistant') session.agent(text, told);
      else if (item.role !== 'user' || SCAFFOLDING.test(text)) session.system(text, told);
      else if (withMessages) session.user(text, told);
      return;
    }
    case 'reasoning': {
      const text = [...blocksIn(item.summary), ...blocksIn(item.content)]
        .map((block) => textIn([block]))
        .join('\n');
      if (withMessages && text !== '') session.part({ kind: 'thoughts', text, at });
      return;
    }
    case 'function_call':
    case 'custom_tool_call':
    case 'local_shell_call':
    case 'web_search_call': {
      const given = item.arguments ?? item.input ?? item.action;
      const name = textOrUndefined(item.name) ?? item.type.replace(/_call$/, '');
      session.part({ kind: 'call', text: jsonText(given), name, ...names });
      return;
    }
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const { output } = item;
      const content = isObject(output) ? output.content : output;
      const text = typeof content === 'string' || Array.isArray(content) ? textIn(content) : jsonText(output);
      session.part({ kind: 'result', text, ...names });
      return;
    }
    default:
      session.leaveOut();
  }
}

function addEvent(session: SessionBuilder, event: Fields, told: Told): void {
  if (event.type === 'user_message') session.user(jsonText(event.message), told);
  else if (event.type === 'agent_message') session.agent(jsonText(event.message), told);
  else if (event.type === 'agent_reasoning')
    session.part({ kind: 'thoughts', text: jsonText(event.text), at: told.at });
}
