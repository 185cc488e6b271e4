import { existsSync } from 'node:fs';
import path from 'node:path';
import { Option } from 'commander';
import { gainCorrelation } from '../../core/evaluation/agreement';
import { signed } from '../../core/evaluation/words';
import { hasCriticGraphs } from '../../core/model/local/critic/criticFile';
import { scoreTrajectories, type Scored } from '../../core/training/convert';
import { scoreHere } from '../../core/training/scoring/scoreLocally';
import { withRowsOfLogs } from '../../core/training/data/prepare';
import {
  type Install,
  type CommandResult,
  type CliContext,
  wholeNumber,
  wrongUse,
  refuseToReplace,
} from '../command';
import { table, say } from '../terminal';
import { openShippedTrainer } from '../resources';
import { MODEL_WORDS, SIMULATOR_WORDS, addPageOptions } from '../play';
import { addPlayedCreditOptions, creditPlayed, type PlayedCreditOptions } from '../playedCredit';

interface CriticOptions {
  readonly critic: string;
  readonly base?: string;
  readonly out?: string;
  readonly runner?: 'onnx' | 'trainer';
}

interface ScoreOptions extends Omit<CriticOptions, 'critic'>, Omit<PlayedCreditOptions, 'agent' | 'samples'> {
  readonly critic?: string;
  readonly answerNow?: boolean;
  readonly agent?: string;
  readonly answers: number;
  readonly overwrite?: boolean;
}

export const installScore: Install = (program, perform) => {
  const command = program
    .command('score')
    .description(
      'turn advantages of trajectories by the critic of a run, with the untrained baseline beside it, or by answers that a model is forced to give',
    )
    .argument('<trajectories...>', 'files of published or exported rows, or data folders')
    .option('--critic <model>', 'the folder `critic` of a run')
    .option('--base <model>', 'the base model of the critic, if it has moved')
    .addOption(
      new Option(
        '--runner <name>',
        'onnx: ONNX graphs of the critic on this machine; trainer: PyTorch (default: onnx when there are graphs)',
      ).choices(['onnx', 'trainer']),
    )
    .option('--out <file>', 'write the rows into this file, JSON lines')
    .option('--overwrite', 'replace a file of that name')
    .optionsGroup('Without a critic:')
    .addOption(
      new Option(
        '--answer-now',
        'credit a turn by how much better answers get that are forced after it',
      ).conflicts(['critic', 'base', 'runner']),
    )
    .option('--agent <model>', `gives the answers: ${MODEL_WORDS}`)
    .option('--answers <k>', 'answers for each history', wholeNumber('--answers', 1), 8);
  addPlayedCreditOptions(command).action(perform(score));
};

function score(places: string[], options: ScoreOptions, to: CliContext): Promise<CommandResult> {
  const { critic, answerNow, agent, answers, base, runner, out, overwrite } = options;
  refuseToReplace(out, overwrite);
  if (answerNow !== true) {
    if (critic === undefined)
      throw wrongUse('Say what scores: --critic <model>, or --answer-now --agent <model>.');
    if (agent !== undefined) throw wrongUse('--agent is for --answer-now; a critic scores without one.');
    return scoreByCritic(places, { critic, base, runner, out }, to);
  }
  if (agent === undefined) throw wrongUse('--answer-now needs the model that answers: --agent <model>.');
  return creditPlayed('answer-now', places, { ...options, agent, samples: answers }, to);
}

async function scoreByCritic(
  places: string[],
  options: CriticOptions,
  to: CliContext,
): Promise<CommandResult> {
  const { critic, out } = options;
  const runner = chooseRunner(options);
  const prompts = path.join(to.assets, 'prompts');
  const rows = await withRowsOfLogs(
    places,
    { prompts, signal: to.signal, onLine: say },
    async (trajectories) => {
      const common = { critic, trajectories, out, signal: to.signal, onLine: say };
      return runner === 'onnx'
        ? scoreHere({ ...common, scoring: path.join(to.assets, 'scoring.js'), prompts })
        : scoreTrajectories(await openShippedTrainer(to), { ...common, ...baseOf(options) });
    },
  );
  const turns = rows.reduce((sum, row) => sum + row.turns.length, 0);
  return {
    rows,
    summary: {
      ...{ trajectories: rows.length, turns },
      ...(out !== undefined && { file: out }),
      ...(rows.some(hasGains) && {
        gains: {
          advantage: gainCorrelation(rows, 'advantage') ?? null,
          untrained: gainCorrelation(rows, 'untrained') ?? null,
        },
      }),
    },
    print: () =>
      [
        out === undefined ? inWords(rows) : `${rows.length} trajectories are in ${out}.`,
        ...gainsInWords(rows),
      ].join('\n'),
  };
}

/** By default ONNX Runtime when the critic has graphs for it. */
function chooseRunner({ critic, base, runner }: CriticOptions): 'onnx' | 'trainer' {
  if (runner === 'onnx' && base !== undefined) {
    throw wrongUse('--base is for --runner trainer: the graphs of a critic hold its base.');
  }
  if (runner !== undefined) return runner;
  const chosen = base === undefined && hasCriticGraphs(critic) ? 'onnx' : 'trainer';
  say(
    chosen === 'onnx'
      ? 'ONNX Runtime scores, by the graphs of the critic; --runner trainer takes PyTorch instead.'
      : 'The trainer scores; tandem onnx writes the graphs with which that needs no PyTorch.',
  );
  return chosen;
}

/** A base that is no folder is a name on the hub. */
function baseOf({ base }: CriticOptions): { base?: string } {
  return base === undefined ? {} : { base: existsSync(base) ? path.resolve(base) : base };
}

const hasGains = ({ turns }: Scored): boolean => turns.some(({ gain }) => gain !== undefined);

/** How well the credits order the turns of dialogues about pages, by the gains of their drafts. */
function gainsInWords(rows: readonly Scored[]): string[] {
  if (!rows.some(hasGains)) return [];
  const shown = (name: 'advantage' | 'untrained'): string => {
    const found = gainCorrelation(rows, name);
    if (found === undefined) return `${name} –`;
    const { dialogues, mean, interval } = found;
    const range = interval && ` (95 % ${signed(interval.low, 2)} to ${signed(interval.high, 2)})`;
    return `${name} ${signed(mean, 2)}${range ?? ''} over ${dialogues} ${dialogues === 1 ? 'dialogue' : 'dialogues'}`;
  };
  return [`Rank correlation with the gains of drafts: ${shown('advantage')}; ${shown('untrained')}.`];
}

function inWords(rows: readonly Scored[]): string {
  const gains = rows.some(hasGains);
  const head = ['trajectory', 'task', 'reward', 'turn', 'tokens', 'advantage', 'untrained'];
  const lines = rows.flatMap(({ id, task, reward, turns }) =>
    turns.map(({ turn, tokens, advantage, untrained, gain }) => [
      id,
      task,
      reward?.toFixed(2) ?? '–',
      String(turn + 1),
      String(tokens),
      signed(advantage, 4),
      signed(untrained, 4),
      ...(gains ? [signed(gain, 3)] : []),
    ]),
  );
  return table([gains ? [...head, 'gain'] : head, ...lines]);
}

interface RolloutsOptions extends Omit<PlayedCreditOptions, 'samples' | 'simulator'> {
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
    .requiredOption('--simulator <model>', `replies, also where a person did: ${SIMULATOR_WORDS}`)
    .option('--rolls <k>', 'dialogues played from each history', wholeNumber('--rolls', 1), 8)
    .option('--out <file>', 'write the rows into this file, JSON lines')
    .option('--overwrite', 'replace a file of that name');
  addPageOptions(command);
  addPlayedCreditOptions(command).action(
    perform((trajectories: string[], { rolls, overwrite, ...options }: RolloutsOptions, to: CliContext) => {
      refuseToReplace(options.out, overwrite);
      return creditPlayed('rollouts', trajectories, { ...options, samples: rolls }, to);
    }),
  );
};
