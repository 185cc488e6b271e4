import { isObject } from '../../json';
import {
  alongParents,
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
 * The Session Trace Simple Format of the Hugging Face Hub (huggingface.co/docs/hub/session-traces-format): a header line
 * with the harness, then a message in each line; a file may hold several sessions. Instead, a message may have the form of
 * Pi's sessions, with blocks as content and a parent.
 */

export const STS: SessionFormat = {
  is: 'session traces of the Hugging Face Hub (STS, with a harness), and sessions of Pi',
  recognises: ({ type, harness, id }) =>
    type === 'session' && (typeof harness === 'string' || typeof id === 'string'),
  read: () => new StsReading(),
};

interface Entry {
  readonly line: Fields;
  /** Absent from lines of other kinds, which are parents in a tree, too. */
  readonly message?: Fields;
}

/** Of Pi; they hold no words. */
const SETTINGS: readonly unknown[] = ['model_change', 'thinking_level_change'];

class StsReading implements SessionReading {
  private header: Fields | undefined;
  private entries: Entry[] = [];
  private passedOver = 0;

  add(line: Fields): Session | string | undefined {
    if (line.type === 'session') {
      const before = this.end();
      this.header = line;
      return before;
    }
    if (line.type === 'message' && isObject(line.message)) this.entries.push({ line, message: line.message });
    else {
      const { type, summary } = line;
      const isSummary = typeof summary === 'string';
      this.entries.push({ line, ...(isSummary && { message: { role: 'system', content: summary } }) });
      if (!isSummary && !SETTINGS.includes(type)) this.passedOver += 1;
    }
    return undefined;
  }

  end(): Session | string | undefined {
    const { header, entries, passedOver } = this;
    [this.header, this.entries, this.passedOver] = [undefined, [], 0];
    if (header === undefined && entries.length === 0) return undefined;
    const isTree = entries.every(({ line }) => typeof line.id === 'string');
    const live = isTree
      ? alongParents(
          entries,
          ({ line }) => line.id,
          ({ line }) => line.parentId,
        )
      : undefined;
    const session = new SessionBuilder();
    session.leaveOut(passedOver);
    for (const entry of entries) {
      const { line, message } = entry;
      if (message === undefined) continue;
      if (live === undefined || live.has(entry)) addMessage(session, line, message);
      else session.leaveOut();
    }
    return session.build({
      harness: textOrUndefined(header?.harness) ?? 'pi',
      id: textOrUndefined(header?.id),
      title: textOrUndefined(header?.name),
      extra: header && others(header, ['type', 'harness', 'id', 'name']),
    });
  }
}

const MESSAGE = ['role', 'content', 'reasoningContent', 'toolCalls', 'toolCallId', 'timestamp', 'model'];

function addMessage(session: SessionBuilder, line: Fields, message: Fields): void {
  const { role, content, toolCallId, reasoningContent: thoughts, toolCalls } = message;
  const at = timeIn(message.timestamp) ?? timeIn(line.timestamp);
  const extra = others(message, MESSAGE);
  if (role === 'user') session.user(textIn(content), { at, extra });
  else if (role === 'system') session.system(textIn(content), { at, extra });
  else if (role === 'tool' || role === 'toolResult') {
    const id = textOrUndefined(toolCallId);
    session.part({ kind: 'result', text: textIn(content), id, at, extra });
  } else if (role === 'assistant') {
    if (typeof thoughts === 'string' && thoughts !== '')
      session.part({ kind: 'thoughts', text: thoughts, at });
    session.agent('', { at, extra, model: textOrUndefined(message.model) });
    for (const block of blocksIn(content)) addBlock(session, block, at);
    for (const call of blocksIn(toolCalls)) {
      const { name, arguments: given } = isObject(call.function) ? call.function : {};
      const names = { id: textOrUndefined(call.id), name: textOrUndefined(name), at };
      session.part({ kind: 'call', text: jsonText(given), ...names });
    }
  } else if (role === 'bashExecution') {
    // A command that the user ran with `!`.
    const { command, output } = message;
    session.system(`$ ${jsonText(command)}\n${jsonText(output)}`, { at });
  } else session.leaveOut();
}

function addBlock(session: SessionBuilder, block: Fields, at: string | undefined): void {
  if (block.type === 'thinking') session.part({ kind: 'thoughts', text: jsonText(block.thinking), at });
  else if (block.type === 'toolCall') {
    const names = { id: textOrUndefined(block.id), name: textOrUndefined(block.name), at };
    session.part({ kind: 'call', text: jsonText(block.arguments), ...names });
  } else session.agent(textIn([block]), { at });
}
