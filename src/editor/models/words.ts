import type { LocalFolder } from '../../core/model/local/folder';
import type { LocalState, LookedAt } from './loaded';
import type { LocalPlace } from './places';

/** What a row of the Models view tells. */
export interface ModelRow extends LookedAt {
  readonly roles: readonly ('agent' | 'simulator')[];
}

/**
 * What stands behind a model's name, what matters most first, because a narrow view cuts the end:
 * `agent · 812 tokens/s · 7.2 MB · int8 · cpu`. That it is ready its icon says, and that it has a speed.
 */
export function modelWords({ roles, state, files, tokensPerSecond }: ModelRow): string {
  const isReady = state.kind === 'ready';
  const fast = isReady && tokensPerSecond !== undefined;
  return [
    ...roles,
    fast ? `${speed(tokensPerSecond)} tokens/s` : stateWords(state),
    ...(files === undefined || state.kind === 'failed' ? [] : [megabytes(files.bytes), files.precision]),
    ...(isReady ? [state.provider] : []),
  ].join(' · ');
}

/** The same to be heard, where no icon tells the state. */
export function spokenModel(name: string, row: ModelRow): string {
  const { state, tokensPerSecond } = row;
  const parts = modelWords(row).split(' · ');
  if (state.kind === 'ready' && tokensPerSecond !== undefined) parts.splice(row.roles.length, 0, 'ready');
  return [name, ...parts]
    .join(', ')
    .replace(/(\d) MB\b/, '$1 megabytes')
    .replace('tokens/s', 'tokens per second');
}

/** The lines of a model's hover: what does not fit into its row. */
export function modelDetails({ folder }: LocalPlace, { state, files, tokensPerSecond }: ModelRow): string[] {
  return [
    ...(state.kind === 'failed' ? [state.reason] : []),
    ...(files === undefined
      ? []
      : [built(files), `At most ${grouped(files.contextLength)} tokens in a dialogue`]),
    ...(tokensPerSecond === undefined ? [] : [`${speed(tokensPerSecond)} tokens/s when it last wrote`]),
    ...(state.kind === 'ready'
      ? [`Runs on ${state.provider}, in process ${state.processId}`, ...state.notes]
      : []),
    folder,
  ];
}

function built({ architecture, parameters, precision, bytes }: LocalFolder): string {
  const size =
    parameters < 1e9
      ? `${(parameters / 1e6).toPrecision(2)} million`
      : `${(parameters / 1e9).toPrecision(2)} billion`;
  return `${architecture}, ${size} parameters, ${precision}, ${megabytes(bytes)}`;
}

/** Millions of bytes. */
function megabytes(bytes: number): string {
  const size = bytes / 1e6;
  return `${size < 10 ? size.toFixed(1) : grouped(size)} MB`;
}

function speed(tokensPerSecond: number): string {
  return tokensPerSecond < 10 ? tokensPerSecond.toFixed(1) : grouped(tokensPerSecond);
}

const grouped = (number: number): string => Math.round(number).toLocaleString('en');

function stateWords(state: LocalState): string {
  switch (state.kind) {
    case 'not-loaded':
      return 'not loaded';
    case 'loading':
      return 'loading…';
    case 'ready':
      return 'ready';
    case 'failed':
      return `failed: ${state.reason}`;
  }
}
