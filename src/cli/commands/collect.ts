import { collect, collectionName, type CollectionResult } from '../../core/dialogue/collect';
import type { Model } from '../../core/model/model';
import { openModel } from '../../core/model/spec';
import type { Shard } from '../../core/trajectory/log';
import { wrongUse, type Install, type CommandResult, type CliContext } from '../command';
import { openLog, openGrader } from '../resources';
import { namedKeys } from '../keys';
import { addPlayOptions, MODEL_WORDS, modelOptions, preparePlay, type PlayOptions, usageOf } from '../play';
import { startProgress } from '../terminal';

interface Options extends PlayOptions {
  readonly agent: string;
  readonly shard?: Shard;
}

export const installCollect: Install = (program, perform) => {
  const command = program
    .command('collect')
    .description(
      'play tasks with an agent and a simulator, grade and log them; run the same command again to continue after a stop',
    )
    .requiredOption('--agent <model>', MODEL_WORDS)
    .option(
      '--shard <i/n>',
      'play only the i-th of n equal shards, while the same command plays the others elsewhere',
      shardOf,
    );
  addPlayOptions(command, { temperature: 1 }).action((options: Options) =>
    perform((to) => collectDialogues(options, to)),
  );
};

/** Such as `2/4`. */
function shardOf(text: string): Shard {
  const [, index = 0, of = 0] = (/^(\d{1,6})\/(\d{1,6})$/.exec(text) ?? []).map(Number);
  if (index < 1 || index > of)
    throw wrongUse(`--shard takes a shard and the number of shards, such as 1/4, not "${text}".`);
  return { index, of };
}

async function collectDialogues(options: Options, to: CliContext): Promise<CommandResult> {
  const keyOf = namedKeys(options.keyEnv, [options.agent, options.simulator]);
  const play = await preparePlay(options, to, keyOf);
  const agent = openModel(options.agent, modelOptions(to, keyOf));
  const grader = await openGrader({ assets: to.assets, workers: options.jobs });
  const log = await openLog(options.data, to.signal);
  const progress = startProgress('collect', 'dialogues');
  const { seed, rollouts, concurrency, mode, shard } = options;
  const collection = collectionName('collection', { ...play, seed, agent });
  try {
    const result = await collect({
      ...play,
      log,
      agent,
      grader,
      seed,
      rollouts,
      shard,
      concurrency,
      mode,
      collection,
      signal: to.signal,
      onProgress: ({ done, total, failed, solved }) =>
        progress.update(done, total, `${solved} solved${failed === 0 ? '' : `, ${failed} failed`}`),
    });
    return {
      summary: {
        collection,
        data: options.data,
        ...result,
        agent: toldOf(agent),
        simulator: toldOf(play.simulator),
      },
      print: () => [inWords(result, options), ...usageOf(agent), ...usageOf(play.simulator)].join('\n'),
      failed: result.done < result.total,
    };
  } finally {
    progress.end();
    await log.close();
    await grader.close();
    await agent.close?.();
    await play.simulator.close?.();
  }
}

const toldOf = ({ counts, notes }: Pick<Model, 'counts' | 'notes'>): object => ({ usage: counts, notes });

function inWords(
  { done, total, already, failures }: CollectionResult,
  { data, shard }: Pick<Options, 'data' | 'shard'>,
): string {
  const whose = shard === undefined ? '' : ` of shard ${shard.index} of ${shard.of}`;
  return [
    `${done} of ${total} dialogues${whose} are in ${data}${already === 0 ? '' : `, ${already} of them from before`}.`,
    ...failures.map(({ message, count }) => `${count} failed: ${message}`),
    ...(failures.length === 0 ? [] : ['The same command tries them again.']),
  ].join('\n');
}
