import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Fault } from '../fault';

/** The prompt files. A user replaces one by a file of the same name in a folder of his own. */
const placeholders = {
  'agent.md': ['description', 'maxTurns', 'replyLimit'],
  'simulator.md': ['description', 'hiddenInformation', 'transcript', 'replyLimit'],
} as const;

type PromptFile = keyof typeof placeholders;

export class Prompts {
  /** Name and content hash of each file, as the log keeps them. */
  readonly versions: Readonly<Record<string, string>>;

  private constructor(private readonly texts: Readonly<Record<PromptFile, string>>) {
    this.versions = Object.fromEntries(
      Object.entries(texts).map(([file, text]) => [
        file,
        createHash('sha256').update(text).digest('hex').slice(0, 12),
      ]),
    );
  }

  /**
   * Reads the prompts that ship with Tandem, each replaced by the file of the same name in `folder` if there is one.
   * @throws {Fault} `dialogue/prompt` when a file names a placeholder that does not exist
   */
  static async load(shipped: string, folder?: string): Promise<Prompts> {
    const read = async (file: PromptFile): Promise<string> => {
      const own = folder === undefined ? undefined : await readIfThere(path.join(folder, file));
      const text = own ?? (await readFile(path.join(shipped, file), 'utf8'));
      check(file, text, own === undefined ? shipped : folder!);
      return text;
    };
    return new Prompts({ 'agent.md': await read('agent.md'), 'simulator.md': await read('simulator.md') });
  }

  render<F extends PromptFile>(
    file: F,
    values: Record<(typeof placeholders)[F][number], string | number>,
  ): string {
    const byName: Record<string, string | number> = values;
    return this.texts[file]
      .replace(/^<!--[\s\S]*?-->\s*/, '')
      .replace(/\{\{(\w+)\}\}/g, (_, name: string) => String(byName[name]))
      .trim();
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Fault(
      'dialogue/prompt',
      `The prompt file ${file} cannot be read: ${(error as Error).message}. Mend it or remove it.`,
      { cause: error },
    );
  }
}

function check(file: PromptFile, text: string, folder: string): void {
  const known: readonly string[] = placeholders[file];
  const unknown = [...text.matchAll(/\{\{(\w+)\}\}/g)]
    .map((m) => m[1]!)
    .find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new Fault(
    'dialogue/prompt',
    `The prompt ${path.join(folder, file)} uses {{${unknown}}}, which does not exist; it may use ${known.map((name) => `{{${name}}}`).join(', ')}.`,
  );
}
