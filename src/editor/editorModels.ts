import * as vscode from 'vscode';
import { Fault, messageOf, type FaultCode } from '../core/fault';
import { complaintIn, type Complaint } from '../core/model/chat/errorWords';
import {
  type ChatMessage,
  type GenerateOptions,
  type Generation,
  type Model,
  type SamplingSettings,
  MAX_REPLY_CHARS,
} from '../core/model/model';
import { samplingEntries } from '../core/samplingSettings';
import { EDITOR_MODEL, termsOf } from '../core/trajectory/modelTerms';
import { Owner } from './background';
import { VENDOR } from './contributions';
import { translatedFault, type Translate } from './translate';

const { t } = vscode.l10n;

/** Shown in the editor's consent dialog. */
const JUSTIFICATION = t(
  'Tandem lets it play the agent or the simulator in a dialogue about a programming task, and logs what it writes.',
);

/** Models of the editor's language model API, provided by other extensions. */
export class EditorModels extends Owner {
  private listing: Promise<readonly vscode.LanguageModelChat[]> | undefined;

  constructor(changed: () => void) {
    super();
    this.owns(
      vscode.lm.onDidChangeChatModels(() => {
        this.listing = undefined;
        changed();
      }),
    );
  }

  all(): Promise<readonly vscode.LanguageModelChat[]> {
    const listing = (this.listing ??= ofOthers());
    listing.catch(() => (this.listing = undefined));
    return listing;
  }

  /** Looked up at each request, because it may come and go. */
  model(spec: string): Model {
    return {
      name: spec,
      ...termsOf(spec),
      generate: async (messages, sampling, options = {}) => {
        const begun = performance.now();
        const chat = await this.find(spec);
        return written(chat, messages, sampling, options, begun);
      },
    };
  }

  private async find(spec: string): Promise<vscode.LanguageModelChat> {
    const wanted = spec.slice(EDITOR_MODEL.length);
    const all = await this.all();
    const found =
      all.find((model) => editorSpec(model) === spec) ??
      all.find(({ id }) => id === wanted) ??
      all.find(({ family }) => family === wanted);
    if (found !== undefined) return found;
    const ids = all.map(({ id }) => id);
    throw translatedFault('model/unknown-model', (t) => notOffered(wanted, ids, t), t);
  }
}

function notOffered(wanted: string, ids: readonly string[], t: Translate): string {
  const offered = ids.length === 0 ? t('It offers none now') : t('It offers {0}', ids.join(', '));
  return t(
    'The editor offers no model “{0}”. {1}; sign in to the extension that brings it, or choose another.',
    wanted,
    offered,
  );
}

/** Tandem's own models have their own names; through the editor they would ask themselves. */
async function ofOthers(): Promise<readonly vscode.LanguageModelChat[]> {
  return (await vscode.lm.selectChatModels()).filter(({ vendor }) => vendor !== VENDOR);
}

/** Its name in the settings and the log. */
export function editorSpec({ vendor, id }: Pick<vscode.LanguageModelChat, 'vendor' | 'id'>): string {
  return `${EDITOR_MODEL}${vendor}/${id}`;
}

async function written(
  chat: vscode.LanguageModelChat,
  messages: readonly ChatMessage[],
  sampling: SamplingSettings,
  { signal, onText, enough }: GenerateOptions,
  begun: number,
): Promise<Generation> {
  const cancellation = new vscode.CancellationTokenSource();
  const cancel = (): void => cancellation.cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  let firstTextMs: number | undefined;
  let text = '';
  try {
    throwIfCancelled(signal);
    const options = { justification: JUSTIFICATION, modelOptions: optionsOf(sampling) };
    const response = await chat.sendRequest(messages.map(messageOfEditor), options, cancellation.token);
    for await (const piece of response.text) {
      throwIfCancelled(signal);
      firstTextMs ??= performance.now() - begun;
      text += piece;
      if (text.length > MAX_REPLY_CHARS) {
        cancel();
        throw tooLong(chat);
      }
      onText?.(piece);
      if (enough?.() !== true) continue;
      cancel();
      break;
    }
    throwIfCancelled(signal);
  } catch (error) {
    throwIfCancelled(signal);
    throw error instanceof Fault ? error : faultOf(error, chat);
  } finally {
    signal?.removeEventListener('abort', cancel);
    cancellation.dispose();
  }
  const timing = { totalMs: performance.now() - begun, attempts: 1 };
  // The API reports neither finish reason nor token counts.
  return {
    text,
    finishReason: 'other',
    timing: firstTextMs === undefined ? timing : { ...timing, firstTextMs },
  };
}

const tooLong = ({ name }: vscode.LanguageModelChat): Fault =>
  translatedFault(
    'model/too-long-answer',
    (t) =>
      t(
        '{0} was stopped after {1} characters of one message. Try again, or choose another model.',
        name,
        MAX_REPLY_CHARS.toLocaleString(),
      ),
    t,
  );

/** Each vendor has its own options; these names are the usual ones, and others are ignored. */
function optionsOf(sampling: SamplingSettings): Record<string, number> {
  return Object.fromEntries(
    samplingEntries.flatMap(([name, { field }]) => {
      const value = sampling[name];
      return value === undefined ? [] : [[field, value]];
    }),
  );
}

/** The API has no system messages; they become messages of the user. */
function messageOfEditor({ role, content }: ChatMessage): vscode.LanguageModelChatMessage {
  return role === 'assistant'
    ? vscode.LanguageModelChatMessage.Assistant(content)
    : vscode.LanguageModelChatMessage.User(content);
}

function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new DOMException(t('The request to the model was canceled.'), 'AbortError');
}

function faultOf(error: unknown, { name }: vscode.LanguageModelChat): Fault {
  const [code] = reasonOf(error, name, t);
  return translatedFault(code, (t) => reasonOf(error, name, t)[1], t, error);
}

/** By what the words of an error say; the editor has no codes for these. */
const CODES: Readonly<Partial<Record<Complaint | 'other', FaultCode>>> = {
  'no-credit': 'model/no-credit',
  'too-long': 'model/too-long',
  filtered: 'model/filtered',
  'rate-limit': 'model/rate-limited',
};

function reasonOf(error: unknown, name: string, t: Translate): [code: FaultCode, message: string] {
  switch (error instanceof vscode.LanguageModelError ? error.code : '') {
    case 'NoPermissions':
      return [
        'model/unauthorized',
        t(
          'You have not allowed Tandem to use {0}. Try again and allow it, or allow it under Manage Language Model Access in the Accounts menu.',
          name,
        ),
      ];
    case 'Blocked':
      return [
        'model/rate-limited',
        t('{0} takes no more requests for now: {1} Wait, or choose another model.', name, messageOf(error)),
      ];
    case 'NotFound':
      return [
        'model/unknown-model',
        t('The editor does not offer {0} any more. Choose another model.', name),
      ];
    default:
      return [
        CODES[complaintIn(messageOf(error), undefined) ?? 'other'] ?? 'model/server-error',
        t(
          '{0}, a model of the editor, has failed: {1} Try again, or choose another model.',
          name,
          messageOf(error),
        ),
      ];
  }
}
