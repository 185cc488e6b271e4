import path from 'node:path';
import * as z from 'zod';
import { Fault } from '../fault';
import { checkPack } from '../task/pack';
import { defineTool, firstOf, isWithin, MAX_LISTED, type Workplace } from './tool';

export const listPacks = defineTool({
  title: 'List packs',
  about: 'Lists the packs of tasks that can be played here.',
  description:
    'Lists the packs of tasks in this workspace that can be played: how many tasks and tests each has, how many the rule-based simulator can play (functions with facts, and all web pages), and which lines are no tasks. Tasks are Python functions and web pages to make together, in the form of ColBench; their references and tests stay hidden. Call it before tandem_collect and tandem_evaluate to learn the names of the packs.',
  effect: 'reads',
  asksModels: false,
  input: z.strictObject({}),
  run: async (_, at, { signal, report }) => {
    const files = await at.packs();
    const listed = files.slice(0, MAX_LISTED);
    const packs: Readonly<Record<string, unknown>>[] = [];
    const lines: string[] = [];
    for (const file of listed) {
      const name = nameOf(file, at);
      report(`Reading ${name}`, packs.length, listed.length);
      try {
        const { tasks, tests, pages, withFacts, bad } = await checkPack(file, { signal });
        // A link may lead anywhere, and reasons quote what stands there.
        const quotes = await isWithin(file, [at.folder]);
        const badLines = quotes ? firstOf(bad.map(({ line, reason }) => `line ${line}: ${reason}`)) : [];
        packs.push({ pack: name, tasks, tests, pages, withFacts, badLines });
        lines.push(
          `${name}: ${tasks} tasks, ${withFacts} of them with facts, ${pages === 0 ? '' : `${pages} web pages, `}${tests} tests, ${bad.length} bad lines.`,
        );
      } catch (error) {
        // One file that cannot be read must not hide the others.
        if (!(error instanceof Fault)) throw error;
        packs.push({ pack: name, refused: error.message });
        lines.push(`${name} cannot be played: ${error.message}`);
      }
    }
    if (files.length === 0) lines.push(`There is no pack of tasks in ${at.folder}.`);
    if (files.length > listed.length)
      lines.push(
        `${files.length - listed.length} more packs are not listed; they can be played by their paths.`,
      );
    return { lines, data: { packs, total: files.length } };
  },
});

export const packsInput = z
  .array(z.string().min(1))
  .describe('Packs to play, as tandem_list_packs names them.');

/**
 * @param names paths relative to the folder, or file names where only one pack has it
 * @throws {Fault} `tools/unknown-pack`
 */
export async function packsNamed(names: readonly string[], at: Workplace): Promise<string[]> {
  const files = await at.packs();
  return [...new Set(names.map((name) => packNamed(name, files, at)))];
}

function packNamed(name: string, files: readonly string[], at: Workplace): string {
  const exact = files.find((file) => file === path.resolve(at.folder, name));
  const alike = files.filter((file) => [path.basename(file), path.parse(file).name].includes(name));
  const found = exact ?? (alike.length === 1 ? alike[0] : undefined);
  if (found !== undefined) return found;
  const choices = (alike.length > 1 ? alike : files).map((file) => nameOf(file, at));
  const choice = choices.slice(0, MAX_LISTED).join(', ');
  throw new Fault(
    'tools/unknown-pack',
    alike.length > 1
      ? `"${name}" may be any of ${choice}; write its whole path.`
      : `There is no pack "${name}" here; ${choice === '' ? 'there is none at all' : `there are ${choice}`}.`,
  );
}

/** Relative to the folder, with slashes. */
const nameOf = (file: string, { folder }: Workplace): string =>
  path.relative(folder, file).replaceAll(path.sep, '/');
