import * as vscode from 'vscode';
import { Fault, messageOf } from '../../core/fault';
import type { ChatFiles } from '../../core/model/local/chat';
import type { ChatMessage, SamplingSettings } from '../../core/model/model';
import { isShipped } from '../../core/model/shippedModels';
import { afterActivation } from '../background';
import { VENDOR } from '../contributions';
import type { Engine } from '../engine';
import { STARTER, type LocalPlace } from '../localModels';
import { isWithin, type NumberRange } from '../../core/numberRange';
import { eachSamplingNumber, fromField, requestRange } from '../../core/samplingSettings';
import type { ModelStatus } from '../loadedModels';
import { specOf, type Server, type ServerState } from '../servers';
import { shippedWords } from '../words';

const { t } = vscode.l10n;

/** The models in the editor's own picker. Only their descriptions are read until one of them is asked. */
export class ModelProvider implements vscode.LanguageModelChatProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly counters = new Map<string, ChatFiles>();
  /** The list that the editor got last; undefined before it has asked. */
  private given: readonly OfferedModel[] | undefined;
  private registration: vscode.Disposable | undefined;
  private updating: Promise<void> = Promise.resolve();
  private readonly disposables: { dispose(): unknown }[];

  readonly onDidChangeLanguageModelChatInformation = this.changed.event;

  constructor(private readonly engine: Engine) {
    this.disposables = [
      this.changed,
      engine.onDidChangeModels(() => this.updateSoon()),
      engine.configuration.onDidChange(() => this.updateSoon()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.updateSoon()),
      afterActivation(() => this.updateSoon()),
    ];
    // The provider is registered first; whether there are models is known only after the activation.
    this.register(vscode.workspace.isTrusted);
  }

  async provideLanguageModelChatInformation(): Promise<OfferedModel[]> {
    const models = await this.models();
    this.given = models;
    return models;
  }

  async provideLanguageModelChatResponse(
    model: OfferedModel,
    messages: readonly vscode.LanguageModelChatRequestMessage[],
    options: vscode.ProvideLanguageModelChatResponseOptions,
    progress: vscode.Progress<vscode.LanguageModelResponsePart>,
    token: vscode.CancellationToken,
  ): Promise<void> {
    const { engine } = this;
    const say = (text: string): void => progress.report(new vscode.LanguageModelTextPart(text));
    const controller = new AbortController();
    const cancellation = token.onCancellationRequested(() => controller.abort());
    try {
      if (options.toolMode === vscode.LanguageModelChatToolMode.Required)
        throw new Fault('model/no-tools', t('{0} cannot call tools; choose another model.', model.name));
      const asked = await engine.modelNamed(model.id);
      await asked.generate(
        alternating(messages.map((message) => messageOfCore(message, model))),
        samplingFor(engine.samplingOf(model.id), options.modelOptions),
        {
          signal: controller.signal,
          onText: say,
          // Text that was shown cannot be taken back here.
          onRestart: () => say(`\n\n${t('(The answer starts over.)')}\n\n`),
        },
      );
    } catch (error) {
      if (controller.signal.aborted) return;
      if (model.id === STARTER && isTooMuch(error)) say(starterRefusal);
      else throw refusalOf(error, model);
    } finally {
      cancellation.dispose();
    }
  }

  async provideTokenCount(
    model: OfferedModel,
    text: string | vscode.LanguageModelChatRequestMessage,
  ): Promise<number> {
    const words = typeof text === 'string' ? text : textOf(text);
    const place = this.engine.localPlaces.find(({ spec }) => spec === model.id);
    if (place === undefined) return Math.ceil(words.length / CHARACTERS_PER_TOKEN);
    // A folder whose weights were replaced may have another tokenizer, too.
    const key = `${place.folder} ${model.version}`;
    let counter = this.counters.get(key);
    if (counter === undefined) {
      const { ChatFiles } = await import('../../core/model/local/chat');
      counter = new ChatFiles(place.folder);
      this.counters.set(key, counter);
    }
    return counter.idsOf(words).length;
  }

  dispose(): void {
    this.register(false);
    vscode.Disposable.from(...this.disposables).dispose();
  }
  private async models(): Promise<OfferedModel[]> {
    if (!vscode.workspace.isTrusted) return [];
    const { engine } = this;
    const locals = await Promise.all(
      engine.localPlaces.map(async (place) => [place, await engine.locals.look(place.folder)] as const),
    );
    const servers = engine.servers.all.map((server) => [server, engine.servers.state(server)] as const);
    return offeredModels({ locals, servers, maxTokens: engine.configuration.sampling.maxTokens });
  }

  private updateSoon(): void {
    this.updating = this.updating
      .then(() => this.update())
      .catch((error: unknown) => this.engine.report(error));
  }

  /** Reports only a changed list: the editor then reports other models, which leads back here. */
  private async update(): Promise<void> {
    const models = await this.models();
    this.register(models.length > 0);
    if (this.given === undefined) {
      // The picker does not ask by itself, and then shows only a sign-in to the editor's own models.
      if (models.length > 0) await vscode.lm.selectChatModels({ vendor: VENDOR });
      return;
    }
    if (JSON.stringify(this.given) === JSON.stringify(models)) return;
    this.given = models;
    this.changed.fire();
  }

  private register(can: boolean): void {
    if (can) this.registration ??= vscode.lm.registerLanguageModelChatProvider(VENDOR, this);
    else {
      this.registration?.dispose();
      this.registration = undefined;
    }
  }
}

/** @throws {Fault} `model/no-pictures` */
function messageOfCore(message: vscode.LanguageModelChatRequestMessage, { name }: OfferedModel): ChatMessage {
  const isPicture = (part: unknown): boolean =>
    part instanceof vscode.LanguageModelDataPart && part.mimeType.startsWith('image/');
  if (message.content.some(isPicture)) {
    throw new Fault(
      'model/no-pictures',
      t('{0} reads text only; leave the picture out, or choose another model.', name),
    );
  }
  const isAssistant = message.role === vscode.LanguageModelChatMessageRole.Assistant;
  return { role: isAssistant ? 'assistant' : 'user', content: textOf(message) };
}

function textOf({ content }: vscode.LanguageModelChatRequestMessage): string {
  return content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : '')).join('');
}

/** Too much for a model that knows short tasks only. */
const isTooMuch = (error: unknown): boolean =>
  error instanceof Fault && ['model/bad-request', 'model/too-long'].includes(error.code);

/** As the starter model itself refuses what is outside its world. */
const starterRefusal = t(
  'I am only the starter model: I know the small pricing functions of the starter world and nothing else, so please choose another model for this.',
);
function refusalOf(error: unknown, { name }: OfferedModel): Error {
  if (error instanceof Fault) return new Error(error.message, { cause: error });
  return new Error(t('{0} could not answer: {1}', name, messageOf(error)), { cause: error });
}

/** Assumed context length of a server, in tokens: the real one is unknown until the server refuses. Few take less. */
const SERVER_TOKENS = 32_000;

/** Approximate characters per token of English or code, for models whose tokenizer is not on this machine. */
const CHARACTERS_PER_TOKEN = 4;

/** A model as the editor's picker shows it. `id` is its name in Tandem's settings and log. */
type OfferedModel = vscode.LanguageModelChatInformation;

/** Empty, because the models write text only, without tools or pictures. */
const capabilities = {};

interface Playable {
  readonly locals: readonly (readonly [LocalPlace, ModelStatus])[];
  readonly servers: readonly (readonly [Server, ServerState])[];
  readonly maxTokens: number;
}

/** Returns the models that can answer now: folders that hold a model, and servers that did not fail when last asked. */
export function offeredModels({ locals, servers, maxTokens }: Playable): OfferedModel[] {
  return [
    ...locals.flatMap(([place, looked]) => localModel(place, looked, maxTokens) ?? []),
    ...servers.flatMap(([server, state]) => (state.kind === 'fails' ? [] : [serverModel(server, maxTokens)])),
  ];
}

function localModel(
  { spec, name }: LocalPlace,
  { files, state }: ModelStatus,
  maxTokens: number,
): OfferedModel | undefined {
  if (files === undefined || state.kind === 'failed') return undefined;
  // Half of a short context is reserved for the request.
  const maxOutputTokens = Math.min(maxTokens, Math.floor(files.contextLength / 2));
  return {
    id: spec,
    name,
    family: files.architecture,
    version: files.fingerprint,
    detail: t('on this machine'),
    tooltip: isShipped(spec)
      ? shippedWords(spec, t)
      : t('Plays on this machine: one that you trained, or any ONNX model'),
    maxInputTokens: files.contextLength - maxOutputTokens,
    maxOutputTokens,
    capabilities,
  };
}

function serverModel(server: Server, maxTokens: number): OfferedModel {
  return {
    id: specOf(server),
    name: server.name,
    family: server.model,
    version: '1',
    detail: server.model,
    tooltip: t('{0} at {1}', server.model, server.baseUrl),
    maxInputTokens: SERVER_TOKENS,
    maxOutputTokens: server.sampling?.maxTokens ?? maxTokens,
    capabilities,
  };
}

export function sameModels(one: readonly OfferedModel[], other: readonly OfferedModel[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** As chat templates expect it: the roles alternate, the user first. The editor sends instructions as the user's. */
export function alternating(messages: readonly ChatMessage[]): ChatMessage[] {
  const result: ChatMessage[] = [];
  for (const { role, content } of messages) {
    if (content.trim() === '' || (result.length === 0 && role === 'assistant')) continue;
    const last = result.at(-1);
    if (last?.role === role) result[result.length - 1] = { role, content: `${last.content}\n\n${content}` };
    else result.push({ role, content });
  }
  return result;
}

/** Options of the asking extension override the settings; they have the names of OpenAI's API. */
export function samplingFor(
  settings: SamplingSettings,
  asked: Readonly<Record<string, unknown>> | undefined,
): SamplingSettings {
  const number = (field: string, range: NumberRange): number | undefined => {
    const value = asked?.[field];
    if (typeof value !== 'number') return undefined;
    const rounded = range.type === 'integer' ? Math.floor(value) : value;
    return isWithin(rounded, range) ? rounded : undefined;
  };
  const numbers = eachSamplingNumber((name, setting) => {
    const value = number(setting.field, requestRange(setting));
    return value === undefined ? settings[name] : fromField(value, setting);
  });
  const { temperature = settings.temperature, maxTokens = settings.maxTokens } = numbers;
  const seed = number('seed', { type: 'integer', minimum: 0 }) ?? settings.seed;
  return { ...settings, ...numbers, temperature, maxTokens, seed };
}
