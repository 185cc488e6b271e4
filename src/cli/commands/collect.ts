import { collect, collectionName, type CollectionResult } from '../../core/dialogue/collect';
import { settingsOf } from '../../core/evaluation/evaluate';
import type { Model } from '../../core/model/model';
import { openModel } from '../../core/model/spec';
import { TrajectoryLog } from '../../core/trajectory/log';
import type { Install, Outcome, Surroundings } from '../command';
import { openGrader } from '../grader';
import { addPlayOptions, preparePlay, type PlayOptions } from '../play';
import { startProgress } from '../terminal';

interface Options extends PlayOptions {
  readonly agent: string;
}

export const installCollect: Install = (program, perform) => {
  const command = program
    .command('collect')
    .description(
      'play tasks with an agent and a simulator, grade and log; the same command goes on after a stop',
    )
    .requiredOption('--agent <model>', 'openai:<model>[@<base URL>] or script:<file>');
  addPlayOptions(command, { temperature: 1 }).action((options: Options) =>
    perform((to) => collectDialogues(options, to)),
  );
};

async function collectDialogues(options: Options, to: Surroundings): Promise<Outcome> {
  const play = await preparePlay(options, to);
  const agent = openModel(options.agent);
  const grader = await openGrader({ assets: to.assets, workers: options.jobs });
  const log = await TrajectoryLog.open(options.data);
  const progress = startProgress('collect', 'dialogues');
  const { seed, rollouts, concurrency, mode } = options;
  const collection = collectionName('collection', settingsOf({ ...play, seed }, agent));
  try {
    const result = await collect({
      ...play,
      log,
      agent,
      grader,
      seed,
      rollouts,
      concurrency,
      mode,
      collection,
      signal: to.signal,
      onProgress: ({ done, total, failed }) =>
        progress.update(done, total, failed === 0 ? '' : `${failed} failed`),
    });
    return {
      summary: { collection, data: options.data, ...result, usage: agent.counts, notes: agent.notes },
      print: () => inWords(result, options.data, agent),
      failed: result.failed > 0,
    };
  } finally {
    progress.end();
    await log.close();
    await grader.close();
  }
}

function inWords({ done, total, already, failures }: CollectionResult, data: string, agent: Model): string {
  return [
    `${done} of ${total} dialogues are in ${data}${already === 0 ? '' : `, ${already} of them from before`}.`,
    ...failures.map(({ message, count }) => `${count} failed: ${message}`),
    ...(failures.length === 0 ? [] : ['The same command tries them again.']),
    ...usageOf(agent),
  ].join('\n');
}

/** What a model was asked and what its server does not give. */
export function usageOf({ name, counts, notes = [] }: Model): string[] {
  if (counts === undefined || counts.requests === 0) return [...notes];
  const { requests, retries, promptTokens, completionTokens } = counts;
  return [
    `${name}: ${requests} requests, ${retries} repeated, ${promptTokens} tokens read, ${completionTokens} written.`,
    ...notes,
  ];
}
