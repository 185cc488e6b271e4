import { existsSync } from 'node:fs';
import { Option } from 'commander';
import { writeStarterPack, type StarterPack } from '../../core/task/starter/worlds';
import { DIFFICULTIES, SPLITS } from '../../core/task/starter/world';
import { WORLDS, type World } from '../../core/task/starter/splits';
import { wholeNumber, wrongUse, type Install, type CommandResult, type CliContext } from '../command';

interface Options extends Omit<StarterPack, 'world'> {
  readonly kind: World;
  readonly overwrite?: boolean;
}

export const installWorld: Install = (program, perform) => {
  program
    .command('world')
    .description(
      'write tasks of the starter world: small functions or web pages whose decisions only the collaborator knows, or figures to find by twenty questions',
    )
    .argument('<out>', 'the file to write, JSON lines')
    .addOption(new Option('--kind <kind>', 'what the tasks ask for').choices(WORLDS).default('functions'))
    .requiredOption('--tasks <n>', 'the number of tasks', wholeNumber('--tasks', 1))
    .addOption(
      new Option('--split <split>', 'tasks of different splits share no structure, and no figure')
        .choices(SPLITS)
        .default('train'),
    )
    .option(
      '--seed <s>',
      'seed of the generator; another seed draws other tasks of the split',
      wholeNumber('--seed'),
      0,
    )
    .addOption(
      new Option(
        '--difficulty <difficulty>',
        'how much there is to find out, and how much the request hints at',
      )
        .choices(Object.keys(DIFFICULTIES))
        .default('standard'),
    )
    .option('--overwrite', 'replace a file of that name')
    .action((out: string, options: Options) => perform((to) => writeWorld(out, options, to)));
};

async function writeWorld(
  out: string,
  { overwrite, kind, tasks, split, seed, difficulty }: Options,
  { signal }: CliContext,
): Promise<CommandResult> {
  if (existsSync(out) && overwrite !== true) {
    throw wrongUse(`${out} is there already; add --overwrite to replace it.`);
  }
  await writeStarterPack(out, { world: kind, tasks, split, seed, difficulty }, signal);
  return {
    summary: { file: out, kind, tasks, split, seed, difficulty },
    print: () => `Wrote ${tasks} tasks (${kind}, ${split}, ${difficulty}, seed ${seed}) to ${out}.`,
  };
}
