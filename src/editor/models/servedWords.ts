import type { ModelUse } from '../../core/trajectory/modelUsage';
import type { ServedRow } from './nodes';
import type { Server, ServerState } from './server';
import type { Translate } from '../translate';
import { useWords } from './modelUsage';
import { roleWord } from './words';

/** For example `agent · works · qwen3 at 127.0.0.1:8000 · 12 turns`. */
export function servedWords(
  server: Server,
  { roles, state }: ServedRow,
  use: ModelUse | undefined,
  t: Translate,
): string {
  const { name, model, baseUrl } = server;
  const host = URL.parse(baseUrl)?.host ?? baseUrl;
  return [
    ...roles.map((role) => roleWord(role, t)),
    stateWords(state, t),
    name === model ? host : t('{0} at {1}', model, host),
    ...(use === undefined ? [] : [useWords(use, t, server)]),
  ].join(' · ');
}

export function servedDetails(
  server: Server,
  { state }: ServedRow,
  use: ModelUse | undefined,
  t: Translate,
): string[] {
  const { model, baseUrl, price } = server;
  return [
    ...(state.kind === 'fails' ? [state.why] : []),
    t('{0} at {1}', model, baseUrl),
    ...(state.kind === 'works' ? state.notes : []),
    ...(use === undefined
      ? [t('Not used in this log yet')]
      : [t('{0} in this log', useWords(use, t, server))]),
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

/** In words, because a screen reader does not read the icon. */
function stateWords(state: ServerState, t: Translate): string {
  switch (state.kind) {
    case 'untested':
      return t('untested');
    case 'testing':
      return t('testing…');
    case 'works':
      return t('works');
    case 'fails':
      return t('fails: {0}', state.why);
  }
}
