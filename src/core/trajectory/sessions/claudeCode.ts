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
  type SessionPart,
} from './session';

/*
 * Sessions of Claude Code (~/.claude/projects/…/*.jsonl). Their form is not published and changes; this reads lines that
 * hold a message of the Messages API, and passes over the others.
 */

export const CLAUDE_CODE: SessionFormat = {
  is: 'sessions of Claude Code (~/.claude/projects)',
  recognises: (line) => isMessage(line) || (line.type === 'summary' && 'leafUuid' in line),
  read: () => new ClaudeCodeReading(),
};

const isMessage = (line: Fields): boolean =>
  (line.type === 'user' || line.type === 'assistant') &&
  isObject(line.message) &&
  ('uuid' in line || 'sessionId' in line);

const LINE = ['type', 'message', 'uuid', 'parentUuid', 'logicalParentUuid', 'sessionId', 'timestamp'];
/** The same in every line of a session. */
const SURROUNDINGS = ['cwd', 'version', 'gitBranch', 'userType', 'isSidechain', 'entrypoint', 'requestId'];

class ClaudeCodeReading implements SessionReading {
  private readonly lines: Fields[] = [];
  private title: string | undefined;
  private readonly sidechain: Fields[] = [];

  add(line: Fields): undefined {
    if (line.type === 'custom-title' || line.type === 'ai-title')
      this.title = textOrUndefined(line.customTitle) ?? textOrUndefined(line.title) ?? this.title;
    else if (line.type === 'summary') this.title ??= textOrUndefined(line.summary);
    // Lines of a subagent are a dialogue of their own, of which the session's agent sees the result only.
    else if (isMessage(line) || typeof line.uuid === 'string')
      (line.isSidechain === true ? this.sidechain : this.lines).push(line);
  }

  end(): Session | string | undefined {
    // A subagent has a file of its own in later versions.
    const isSubagent = !this.lines.some(isMessage);
    const lines = isSubagent ? this.sidechain : this.lines;
    const live = liveOf(lines);
    const session = new SessionBuilder();
    const said = lines.filter((line) => isMessage(line) || wordsBeside(line) !== undefined);
    if (!isSubagent) session.leaveOut(this.sidechain.filter(isMessage).length);
    session.leaveOut(said.filter((line) => !live.has(line)).length);
    for (const line of said) if (live.has(line)) addLine(session, line);
    const first = said.find((line) => textOrUndefined(line.sessionId) !== undefined);
    return session.build({
      harness: 'claude-code',
      id: textOrUndefined(first?.sessionId),
      title: this.title,
      extra: first && others(first, ['isSidechain', 'requestId', 'isMeta', ...LINE]),
    });
  }
}

/** Results of parallel calls, and further blocks of one message, are beside the way along the parents. */
function liveOf(lines: readonly Fields[]): ReadonlySet<Fields> {
  const live = alongParents(
    lines,
    ({ uuid }) => uuid,
    ({ parentUuid, logicalParentUuid }) => parentUuid ?? logicalParentUuid,
  );
  const messages = new Set([...live].flatMap((line) => messageId(line) ?? []));
  for (const line of lines) if (messages.has(messageId(line) ?? '')) live.add(line);
  const calls = new Set(
    [...live].flatMap((line) => blocksOf(line).flatMap(({ type, id }) => (type === 'tool_use' ? [id] : []))),
  );
  for (const line of lines)
    if (blocksOf(line).some(({ type, tool_use_id: id }) => type === 'tool_result' && calls.has(id)))
      live.add(line);
  return live;
}

/** What the user wrote while the agent worked, or the program told; neither is a message. */
function wordsBeside({ type, attachment, content, subtype }: Fields): string | undefined {
  if (type === 'system' && subtype !== 'turn_duration') return textOrUndefined(content);
  if (type !== 'attachment' || !isObject(attachment) || attachment.type !== 'queued_command')
    return undefined;
  return textOrUndefined(textIn(attachment.prompt));
}

/** Written by the program in the user's name. */
const SCAFFOLDING =
  /^\s*(?:<(?:local-command-(?:stdout|stderr|caveat)|bash-(?:stdout|stderr)|task-notification|system-reminder)>|\[Request interrupted by user)/;

const messageOf = ({ message }: Fields): Fields => (isObject(message) ? message : {});
const messageId = (line: Fields): string | undefined =>
  line.type === 'assistant' ? textOrUndefined(messageOf(line).id) : undefined;
const blocksOf = (line: Fields): readonly Fields[] => blocksIn(messageOf(line).content);

const MESSAGE = ['role', 'content', 'model', 'type', 'id', 'container', 'stop_sequence'];

function addLine(session: SessionBuilder, line: Fields): void {
  const at = timeIn(line.timestamp);
  const beside = wordsBeside(line);
  if (beside !== undefined) {
    const queued = isObject(line.attachment) ? line.attachment : undefined;
    const isOfUser =
      queued !== undefined && queued.commandMode !== 'task-notification' && queued.isMeta !== true;
    if (isOfUser && !SCAFFOLDING.test(beside)) session.user(beside, { at });
    else session.system(beside, { at });
    return;
  }
  const isAgent = line.type === 'assistant';
  const ofLine = others(line, [...LINE, ...SURROUNDINGS, ...(isAgent ? [] : ['toolUseResult'])]);
  const ofMessage = others(messageOf(line), MESSAGE);
  // Of the first part of the line.
  let extra = ofLine === undefined && ofMessage === undefined ? undefined : { ...ofLine, ...ofMessage };
  const add = (part: SessionPart): void => {
    session.part({ ...part, at, extra: part.extra ?? extra });
    extra = undefined;
  };
  if (isAgent) session.agent('', { at, model: textOrUndefined(messageOf(line).model) });
  const words: Fields[] = [];
  for (const block of blocksOf(line)) {
    if (block.type === 'tool_result') {
      const id = textOrUndefined(block.tool_use_id);
      const more = others(block, ['type', 'tool_use_id', 'content']);
      add({ kind: 'result', text: textIn(block.content), id, extra: more });
    } else if (block.type === 'tool_use' || block.type === 'server_tool_use') {
      const names = { id: textOrUndefined(block.id), name: textOrUndefined(block.name) };
      add({ kind: 'call', text: jsonText(block.input), ...names });
    } else if (block.type === 'thinking') {
      const text = textOrUndefined(block.thinking);
      if (text !== undefined) add({ kind: 'thoughts', text });
    } else if (isAgent) add({ kind: 'text', text: textIn([block]) });
    else words.push(block);
  }
  if (words.length === 0) return;
  const text = textIn(words);
  if (line.isMeta === true || line.isCompactSummary === true || SCAFFOLDING.test(text))
    session.system(text, { at });
  else session.user(text, { at, extra });
}
