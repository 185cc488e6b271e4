import * as vscode from 'vscode';
import { simulatorModel } from '../../core/dialogue/specification/specificationSpec';
import type { LocalFolder } from '../../core/model/local/folder';
import { grouped } from '../../core/text';
import { type ModelUse, costOf, type UseByModel } from '../../core/trajectory/modelUsage';
import type { LocalState, ModelStatus } from '../loadedModels';
import type { LocalPlace } from '../localModels';
import type { Role } from '../roles';
import { type Server, type ServerState, specOf } from '../servers';
import { cell } from '../../core/markdown';
import type { ShownLog } from '../engines';
import { dollars } from '../words';
import type { Namer } from '../displayNames';

const { t } = vscode.l10n;

export interface ModelRow extends ModelStatus {
  readonly roles: readonly Role[];
}

export interface ServedRow {
  readonly roles: readonly Role[];
  readonly state: ServerState;
}

export const roleWords: Readonly<Record<Role, string>> = {
  agent: t('agent'),
  secondAgent: t('second agent'),
  simulator: t('simulator'),
};

/**
 * Most important first, because a narrow view cuts the end: `agent · 812 tokens/s · 7.2 MB · int8 · cpu`.
 * The icon and the speed show that it is ready.
 */
export function modelWords({ roles, state, files, tokensPerSecond }: ModelRow): string {
  const isReady = state.kind === 'ready';
  const fast = isReady && tokensPerSecond !== undefined;
  return [
    ...roles.map((role) => roleWords[role]),
    fast ? t('{0} tokens/s', speed(tokensPerSecond)) : stateWords[state.kind],
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
    ...roles.map((role) => roleWords[role]),
    stateWords[state.kind],
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

const stateWords: Readonly<Record<LocalState['kind'], string>> = {
  'not-loaded': t('not loaded'),
  loading: t('loading…'),
  ready: t('ready'),
  failed: t('failed'),
};

/** For example `agent · works · qwen3 at 127.0.0.1:8000 · 12 turns`. */
export function servedWords(server: Server, { roles, state }: ServedRow, use: ModelUse | undefined): string {
  const { name, model, baseUrl } = server;
  const host = URL.parse(baseUrl)?.host ?? baseUrl;
  return [
    ...roles.map((role) => roleWords[role]),
    serverStateWords[state.kind],
    name === model ? host : t('{0} at {1}', model, host),
    ...(use === undefined ? [] : [useWords(use, server)]),
  ].join(' · ');
}

export function servedDetails(server: Server, { state }: ServedRow, use: ModelUse | undefined): string[] {
  const { model, baseUrl, price } = server;
  return [
    state.kind === 'fails' ? state.why : undefined,
    t('{0} at {1}', model, baseUrl),
    ...(state.kind === 'works' ? state.notes : []),
    use === undefined ? t('Not used in this log yet') : t('{0} in this log', useWords(use, server)),
    price &&
      t('${0} per million prompt tokens, ${1} per million completion tokens', price.prompt, price.completion),
  ].filter((line) => line !== undefined);
}

/** In words, because a screen reader does not read the icon. The tooltip has the reason, which a row would cut. */
const serverStateWords: Readonly<Record<ServerState['kind'], string>> = {
  untested: t('untested'),
  testing: t('testing…'),
  works: t('works'),
  fails: t('fails'),
};

/** For example `12 turns · 3 replies · 34,100 tokens · $0.02`. */
export function useWords(use: ModelUse, server?: Server): string {
  const { turns, replies } = use;
  const tokens = use.promptTokens + use.completionTokens;
  return [
    ...(turns === 0 ? [] : [turns === 1 ? t('1 turn') : t('{0} turns', grouped(turns))]),
    ...(replies === 0 ? [] : [replies === 1 ? t('1 reply') : t('{0} replies', grouped(replies))]),
    ...(tokens === 0 ? [] : [tokens === 1 ? t('1 token') : t('{0} tokens', grouped(tokens))]),
    ...(server?.price === undefined ? [] : [dollars(costOf(use, server.price))]),
  ].join(' · ');
}

export async function useOfLog({ engine, name }: Pick<ShownLog, 'engine' | 'name'>): Promise<string> {
  const uses = await (await engine.log()).modelUse();
  return useDocument(uses, engine.servers.all, engine, name);
}

/** @param folder of the log, where the window has several */
export function useDocument(
  uses: UseByModel,
  servers: readonly Server[],
  namer: Namer,
  folder?: string,
): string {
  const title = `# ${t('Usage and Cost by Model')}`;
  const rows = Object.entries(uses)
    .map(([model, use]) => ({
      model,
      use,
      server: servers.find((one) => specOf(one) === simulatorModel(model)),
    }))
    .sort((a, b) => b.use.turns + b.use.replies - (a.use.turns + a.use.replies));
  if (rows.length === 0) {
    return `${title}\n\n${t('No model has written anything in this log yet. Play a task to see the first.')}\n`;
  }
  const total = rows.reduce(
    (sum, { use, server }) => sum + (server?.price ? costOf(use, server.price) : 0),
    0,
  );
  const isPriced = rows.some(({ server }) => server?.price !== undefined);
  const unpriced = rows.filter(
    ({ model, server }) => simulatorModel(model).startsWith('openai:') && server?.price === undefined,
  ).length;
  const uncounted = rows.reduce((sum, { use }) => sum + use.uncounted, 0);
  return [
    title,
    folder === undefined
      ? t('For everything in the log of this workspace, including undone turns and deleted dialogues.')
      : t('For everything in the log of {0}, including undone turns and deleted dialogues.', folder),
    table([
      [t('Model'), t('Turns'), t('Replies'), t('Prompt tokens'), t('Completion tokens'), t('Cost')],
      ...rows.map(({ model, use, server }) => [
        // Both names, so that either can be looked up.
        namer.calledBy(model) === model ? model : `${namer.calledBy(model)} (${model})`,
        ...[use.turns, use.replies].map(grouped),
        ...[use.promptTokens, use.completionTokens].map((tokens) =>
          use.promptTokens + use.completionTokens > 0 ? grouped(tokens) : '–',
        ),
        server?.price === undefined ? '–' : dollars(costOf(use, server.price)),
      ]),
    ]),
    ...(isPriced ? [t('Total cost: {0}.', dollars(total))] : []),
    ...(unpriced === 0
      ? []
      : [t('Models without a price: {0}. Edit the connection of a model to give it one.', unpriced)]),
    ...(uncounted === 0
      ? []
      : [t('Messages without a token count: {0}. Totals and cost may be too low.', grouped(uncounted))]),
    t(
      'The cost is that of the tokens at the prices that you entered. Suggestions and stopped messages are not in the log and not counted.',
    ),
    '',
  ].join('\n\n');
}

/** Aligned, so that its source can be read. */
function table([head, ...rows]: string[][]): string {
  const cells = [head!, ...rows].map((row) => row.map(cell));
  const widths = head!.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((text, column) => (column === 0 ? text.padEnd(widths[0]!) : text.padStart(widths[column]!))).join(' | ')} |`;
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [line(cells[0]!), line(rule), ...cells.slice(1).map(line)].join('\n');
}
