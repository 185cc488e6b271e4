import { main } from '../src/cli/main';
import { installBothSeats } from './bothSeats/command';
import { installFewDialogues } from './fewDialogues/command';
import { installScoreboard } from './scoreboard/command';

const [assets, ...args] = process.argv.slice(2);
process.exitCode = await main(args, {
  name: 'node experiments/run.mjs',
  description: 'Studies of Tandem itself.',
  installs: [installScoreboard, installBothSeats, installFewDialogues],
  assets: assets!,
});
