import path from 'node:path';
import { specifyPack, type SpecifiedPack } from '../../core/dialogue/specification/specifyPack';
import { openModel } from '../../core/model/spec';
import { wrongUse, type CliContext, type CommandResult, type Install } from '../command';
import { keyEnvOption, namedKeys } from '../keys';
import { jobsOption, MODEL_WORDS, modelOptions, usageOf, whole } from '../play';
import { openGrader, Opened } from '../resources';
import { Progress, say } from '../terminal';

interface Options {
  readonly model: string;
  readonly checker?: string;
  readonly concurrency: number;
  readonly jobs?: number;
  readonly keyEnv?: readonly string[];
}

export const installSpecify: Install = (program, perform) => {
  program
    .command('specify')
    .description(
      'put what functions must do into words, checked by their tests, for --simulator specification:<model>; run the same command again to continue after a stop',
    )
    .argument('<pack>', 'tasks; those with facts need no specification')
    .argument('<out>', 'the pack with specifications, JSON lines')
    .requiredOption('--model <model>', `reads the reference and writes the requirements: ${MODEL_WORDS}`)
    .option(
      '--checker <model>',
      'writes the function from request and requirements alone, which must pass the tests (default: the model)',
    )
    .addOption(whole('--concurrency <n>', 'tasks at once', 1, 4))
    .addOption(jobsOption())
    .addOption(keyEnvOption())
    .action(perform(specify));
};

async function specify(pack: string, out: string, options: Options, to: CliContext): Promise<CommandResult> {
  if (path.resolve(pack) === path.resolve(out))
    throw wrongUse(`${out} is the pack itself; name another file.`);
  await using opened = new Opened();
  const { model, checker = model, concurrency, jobs } = options;
  const keyOf = namedKeys(options.keyEnv, [model, checker]);
  const drafter = opened.add(openModel(model, modelOptions(to, keyOf)));
  const reader = checker === model ? drafter : opened.add(openModel(checker, modelOptions(to, keyOf)));
  const grader = opened.add(await openGrader({ assets: to.assets, workers: jobs }));
  using progress = new Progress('specify', 'tasks');
  const result = await specifyPack({
    ...{ pack, out, drafter, checker: reader, grader, concurrency, signal: to.signal, onLeftOut: say },
    onProgress: (done, total) => progress.update(done, total),
  });
  const models = new Set([drafter, reader]);
  return {
    summary: { out, ...result, usage: [...models].map(({ name, counts }) => ({ name, ...counts })) },
    print: () => [inWords(result, out), ...result.failures, ...[...models].flatMap(usageOf)].join('\n'),
    failed: result.failures.length > 0,
  };
}

function inWords({ tasks, states, pages, failures }: SpecifiedPack, out: string): string {
  const { facts, passed, failed, unchecked } = states;
  const counts = [
    `${facts} have facts`,
    `${passed} a specification that passed its check`,
    `${failed} one that failed it`,
    `${unchecked} an unchecked one`,
    `${failures.length} none`,
    ...(pages > 0 ? [`${pages} are web pages`] : []),
  ];
  return `Wrote ${tasks} tasks to ${out}: ${counts.join(', ')}.`;
}
