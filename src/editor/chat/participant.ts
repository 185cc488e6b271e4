import * as vscode from 'vscode';
import { NO_PREFERENCE } from '../../core/dialogue/protocol';
import { Fault, messageOf } from '../../core/fault';
import { requestedName } from '../../core/task/signature';
import { functionsIn, functionAround, functionText } from '../../core/task/python/functions';
import { ANSWER, idOf, PARTICIPANT, VENDOR, documentScheme } from '../contributions';
import type { Engine } from '../engine';
import type { Engines } from '../engines';
import type { Proposal } from '../ownFunctions';
import { refuseInRestrictedMode } from '../workspaceTrust';
import {
  askedOf,
  fencedPython,
  resultSchema,
  threadOf,
  PictureRemover,
  type ChatResult,
  type Context,
  type Thread,
} from './thread';

const { t } = vscode.l10n;

/** `@tandem` in the editor's chat, with a session's protocol and prompts; nothing of it is logged. */
export class Participant implements vscode.Disposable {
  private readonly participant: vscode.ChatParticipant;

  constructor(
    private readonly engines: Engines,
    icon: vscode.Uri,
  ) {
    this.participant = vscode.chat.createChatParticipant(PARTICIPANT, (...request) =>
      this.respond(...request),
    );
    this.participant.iconPath = icon;
    this.participant.followupProvider = { provideFollowups: followupsOf };
  }

  dispose(): void {
    this.participant.dispose();
  }

  private async respond(
    request: vscode.ChatRequest,
    context: vscode.ChatContext,
    stream: vscode.ChatResponseStream,
    token: vscode.CancellationToken,
  ): Promise<vscode.ChatResult> {
    const controller = new AbortController();
    const cancellation = token.onCancellationRequested(() => controller.abort());
    try {
      refuseInRestrictedMode(t('Models do not run'));
      return { metadata: await this.answer(request, keptOf(context), stream, controller.signal) };
    } catch (error) {
      if (controller.signal.aborted) return {};
      this.engines.first.report(error);
      if (error instanceof Fault && error.code.startsWith('model/')) {
        stream.button({ command: idOf('chooseAgent'), title: t('Choose the Agent') });
      }
      const message =
        error instanceof Fault ? error.message : t('Something went wrong in Tandem: {0}', messageOf(error));
      return { errorDetails: { message } };
    } finally {
      cancellation.dispose();
    }
  }

  private async answer(
    request: vscode.ChatRequest,
    kept: readonly ChatResult[],
    stream: vscode.ChatResponseStream,
    signal: AbortSignal,
  ): Promise<ChatResult> {
    const contexts = await contextsOf(request.references);
    // Code that an earlier request contained is not sent again.
    const news = contexts.filter(({ code }) => !kept.some(({ asked }) => asked.includes(code)));
    const isLast = request.command === ANSWER;
    const asked = askedOf(request.prompt, news, isLast);
    if (asked === '') {
      throw new Fault('chat/empty', t('Say what you need, for example: a function that rounds prices.'));
    }
    for (const { uri, range } of news)
      stream.reference(range === undefined ? uri : new vscode.Location(uri, range));
    const [about] = contexts;
    const engine = this.engines.of(about?.uri.fsPath);
    const thread = threadOf(kept, asked);
    const { text, answer } = await speak(engine, request.model, { ...thread, isLast }, stream, signal);
    if (answer === undefined) return { asked, said: text, isAnswer: false };
    const requests = [...kept.map((each) => each.asked), asked];
    const isAnswer = (await this.offer(answer, about, requests, stream)) || answer.isAnnounced;
    if (!isAnswer) {
      stream.markdown(
        `\n\n${t('The agent did not answer: it wrote no function. Reply to it, or choose another agent.')}`,
      );
      stream.button({ command: idOf('chooseAgent'), title: t('Choose the Agent') });
    }
    return { asked, said: text, isAnswer };
  }

  /** @returns false where the answer holds no function */
  private async offer(
    { answer, isShown }: Answer,
    about: LocatedContext | undefined,
    requests: readonly string[],
    stream: vscode.ChatResponseStream,
  ): Promise<boolean> {
    const wanted = requests.map(requestedName).findLast((name) => name !== undefined);
    const { extractCode } = await import('../../core/grading/code');
    const code = extractCode(answer, 'fixed', wanted === undefined ? [] : [`${wanted}()`]);
    const names = functionsIn(code).map(({ name }) => name);
    if (names.length === 0) {
      if (!isShown) stream.markdown(new PictureRemover().push(answer));
      return false;
    }
    if (!isShown) stream.markdown(`\n\n${fencedPython(code)}\n`);
    const name = wanted !== undefined && names.includes(wanted) ? wanted : names.at(-1)!;
    const target = about?.uri ?? pythonFile();
    if (target !== undefined) {
      const near = about?.range?.start.line ?? 0;
      const proposal: Proposal = { file: target.toString(), code, name, near };
      stream.button({ command: idOf('reviewAnswer'), title: t('Show as Change'), arguments: [proposal] });
    }
    stream.button({ command: idOf('testAnswer'), title: t('Run Tests'), arguments: [{ code, name }] });
    return true;
  }
}

interface Answer {
  readonly answer: string;
  /** False when it counts as the answer only because it is the last message. */
  readonly isAnnounced: boolean;
  /** True when the chat has shown all of it already. */
  readonly isShown: boolean;
}

async function speak(
  engine: Engine,
  picked: vscode.LanguageModelChat,
  thread: Thread & { readonly isLast: boolean },
  stream: vscode.ChatResponseStream,
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly answer?: Answer }> {
  // The picker always has a model chosen, also where the person chose none, so the agent of the settings has priority.
  const isPicked = engine.agentName === '' && picked.vendor === VENDOR;
  const spec = isPicked ? picked.id : engine.agentName;
  const agent = isPicked ? await engine.modelNamed(spec) : await engine.openAgent();
  const [{ exchangedMessages }, { parseAgentMessage }, { Unfolding }, { deriveSeed }] = await Promise.all([
    import('../../core/dialogue/conversation'),
    import('../../core/dialogue/protocol'),
    import('../../core/dialogue/agentMessage'),
    import('../../core/seed'),
  ]);
  const { description, exchanges, turn, isLast } = thread;
  const { protocol } = engine;
  const messages = exchangedMessages({ description, protocol }, exchanges, await engine.prompts());
  const unfolding = new Unfolding();
  const harmless = new PictureRemover();
  let shown = '';
  const show = (text: string): void => {
    shown += text;
    if (text !== '') stream.markdown(harmless.push(text));
  };
  stream.progress(t('{0} thinks', engine.calledBy(agent.name)));
  const { text } = await agent.generate(
    messages,
    { ...engine.samplingOf(spec), seed: deriveSeed(description, 'chat', exchanges.length) },
    {
      signal,
      position: { description, turn: exchanges.length + 1, turnsLeft: isLast ? 0 : protocol.maxTurns - turn },
      onText: (piece) => show(unfolding.push(piece)),
      onRestart: () => unfolding.restart(),
    },
  );
  const { rest, answer } = unfolding.end();
  show(rest);
  if (answer !== undefined) return { text, answer: { answer, isAnnounced: true, isShown: false } };
  const { visible } = parseAgentMessage(text);
  if (visible === '') stream.markdown(t('The agent said nothing.'));
  if (turn < protocol.maxTurns && !isLast) return { text };
  // The last message counts as the answer, without its thoughts.
  return { text, answer: { answer: visible, isAnnounced: false, isShown: shown.trim() === visible } };
}
function keptOf({ history }: vscode.ChatContext): ChatResult[] {
  return history.flatMap((turn) => {
    if (!(turn instanceof vscode.ChatResponseTurn) || turn.participant !== PARTICIPANT) return [];
    return resultSchema().safeParse(turn.result.metadata).data ?? [];
  });
}

function followupsOf({ metadata }: vscode.ChatResult): vscode.ChatFollowup[] {
  const kept = resultSchema().safeParse(metadata).data;
  if (kept === undefined || kept.isAnswer) return [];
  return [
    { prompt: NO_PREFERENCE, label: t('No preference') },
    { prompt: '', command: ANSWER, label: t('Answer now') },
  ];
}

/** Returns the active Python file, where the answer can go when the request was about no file. */
function pythonFile(): vscode.Uri | undefined {
  const document = vscode.window.activeTextEditor?.document;
  return document?.languageId === 'python' ? document.uri : undefined;
}

/** Maximum number of characters of a file; more would leave a small model no room for the dialogue. */
const MAX_CHARS = 8_000;

interface LocatedContext extends Context {
  readonly uri: vscode.Uri;
  readonly range?: vscode.Range;
}

/** Prefix of the ids of context that the editor attaches on its own: the active file, or the selection in it. */
const UNASKED = 'vscode.implicit';

/**
 * Returns the attached files and selections, without Tandem's own documents. Of a file that the editor attached on its
 * own, it takes only the selection, or the function around the cursor.
 */
async function contextsOf(references: readonly vscode.ChatPromptReference[]): Promise<LocatedContext[]> {
  const contexts = await Promise.all(
    references.map(({ id, value }) => (id.startsWith(UNASKED) ? unasked(id, value) : located(value))),
  );
  return contexts.filter((context) => context !== undefined);
}

async function unasked(id: string, value: unknown): Promise<LocatedContext | undefined> {
  const uri = value instanceof vscode.Location ? value.uri : value;
  if (uri instanceof vscode.Uri && uri.scheme === documentScheme) return undefined;
  return aroundCursor(value) ?? (id === `${UNASKED}.selection` ? located(value) : undefined);
}

async function located(value: unknown): Promise<LocatedContext | undefined> {
  if (value instanceof vscode.Location) return read(value.uri, value.range);
  return value instanceof vscode.Uri ? read(value) : undefined;
}

async function read(uri: vscode.Uri, range?: vscode.Range): Promise<LocatedContext | undefined> {
  try {
    const document = await vscode.workspace.openTextDocument(uri);
    const code = document.getText(range).slice(0, MAX_CHARS);
    return { uri, file: nameOf(uri), code, ...(range && { range }) };
  } catch {
    // A folder, a picture or a deleted file has no text.
    return undefined;
  }
}
function aroundCursor(value: unknown): LocatedContext | undefined {
  const uri = value instanceof vscode.Location ? value.uri : value;
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined || !(uri instanceof vscode.Uri)) return undefined;
  const { document, selection } = editor;
  const isShown = document.uri.toString() === uri.toString() && document.languageId === 'python';
  if (!isShown || !selection.isEmpty) return undefined;
  const source = document.getText();
  const around = functionAround(source, selection.active.line);
  if (around === undefined) return undefined;
  const range = new vscode.Range(around.firstLine, 0, around.endLine, 0);
  return { uri, file: nameOf(uri), code: functionText(source, around).slice(0, MAX_CHARS), range };
}

const nameOf = (uri: vscode.Uri): string => vscode.workspace.asRelativePath(uri, false);
