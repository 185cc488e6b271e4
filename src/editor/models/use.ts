import { costOf, type ModelUse, type UseByModel } from '../../core/trajectory/use';
import { specOf, type Server } from './servers';

/** `12 turns · 3 replies · 34,100 tokens · $0.02` */
export function useWords(use: ModelUse, server?: Server): string {
  return [
    ...(use.turns === 0 ? [] : [counted(use.turns, 'turn')]),
    ...(use.replies === 0 ? [] : [`${grouped(use.replies)} ${use.replies === 1 ? 'reply' : 'replies'}`]),
    ...(hasTokens(use) ? [counted(use.promptTokens + use.completionTokens, 'token')] : []),
    ...(server?.price === undefined ? [] : [dollars(costOf(use, server.price))]),
  ].join(' · ');
}

/** The use of every model as a Markdown document. */
export function useDocument(uses: UseByModel, servers: readonly Server[]): string {
  const rows = Object.entries(uses)
    .map(([model, use]) => ({ model, use, server: servers.find((one) => specOf(one) === model) }))
    .sort((a, b) => b.use.turns + b.use.replies - (a.use.turns + a.use.replies));
  if (rows.length === 0) {
    return '# Use and Cost of the Models\n\nNo model has written anything in this log yet. Play a task to see the first.\n';
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
    '# Use and Cost of the Models',
    'Of all that the log of this workspace holds, turns that were taken back and deleted dialogues included.',
    table([
      ['Model', 'Turns', 'Replies', 'Prompt tokens', 'Completion tokens', 'Cost'],
      ...rows.map(({ model, use, server }) => [
        server === undefined ? model : `${server.name} (${model})`,
        ...[use.turns, use.replies].map(grouped),
        ...[use.promptTokens, use.completionTokens].map((tokens) => (hasTokens(use) ? grouped(tokens) : '–')),
        server?.price === undefined ? '–' : dollars(costOf(use, server.price)),
      ]),
    ]),
    ...(isPriced ? [`Cost in all: ${dollars(total)}.`] : []),
    ...(unpriced === 0
      ? []
      : [`${counted(unpriced, 'model')} without a price. Edit the connection of a model to give it one.`]),
    ...(uncounted === 0
      ? []
      : [
          `For ${counted(uncounted, 'message')} no tokens were counted, so that sums and cost may be too low.`,
        ]),
    'The cost is what the tokens cost at the prices that you gave; what a suggestion or a stopped message cost is not in the log.',
    '',
  ].join('\n\n');
}

/** US dollars; less than a cent with the digits that tell such sums apart. */
export function dollars(sum: number): string {
  return `$${sum === 0 || sum >= 0.01 ? sum.toFixed(2) : sum.toFixed(6).replace(/0+$/, '')}`;
}

/** With columns that stand under each other, so that it can be read as it is. */
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

function cell(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/[\\|<`*_[\]]/g, '\\$&');
}

const hasTokens = ({ promptTokens, completionTokens }: ModelUse): boolean =>
  promptTokens + completionTokens > 0;
const grouped = (number: number): string => number.toLocaleString('en');
const counted = (number: number, what: string): string =>
  `${grouped(number)} ${what}${number === 1 ? '' : 's'}`;
