import { agreementIn, type PeoplesAgreement, type Person } from '../../core/evaluation/people/agreement';
import { PeoplesOpinions, type Opinions } from '../../core/evaluation/people/opinions';
import { PageChoices, type PeopleAndMeasures } from '../../core/evaluation/people/measures';
import {
  alphaInWords,
  judgedInWords,
  measureInWords,
  measureRateInWords,
  sharedInWords,
  whyNoAlpha,
} from '../../core/evaluation/people/words';
import { percent } from '../../core/evaluation/words';
import type { Interval } from '../../core/evaluation/interval';
import { Fault } from '../../core/fault';
import type { ClipEmbedder } from '../../core/model/local/clip/embedder';
import type { BrowserPages } from '../../core/rendering/browserPages';
import type { TrajectoryFilter, TrajectoryLog } from '../../core/trajectory/log';
import type { CliContext, CommandResult, Install } from '../command';
import { openClip, openPages, withLog } from '../resources';
import { dataOption } from '../play';
import { table } from '../terminal';

/** `--json` has all disagreements. */
const PRINTED = 20;

interface Options {
  readonly data: string;
  readonly pack?: string;
  readonly browser?: string;
  /** True for the default folder. */
  readonly clip?: string | true;
}

interface Found extends PeoplesAgreement {
  /** Absent without choices between pages; a sentence where they cannot be drawn here. */
  readonly measures?: PeopleAndMeasures | string;
}

export const installAgreement: Install = (program, perform) => {
  program
    .command('agreement')
    .description(
      'what people played and judged, each with intervals; how far they agree (Krippendorff’s alpha), and where not',
    )
    .addOption(dataOption())
    .option('--pack <name>', 'only dialogues of this pack, by its file name')
    .option(
      '--browser <program>',
      'draws web pages, to compare measures with choices (default: a browser of this machine)',
    )
    .option(
      '--clip [folder]',
      'also compares the published measure of web pages, by CLIP (default: where tandem download clip puts it)',
    )
    .action((options: Options) => perform((to) => agreement(options, to)));
};

async function agreement(
  { data, pack, browser, clip: folder }: Options,
  to: CliContext,
): Promise<CommandResult> {
  const clip = folder === undefined ? undefined : openClip(to, folder === true ? undefined : folder);
  return withLog(data, to.signal, async (log) => {
    const filter: TrajectoryFilter = pack === undefined ? {} : { pack };
    const measures = await measuresIn(log, filter, openPages(to, browser), clip);
    const found: Found = {
      ...(await agreementIn(log, new PeoplesOpinions(), filter)),
      ...(measures !== undefined && { measures }),
    };
    const { disagreements, ...summary } = found;
    return { rows: disagreements, summary: { data, ...summary }, print: () => inWords(found, data) };
  });
}

/** People's agreement is known without a browser; that of the measures is not. */
async function measuresIn(
  log: TrajectoryLog,
  filter: TrajectoryFilter,
  pages: BrowserPages,
  clip: ClipEmbedder | undefined,
): Promise<PeopleAndMeasures | string | undefined> {
  try {
    return await new PageChoices().agreement(log, pages, filter, clip);
  } catch (error) {
    if (error instanceof Fault && error.code === 'page/no-browser') return error.message;
    throw error;
  } finally {
    await pages.close();
    await clip?.close();
  }
}

function measuresInWords(found: Found['measures']): string[] {
  if (found === undefined) return [];
  if (typeof found === 'string')
    return ['', `How measures of web pages agree with choices is not known: ${found}`];
  const { measures, undecided, withoutPage } = found;
  return [
    '',
    table([
      ['measure of web pages', 'prefers the chosen one', 'choices', 'ties'],
      ...measures.map((one) => [
        ...[measureInWords(one), measureRateInWords(one), String(one.choices), String(one.ties)],
      ]),
    ]),
    'Choices of one of two pages, without those that the measure scores alike (ties). Left out: ' +
      `${undecided} of equal or neither, ${withoutPage} with a candidate that shows no page.`,
  ];
}

function inWords(found: Found, data: string): string {
  if (found.people.length === 0) return `No person has played or judged a dialogue in ${data}.`;
  const shared = sharedInWords(found);
  return [
    table([
      ['person', 'dialogues', 'tasks', 'success', 'leaks', 'stars', 'thumbs up', 'chose first', 'chose none'],
      ...found.people.map(rowOf),
    ]),
    'In brackets: 95 % intervals; n: what the person judged. Chose first: share of choices between two candidates that',
    'fell on the one shown first, of those that fell on one. Chose none: share of choices of equal or neither.',
    ...(shared === undefined ? [] : [shared]),
    '',
    table([
      ['judgement', 'alpha', 'by two or more'],
      ...(['stars', 'thumbs', 'choices'] as const).map((kind) => {
        const alpha = found.alpha[kind];
        return [kind, alphaInWords(alpha), whyNoAlpha(alpha) ?? judgedInWords(kind, alpha)];
      }),
    ]),
    ...measuresInWords(found.measures),
    ...disagreementsInWords(found),
  ].join('\n');
}

function disagreementsInWords({ disagreements }: PeoplesAgreement): string[] {
  if (disagreements.length === 0) return [];
  const shown = disagreements.slice(0, PRINTED);
  const rest = disagreements.length - shown.length;
  return [
    '',
    table([
      ['they disagree on', 'dialogue', 'turn', 'who says what'],
      ...shown.map(({ kind, episode, turn, said }) => [
        kind,
        episode,
        turn === undefined ? '' : String(turn),
        said.map(({ by, value }) => `${by}: ${valueInWords(kind, value)}`).join(', '),
      ]),
    ]),
    ...(rest > 0 ? [`… and ${rest} more: --json lists all.`] : []),
  ];
}

function valueInWords(kind: keyof Opinions, value: number | string): string {
  if (kind !== 'choices' || typeof value === 'string') return String(value);
  return value === 0 ? 'first' : 'second';
}

const rowOf = ({
  name,
  dialogues,
  tasks,
  success,
  leak,
  stars,
  thumbs,
  first,
  undecided,
}: Person): string[] => [
  name,
  String(dialogues),
  String(tasks),
  ...[success, leak].map((figure) => rate(figure)),
  stars === undefined ? '–' : `${stars.value.toFixed(1)}${range(stars.interval, 1)}, n = ${stars.of}`,
  ...[thumbs, first, undecided].map((share) =>
    share === undefined ? '–' : `${rate(share)}, n = ${share.of}`,
  ),
];

function rate(figure: { readonly value: number; readonly interval?: Interval } | undefined): string {
  return figure === undefined ? '–' : percent(figure.value) + range(figure.interval, 100);
}

const range = (interval: Interval | undefined, factor: number): string =>
  interval === undefined
    ? ''
    : ` [${(factor * interval.low).toFixed(1)}, ${(factor * interval.high).toFixed(1)}]`;
