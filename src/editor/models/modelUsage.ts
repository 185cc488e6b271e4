import * as vscode from 'vscode';
import { costOf, type ModelUse, type UseByModel } from '../../core/trajectory/modelUsage';
import { cell } from '../../core/markdown';
import { grouped } from '../../core/text';
import type { ShownLog } from '../shownLog';
import { dollars } from '../words';
import type { Namer } from '../displayNames';
import { specOf, type Server } from '../server';

const { t } = vscode.l10n;

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

/** Both names, so that either can be looked up. */
function calledAs(model: string, namer: Namer): string {
  const called = namer.calledBy(model);
  return called === model ? model : `${called} (${model})`;
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
    .map(([model, use]) => ({ model, use, server: servers.find((one) => specOf(one) === model) }))
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
    ({ model, server }) => model.startsWith('openai:') && server?.price === undefined,
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
        calledAs(model, namer),
        ...[use.turns, use.replies].map(grouped),
        ...[use.promptTokens, use.completionTokens].map((tokens) => (hasTokens(use) ? grouped(tokens) : '–')),
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

const hasTokens = ({ promptTokens, completionTokens }: ModelUse): boolean =>
  promptTokens + completionTokens > 0;
