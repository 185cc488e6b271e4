import type { LocalFolder } from '../../core/model/local/folder';
import type { Translate } from '../translate';
import type { LocalState, ModelStatus } from './loadedModels';
import type { LocalPlace } from './localModels';
import type { Role } from './roles';

export interface ModelRow extends ModelStatus {
  readonly roles: readonly Role[];
}

export function inUse(name: string, role: Role, t: Translate): string {
  switch (role) {
    case 'agent':
      return t('{0} is the agent. Choose another agent, then remove it.', name);
    case 'secondAgent':
      return t(
        '{0} writes the second candidate. Choose another model with Compare Two Candidates…, then remove it.',
        name,
      );
    case 'simulator':
      return t('{0} is the simulator. Choose another simulator, then remove it.', name);
  }
}

export function roleWord(role: Role, t: Translate): string {
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
export function modelWords({ roles, state, files, tokensPerSecond }: ModelRow, t: Translate): string {
  const isReady = state.kind === 'ready';
  const fast = isReady && tokensPerSecond !== undefined;
  return [
    ...roles.map((role) => roleWord(role, t)),
    fast ? t('{0} tokens/s', speed(tokensPerSecond)) : stateWords(state, t),
    ...(files === undefined || state.kind === 'failed' ? [] : [megabytes(files.bytes, t), files.precision]),
    ...(isReady ? [state.provider] : []),
  ].join(' · ');
}

/** Whole words, and the state that only the icon shows. */
export function spokenModel(name: string, row: ModelRow, t: Translate): string {
  const { roles, state, files, tokensPerSecond } = row;
  const isReady = state.kind === 'ready';
  return [
    name,
    ...roles.map((role) => roleWord(role, t)),
    stateWords(state, t),
    ...(isReady && tokensPerSecond !== undefined ? [t('{0} tokens per second', speed(tokensPerSecond))] : []),
    ...(files === undefined || state.kind === 'failed'
      ? []
      : [t('{0} megabytes', millions(files.bytes)), files.precision]),
    ...(isReady ? [state.provider] : []),
  ].join(', ');
}

export function modelDetails(
  { folder }: LocalPlace,
  { state, files, tokensPerSecond }: ModelRow,
  t: Translate,
): string[] {
  return [
    ...(state.kind === 'failed' ? [state.reason] : []),
    ...(files === undefined
      ? []
      : [built(files, t), t('At most {0} tokens in a dialogue', grouped(files.contextLength))]),
    ...(tokensPerSecond === undefined ? [] : [t('{0} tokens/s when it last wrote', speed(tokensPerSecond))]),
    ...(state.kind === 'ready' ? [runsOn(state, t), ...state.notes] : []),
    folder,
  ];
}

function runsOn({ provider, processId }: Extract<LocalState, { kind: 'ready' }>, t: Translate): string {
  return processId === undefined
    ? t('Runs on {0}', provider)
    : t('Runs on {0}, in process {1}', provider, processId);
}

function built({ architecture, parameters, precision, bytes }: LocalFolder, t: Translate): string {
  const size =
    parameters < 1e9
      ? t('{0} million', (parameters / 1e6).toPrecision(2))
      : t('{0} billion', (parameters / 1e9).toPrecision(2));
  return t('{0}, {1} parameters, {2}, {3}', architecture, size, precision, megabytes(bytes, t));
}

const megabytes = (bytes: number, t: Translate): string => t('{0} MB', millions(bytes));

function millions(bytes: number): string {
  const size = bytes / 1e6;
  return size < 10 ? size.toFixed(1) : grouped(size);
}

function speed(tokensPerSecond: number): string {
  return tokensPerSecond < 10 ? tokensPerSecond.toFixed(1) : grouped(tokensPerSecond);
}

const grouped = (number: number): string => Math.round(number).toLocaleString('en');

function stateWords(state: LocalState, t: Translate): string {
  switch (state.kind) {
    case 'not-loaded':
      return t('not loaded');
    case 'loading':
      return t('loading…');
    case 'ready':
      return t('ready');
    case 'failed':
      return t('failed: {0}', state.reason);
  }
}
