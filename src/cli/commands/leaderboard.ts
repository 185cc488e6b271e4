import {
  Judgements,
  leaderboardOf,
  type Leaderboard,
  remarks,
  shareWords,
} from '../../core/evaluation/leaderboard/leaderboard';
import type { CliContext, CommandResult, Install } from '../command';
import { withLog } from '../resources';
import { dataOption } from '../play';
import { table } from '../terminal';

export const installLeaderboard: Install = (program, perform) => {
  program
    .command('leaderboard')
    .alias('standing')
    .description(
      'models ranked by people’s choices between two candidates, Bradley–Terry strengths with intervals',
    )
    .addOption(dataOption())
    .action(({ data }: { data: string }) => perform((to) => leaderboard(data, to)));
};

async function leaderboard(data: string, { signal }: CliContext): Promise<CommandResult> {
  return withLog(data, signal, async (log) => {
    const found = leaderboardOf(await new Judgements().of(log));
    const { places, ...summary } = found;
    return { rows: places, summary: { data, ...summary }, print: () => inWords(found, data) };
  });
}

function inWords(found: Leaderboard, data: string): string {
  if (found.choices === 0) {
    return `${data} has no finished dialogue with a choice between two candidates. Turn on tandem.candidates.show in the editor and play.`;
  }
  const head = ['model', 'chosen over the average', 'choices', 'won', 'lost', 'equal', 'neither'];
  const rows = found.places.map((place) => [
    place.model,
    shareWords(place),
    ...[place.choices, place.wins, place.losses, place.equal, place.neither].map(String),
  ]);
  const grouped = found.groups > 1;
  return [
    table([
      [...(grouped ? ['group'] : []), ...head],
      ...rows.map((row, index) => [...(grouped ? [String(found.places[index]!.group + 1)] : []), ...row]),
    ]),
    'In brackets: 95 % intervals. Equal and neither count as half a win for each.',
    ...remarks(found),
  ].join('\n');
}
