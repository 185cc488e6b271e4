import * as vscode from 'vscode';
import type { ChatMessage, SamplingSettings } from '../../core/model/model';
import { isWithin, type NumberRange } from '../../core/numberRange';
import { eachSamplingNumber, fromField, requestRange } from '../../core/samplingSettings';
import type { ModelStatus } from '../loadedModels';
import type { LocalPlace } from '../localModels';
import { specOf, type Server, type ServerState } from '../server';

const { t } = vscode.l10n;

/** Assumed context length of a server, in tokens: the real one is unknown until the server refuses. Few take less. */
const SERVER_TOKENS = 32_000;

/** Approximate characters per token of English or code, for models whose tokenizer is not on this machine. */
const CHARACTERS_PER_TOKEN = 4;

/** A model as the editor's picker shows it. `id` is its name in Tandem's settings and log. */
export interface OfferedModel {
  readonly id: string;
  readonly name: string;
  readonly family: string;
  readonly version: string;
  readonly detail: string;
  readonly tooltip: string;
  readonly maxInputTokens: number;
  readonly maxOutputTokens: number;
  /** Capabilities are always empty, because the models write text only, without tools or pictures. */
  readonly capabilities: Readonly<Record<string, never>>;
}

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
  { spec, name, from }: LocalPlace,
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
    tooltip:
      from === 'tandem'
        ? t('Ships with Tandem: no server, no key; knows only the tasks of the starter world')
        : t('Plays on this machine: one that you trained, or any ONNX model'),
    maxInputTokens: files.contextLength - maxOutputTokens,
    maxOutputTokens,
    capabilities: {},
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
    capabilities: {},
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

export function estimatedTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}
