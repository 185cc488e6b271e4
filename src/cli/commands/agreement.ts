import { agreementIn, type PeoplesAgreement } from '../../core/evaluation/people/agreement';
import { PeoplesOpinions, type Opinions } from '../../core/evaluation/people/opinions';
import { PageChoices, unlessUndrawn, type PeopleAndMeasures } from '../../core/evaluation/people/measures';
import { inEnglish, linesOf } from '../../core/evaluation/report/table';
import {
  alphaTable,
  measuresNote,
  measuresTable,
  peopleNotes,
  peopleTable,
} from '../../core/evaluation/report/people';
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
    return await unlessUndrawn(new PageChoices().agreement(log, pages, filter, clip));
  } finally {
    await pages.close();
    await clip?.close();
  }
}

function measuresInWords(found: Found['measures']): string[] {
  if (found === undefined) return [];
  if (typeof found === 'string')
    return ['', `How measures of web pages agree with choices is not known: ${found}`];
  return ['', table(linesOf(measuresTable(found))), inEnglish(measuresNote(found))];
}

function inWords(found: Found, data: string): string {
  if (found.people.length === 0) return `No person has played or judged a dialogue in ${data}.`;
  return [
    table(linesOf(peopleTable(found))),
    ...peopleNotes(found).map(inEnglish),
    '',
    table(linesOf(alphaTable(found))),
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
