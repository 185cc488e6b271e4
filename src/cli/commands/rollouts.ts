import { wholeNumber, type Install } from '../command';
import { addPageOptions, MODEL_WORDS } from '../play';
import {
  addPlayedCreditOptions,
  creditPlayed,
  refuseToReplace,
  type PlayedCreditOptions,
} from '../playedCredit';

interface Options extends Omit<PlayedCreditOptions, 'samples' | 'simulator'> {
  readonly simulator: string;
  readonly rolls: number;
  readonly overwrite?: boolean;
}

export const installRollouts: Install = (program, perform) => {
  const command = program
    .command('rollouts')
    .description(
      'turn credit by playing each history of logged dialogues to its end, many times; run the same command again to continue after a stop',
    )
    .argument('<trajectories...>', 'files of published or exported rows, or data folders')
    .requiredOption('--agent <model>', `plays the agent on: ${MODEL_WORDS}`)
    .requiredOption(
      '--simulator <model>',
      'replies, also where a person did: rules, or a model as --agent takes it',
    )
    .option('--rolls <k>', 'dialogues played from each history', wholeNumber('--rolls', 1), 8)
    .option('--out <file>', 'write the rows into this file, JSON lines')
    .option('--overwrite', 'replace a file of that name');
  addPageOptions(command);
  addPlayedCreditOptions(command).action(
    (trajectories: string[], { rolls, overwrite, ...options }: Options) =>
      perform((to) => {
        refuseToReplace(options.out, overwrite);
        return creditPlayed('rollouts', trajectories, { ...options, samples: rolls }, to);
      }),
  );
};
