import * as vscode from 'vscode';
import type { LocalFolder } from '../../core/model/local/folder';
import { grouped } from '../../core/text';
import type { ModelUse } from '../../core/trajectory/modelUsage';
import type { LocalState } from '../loadedModels';
import type { LocalPlace } from '../localModels';
import type { ModelRow, ServedRow } from './nodes';
import type { Role } from '../roles';
import type { Server, ServerState } from '../server';
import { useWords } from './modelUsage';

const { t } = vscode.l10n;

export function roleWord(role: Role): string {
  switch (role) {
    case 'agent':
      return t('agent');
    case 'secondAgent':
      return t('second agent');
    case 'simulator':
      return t('simulator');
  }
}

/**
 * Most important first, because a narrow view cuts the end: `agent · 812 tokens/s · 7.2 MB · int8 · cpu`.
 * The icon and the speed show that it is ready.
 */
export function modelWords({ roles, state, files, tokensPerSecond }: ModelRow): string {
  const isReady = state.kind === 'ready';
  const fast = isReady && tokensPerSecond !== undefined;
  return [
    ...roles.map((role) => roleWord(role)),
    fast ? t('{0} tokens/s', speed(tokensPerSecond)) : stateWords(state),
    ...(files === undefined || state.kind === 'failed' ? [] : [megabytes(files.bytes), files.precision]),
    ...(isReady ? [state.provider] : []),
  ].join(' · ');
}

/** Whole words, and the state that only the icon shows. */
export function spokenModel(name: string, row: ModelRow): string {
  const { roles, state, files, tokensPerSecond } = row;
  const isReady = state.kind === 'ready';
  return [
    name,
    ...roles.map((role) => roleWord(role)),
    stateWords(state),
    ...(state.kind === 'failed' ? [state.reason] : []),
    ...(isReady && tokensPerSecond !== undefined ? [t('{0} tokens per second', speed(tokensPerSecond))] : []),
    ...(files === undefined || state.kind === 'failed'
      ? []
      : [t('{0} megabytes', millions(files.bytes)), files.precision]),
    ...(isReady ? [state.provider] : []),
  ].join(', ');
}

export function modelDetails({ folder }: LocalPlace, { state, files, tokensPerSecond }: ModelRow): string[] {
  return [
    ...(state.kind === 'failed' ? [state.reason] : []),
    ...(files === undefined
      ? []
      : [built(files), t('At most {0} tokens in a dialogue', grouped(files.contextLength))]),
    ...(tokensPerSecond === undefined ? [] : [t('{0} tokens/s when it last wrote', speed(tokensPerSecond))]),
    ...(state.kind === 'ready' ? [runsOn(state), ...state.notes] : []),
    folder,
  ];
}

function runsOn({ provider, processId }: Extract<LocalState, { kind: 'ready' }>): string {
  return processId === undefined
    ? t('Runs on {0}', provider)
    : t('Runs on {0}, in process {1}', provider, processId);
}

function built({ architecture, parameters, precision, bytes }: LocalFolder): string {
  const size =
    parameters < 1e9
      ? t('{0} million', (parameters / 1e6).toPrecision(2))
      : t('{0} billion', (parameters / 1e9).toPrecision(2));
  return t('{0}, {1} parameters, {2}, {3}', architecture, size, precision, megabytes(bytes));
}

const megabytes = (bytes: number): string => t('{0} MB', millions(bytes));

function millions(bytes: number): string {
  const size = bytes / 1e6;
  return size < 10 ? size.toFixed(1) : grouped(size);
}

function speed(tokensPerSecond: number): string {
  return tokensPerSecond < 10 ? tokensPerSecond.toFixed(1) : grouped(tokensPerSecond);
}

function stateWords(state: LocalState): string {
  switch (state.kind) {
    case 'not-loaded':
      return t('not loaded');
    case 'loading':
      return t('loading…');
    case 'ready':
      return t('ready');
    case 'failed':
      return t('failed');
  }
}

/** For example `agent · works · qwen3 at 127.0.0.1:8000 · 12 turns`. */
export function servedWords(server: Server, { roles, state }: ServedRow, use: ModelUse | undefined): string {
  const { name, model, baseUrl } = server;
  const host = URL.parse(baseUrl)?.host ?? baseUrl;
  return [
    ...roles.map((role) => roleWord(role)),
    serverStateWords(state),
    name === model ? host : t('{0} at {1}', model, host),
    ...(use === undefined ? [] : [useWords(use, server)]),
  ].join(' · ');
}

export function servedDetails(server: Server, { state }: ServedRow, use: ModelUse | undefined): string[] {
  const { model, baseUrl, price } = server;
  return [
    ...(state.kind === 'fails' ? [state.why] : []),
    t('{0} at {1}', model, baseUrl),
    ...(state.kind === 'works' ? state.notes : []),
    ...(use === undefined ? [t('Not used in this log yet')] : [t('{0} in this log', useWords(use, server))]),
    ...(price === undefined
      ? []
      : [
          t(
            '${0} per million prompt tokens, ${1} per million completion tokens',
            price.prompt,
            price.completion,
          ),
        ]),
  ];
}

/** In words, because a screen reader does not read the icon. The tooltip has the reason, which a row would cut. */
function serverStateWords(state: ServerState): string {
  switch (state.kind) {
    case 'untested':
      return t('untested');
    case 'testing':
      return t('testing…');
    case 'works':
      return t('works');
    case 'fails':
      return t('fails');
  }
}
