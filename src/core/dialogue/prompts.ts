import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { Fault, messageOf } from '../fault';
import type { ContentPart } from '../model/model';
import { isProgram, type Task } from '../task/task';
import { isUnfit, MB, readText } from '../regularFile';

/**
 * The placeholders that each prompt file may use. Users replace a prompt by a file of the same name in their own
 * folder.
 */
const placeholders = {
  'agent.md': ['description', 'maxTurns', 'replyLimit'],
  'agent-page.md': ['description', 'maxTurns', 'replyLimit'],
  'simulator.md': ['description', 'hiddenInformation', 'transcript', 'replyLimit'],
  'simulator-specification.md': ['description', 'requirements', 'persona', 'transcript', 'replyLimit'],
  'simulator-page.md': ['draft', 'wanted', 'replyLimit'],
  'simulator-outline.md': ['draft', 'wanted', 'replyLimit'],
} as const;

export type AgentPrompt = 'agent.md' | 'agent-page.md';

export const agentPromptFor = (task: Task): AgentPrompt => (isProgram(task) ? 'agent.md' : 'agent-page.md');

type PromptFile = keyof typeof placeholders;

const FILES = Object.keys(placeholders) as PromptFile[];

const mapFiles = <T>(value: (file: PromptFile) => T): Record<PromptFile, T> =>
  Object.fromEntries(FILES.map((file) => [file, value(file)])) as Record<PromptFile, T>;

/** Placeholders that a prompt must use; without them a model would not know what the dialogue is about, unnoticed. */
const required: { readonly [F in PromptFile]: readonly (typeof placeholders)[F][number][] } = {
  'agent.md': ['description'],
  'agent-page.md': ['description'],
  'simulator.md': ['hiddenInformation', 'transcript'],
  'simulator-specification.md': ['requirements', 'persona', 'transcript'],
  'simulator-page.md': ['draft', 'wanted'],
  'simulator-outline.md': ['draft', 'wanted'],
};

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;
const LEADING_COMMENT = /^\s*<!--[\s\S]*?-->\s*/;

export class Prompts {
  private readonly digests: Readonly<Record<PromptFile, string>>;

  private constructor(private readonly texts: Readonly<Record<PromptFile, string>>) {
    this.digests = mapFiles((file) => createHash('sha256').update(texts[file]).digest('hex').slice(0, 12));
  }

  /**
   * Reads the prompts that ship with Tandem, each replaced by the file of the same name in `folder` if there is one.
   * @param folder the user's prompt folder, or the word `short`
   * @param own a file that replaces agent.md, whatever its name, or the word `short`
   * @param replaced the prompt that `own` replaces
   * @throws {Fault} `dialogue/prompt-folder` when `folder` holds no prompt; `dialogue/prompt` when a file cannot be
   * read, is empty, lacks a placeholder that it needs or names one that does not exist
   */
  static async load(
    shipped: string,
    folder?: string,
    own?: string,
    replaced: 'agent.md' | 'simulator.md' = 'agent.md',
  ): Promise<Prompts> {
    if (folder === SHORT || own === SHORT) return Prompts.load(shipped, undefined, shortPrompt(shipped));
    const inFolder = folder === undefined ? [] : await promptsIn(folder);
    const place = (file: PromptFile): string => path.join(inFolder.includes(file) ? folder! : shipped, file);
    const texts = new Map<PromptFile, string>();
    for (const file of FILES)
      texts.set(file, await readPrompt(file, file === replaced ? (own ?? place(file)) : place(file)));
    return new Prompts(mapFiles((file) => texts.get(file)!));
  }

  /** Of the prompts that functions are played with; they name collections, so pages have their own. */
  get versions(): Readonly<Record<string, string>> {
    return this.digestsOf('agent.md', 'simulator.md');
  }

  versionsFor(task: Task): Readonly<Record<string, string>> {
    return isProgram(task) ? this.versions : this.pageVersions;
  }

  /** Of a simulator that is given a specification. */
  get specificationVersions(): Readonly<Record<string, string>> {
    return this.digestsOf('simulator-specification.md');
  }

  get pageVersions(): Readonly<Record<string, string>> {
    return this.digestsOf('agent-page.md', 'simulator-page.md', 'simulator-outline.md');
  }

  /** Without the prompt's leading comment. */
  render<F extends PromptFile>(
    file: F,
    values: Record<(typeof placeholders)[F][number], string | number>,
  ): string {
    return this.texts[file]
      .replace(LEADING_COMMENT, '')
      .replace(PLACEHOLDER, (_, name: string) => String((values as Values)[name.trim()]))
      .trim();
  }

  /** As `render`, cut where pictures stand. */
  renderParts<F extends PromptFile>(
    file: F,
    values: Record<(typeof placeholders)[F][number], string | number | Buffer>,
  ): ContentPart[] {
    const parts: ContentPart[] = [];
    let text = '';
    const end = (): void => {
      if (text.trim() !== '') parts.push({ type: 'text', text: text.trim() });
      text = '';
    };
    // The names of the placeholders stand at the odd places.
    for (const [at, piece] of this.texts[file].replace(LEADING_COMMENT, '').split(PLACEHOLDER).entries()) {
      const value = at % 2 === 0 ? piece : (values as Values)[piece.trim()];
      if (Buffer.isBuffer(value)) {
        end();
        parts.push({ type: 'picture', png: value });
      } else text += String(value);
    }
    end();
    return parts;
  }

  private digestsOf(...files: readonly PromptFile[]): Record<string, string> {
    return Object.fromEntries(files.map((file) => [file, this.digests[file]]));
  }
}

type Values = Readonly<Record<string, string | number | Buffer>>;

async function promptsIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    throw new Fault(
      'dialogue/prompt-folder',
      `The prompt folder ${folder} cannot be read: ${messageOf(error)}. Give a folder with ${FILES.join(' or ')}, or none to use Tandem's prompts.`,
      { cause: error },
    );
  });
  const own = FILES.filter((file) => names.includes(file));
  if (own.length > 0) return own;
  throw new Fault(
    'dialogue/prompt-folder',
    `The prompt folder ${folder} holds neither ${FILES.join(' nor ')}; put at least one of them there, or give no folder to use Tandem's prompts.`,
  );
}

const MAX_PROMPT_BYTES = MB;

async function readPrompt(file: PromptFile, where: string): Promise<string> {
  const text = await readText(where, MAX_PROMPT_BYTES).catch((error: unknown) => {
    if (isUnfit(error)) throw error;
    throw new Fault(
      'dialogue/prompt',
      `The prompt file ${where} cannot be read: ${messageOf(error)}. Fix it or remove it.`,
      { cause: error },
    );
  });
  const marked = text.replace(/^\uFEFF/, '');
  check(file, where, marked.replace(LEADING_COMMENT, ''));
  return marked;
}

function check(file: PromptFile, where: string, text: string): void {
  if (text.trim() === '')
    throw new Fault('dialogue/prompt', `The prompt ${where} is empty. Write one or remove the file.`);
  const known: readonly string[] = placeholders[file];
  const used = [...text.matchAll(PLACEHOLDER)].map((match) => match[1]!.trim());
  const unknown = used.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new Fault(
      'dialogue/prompt',
      `The prompt ${where} uses {{${unknown}}}, which does not exist; it may use ${list(known)}.`,
    );
  }
  const missing = required[file].filter((name) => !used.includes(name));
  if (missing.length === 0) return;
  throw new Fault(
    'dialogue/prompt',
    `The prompt ${where} lacks ${list(missing)}, without which the model does not know what to do. Put it where the text belongs.`,
  );
}

const list = (names: readonly string[]): string => names.map((name) => `{{${name}}}`).join(', ');

/** Name of the shipped agent.md for small models, accepted wherever a user names a prompt folder or file. */
export const SHORT = 'short';

export const shortPrompt = (shipped: string): string => path.join(shipped, SHORT, 'agent.md');
