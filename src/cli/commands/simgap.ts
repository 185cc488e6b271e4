import path from 'node:path';
import { Prompts } from '../../core/dialogue/prompts';
import { openSimulator } from '../../core/dialogue/openSimulator';
import { simulatorGap, type SimulatorGap } from '../../core/evaluation/people/simulatorGap';
import { gapFindings, gapNotes, gapTables } from '../../core/evaluation/report/simulatorGap';
import { inEnglish } from '../../core/evaluation/report/table';
import { listIn } from '../../core/text';
import { wrongUse, type CliContext, type CommandResult, type Install } from '../command';
import { keyEnvOption, namedKeys } from '../keys';
import { dataOption, modelOptions, SIMULATOR_WORDS, usageOf, whole } from '../play';
import { Opened, openLog } from '../resources';
import { Progress, tableInWords } from '../terminal';

interface SimgapOptions {
  readonly data: string;
  readonly simulator: string;
  readonly people?: string;
  readonly limit?: number;
  readonly prompts?: string;
  readonly concurrency: number;
  readonly keyEnv?: readonly string[];
}

export const installSimgap: Install = (program, perform) => {
  program
    .command('simgap')
    .description(
      'compare a simulator with the people it stands for: it replies wherever they replied in the log',
    )
    .addOption(dataOption())
    .requiredOption('--simulator <model>', SIMULATOR_WORDS)
    .option('--people <names>', 'only these people, pseudonyms with commas between them')
    .addOption(whole('--limit <n>', 'only the newest n dialogues', 1))
    .addOption(whole('--concurrency <n>', 'replies at work at once', 1, 16))
    .option('--prompts <folder>', 'your own simulator.md')
    .addOption(keyEnvOption())
    .action(perform(simgap));
};

async function simgap(options: SimgapOptions, to: CliContext): Promise<CommandResult> {
  const { data, limit, concurrency } = options;
  const people = options.people === undefined ? undefined : listIn(options.people, ',');
  const keyOf = namedKeys(options.keyEnv, [options.simulator]);
  const prompts = await Prompts.load(path.join(to.assets, 'prompts'), options.prompts);
  await using opened = new Opened();
  const simulator = opened.add(openSimulator(options.simulator, prompts, modelOptions(to, keyOf)));
  const log = opened.add(await openLog(data, to.signal));
  const players = log.valuesOf('player').map(({ value }) => value);
  const unknown = people?.find((name) => !players.includes(name));
  if (unknown !== undefined) throw wrongUse(`No one called ${unknown} has played a dialogue in ${data}.`);
  const progress = new Progress('simgap', 'replies');
  const onProgress = (done: number, total: number, failed: number): void =>
    progress.update(done, total, failed === 0 ? '' : `${failed} failed`);
  try {
    const plan = { log, simulator, people, limit, concurrency, signal: to.signal, onProgress };
    const gap = await simulatorGap(plan);
    const { figures, ...summary } = gap;
    return {
      rows: Object.entries(figures).map(([figure, found]) => ({ figure, ...found })),
      summary: { data, ...summary },
      print: () => [...inWords(gap, data), ...usageOf(simulator)].join('\n'),
    };
  } finally {
    progress.end();
  }
}

function inWords(gap: SimulatorGap, data: string): string[] {
  const failures = gap.failures.map(({ message, replies }) => {
    const places = replies.map(({ episode, turn }) => `${episode} turn ${turn}`);
    return `${message} (${places.join(', ')})`;
  });
  if (gap.replies === 0)
    return [
      `No reply of a person in a finished dialogue about a function in ${data} could be compared.`,
      ...failures,
    ];
  return [
    ...gapTables(gap).flatMap((one) => [tableInWords(one), '']),
    ...[...gapFindings(gap), ...gapNotes(gap)].map(inEnglish),
    ...failures,
  ];
}
