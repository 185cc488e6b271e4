import type { ModelUse } from '../../core/trajectory/use';
import type { ServedRow } from './nodes';
import type { Server, ServerState } from './servers';
import { useWords } from './use';

/** What stands behind the name of a connected model: `agent · works · qwen3 at 127.0.0.1:8000 · 12 turns`. */
export function servedWords(server: Server, { roles, state }: ServedRow, use: ModelUse | undefined): string {
  const { name, model, baseUrl } = server;
  const host = URL.parse(baseUrl)?.host ?? baseUrl;
  return [
    ...roles,
    stateWords(state),
    name === model ? host : `${model} at ${host}`,
    ...(use === undefined ? [] : [useWords(use, server)]),
  ].join(' · ');
}

/** The lines of its hover. */
export function servedDetails(server: Server, { state }: ServedRow, use: ModelUse | undefined): string[] {
  const { model, baseUrl, price } = server;
  return [
    ...(state.kind === 'fails' ? [state.why] : []),
    `${model} at ${baseUrl}`,
    ...(state.kind === 'works' ? state.notes : []),
    ...(use === undefined ? ['Not used in this log yet'] : [`${useWords(use, server)} in this log`]),
    ...(price === undefined
      ? []
      : [`$${price.prompt} a million prompt tokens, $${price.completion} a million of the answer`]),
  ];
}

/** Whole words, because the icon is not heard. */
function stateWords(state: ServerState): string {
  switch (state.kind) {
    case 'untested':
      return 'untested';
    case 'testing':
      return 'testing…';
    case 'works':
      return 'works';
    case 'fails':
      return `fails: ${state.why}`;
  }
}
