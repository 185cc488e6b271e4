import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { Fault, messageOf } from '../fault';
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
} as const;

export type AgentPrompt = 'agent.md' | 'agent-page.md';

export const agentPromptFor = (task: Task): AgentPrompt => (isProgram(task) ? 'agent.md' : 'agent-page.md');

type PromptFile = keyof typeof placeholders;

/** Placeholders that a prompt must use; without them a model would not know what the dialogue is about, unnoticed. */
const required: { readonly [F in PromptFile]: readonly (typeof placeholders)[F][number][] } = {
  'agent.md': ['description'],
  'agent-page.md': ['description'],
  'simulator.md': ['hiddenInformation', 'transcript'],
};

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;
const LEADING_COMMENT = /^\s*<!--[\s\S]*?-->\s*/;

export class Prompts {
  private readonly digests: Readonly<Record<PromptFile, string>>;

  private constructor(private readonly texts: Readonly<Record<PromptFile, string>>) {
    const digest = (file: PromptFile): string =>
      createHash('sha256').update(texts[file]).digest('hex').slice(0, 12);
    this.digests = {
      'agent.md': digest('agent.md'),
      'agent-page.md': digest('agent-page.md'),
      'simulator.md': digest('simulator.md'),
    };
  }

  /**
   * Reads the prompts that ship with Tandem, each replaced by the file of the same name in `folder` if there is one.
   * @param folder the user's prompt folder, or the word `short`
   * @param agent a file that replaces agent.md, whatever its name, or the word `short`
   * @throws {Fault} `dialogue/prompt-folder` when `folder` holds no prompt; `dialogue/prompt` when a file cannot be
   * read, is empty, lacks a placeholder that it needs or names one that does not exist
   */
  static async load(shipped: string, folder?: string, agent?: string): Promise<Prompts> {
    if (folder === SHORT || agent === SHORT) return Prompts.load(shipped, undefined, shortPrompt(shipped));
    const own = folder === undefined ? [] : await promptsIn(folder);
    const place = (file: PromptFile): string => path.join(own.includes(file) ? folder! : shipped, file);
    return new Prompts({
      'agent.md': await readPrompt('agent.md', agent ?? place('agent.md')),
      'agent-page.md': await readPrompt('agent-page.md', place('agent-page.md')),
      'simulator.md': await readPrompt('simulator.md', place('simulator.md')),
    });
  }

  /** Of the prompts that functions are played with; they name collections, so pages have their own. */
  get versions(): Readonly<Record<string, string>> {
    const { 'agent.md': agent, 'simulator.md': simulator } = this.digests;
    return { 'agent.md': agent, 'simulator.md': simulator };
  }

  versionsFor(task: Task): Readonly<Record<string, string>> {
    return isProgram(task) ? this.versions : this.pageVersions;
  }

  get pageVersions(): Readonly<Record<string, string>> {
    return { 'agent-page.md': this.digests['agent-page.md'] };
  }

  /** Without the prompt's leading comment. */
  render<F extends PromptFile>(
    file: F,
    values: Record<(typeof placeholders)[F][number], string | number>,
  ): string {
    const byName: Record<string, string | number> = values;
    return this.texts[file]
      .replace(LEADING_COMMENT, '')
      .replace(PLACEHOLDER, (_, name: string) => String(byName[name.trim()]))
      .trim();
  }
}

async function promptsIn(folder: string): Promise<string[]> {
  const files = Object.keys(placeholders);
  const names = await readdir(folder).catch((error: unknown) => {
    throw new Fault(
      'dialogue/prompt-folder',
      `The prompt folder ${folder} cannot be read: ${messageOf(error)}. Give a folder with ${files.join(' or ')}, or none to use Tandem's prompts.`,
      { cause: error },
    );
  });
  const own = files.filter((file) => names.includes(file));
  if (own.length > 0) return own;
  throw new Fault(
    'dialogue/prompt-folder',
    `The prompt folder ${folder} holds neither ${files.join(' nor ')}; put at least one of them there, or give no folder to use Tandem's prompts.`,
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
