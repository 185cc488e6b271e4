import { createHash } from 'node:crypto';

export const SPLITS = ['train', 'development', 'test'] as const;
export type Split = (typeof SPLITS)[number];

/** Kinds of generated tasks: `tandem world --kind`, `tandem loop --world`. */
export const WORLDS = ['functions', 'pages', 'twenty-questions'] as const;
export type World = (typeof WORLDS)[number];

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

export const hash = (text: string): number => digest(text).readUInt32BE();

/** Puts 70 of a hundred structures into the train split, 10 into development and 20 into test. */
export function splitOf(structure: string): Split {
  const hundredth = hash(structure) % 100;
  return hundredth < 70 ? 'train' : hundredth < 80 ? 'development' : 'test';
}

/** How the ids of a world's tasks begin. */
const ID_PREFIXES: Readonly<Record<string, World>> = {
  starter: 'functions',
  pages: 'pages',
  questions: 'twenty-questions',
};

/** Undefined for a task that no world has made. */
export function worldOf({ id }: { readonly id: string }): World | undefined {
  const [, prefix] = /^(starter|pages|questions)-(?:train|development|test)-/.exec(id) ?? [];
  return prefix === undefined ? undefined : ID_PREFIXES[prefix];
}

/** True for the tasks to learn from. */
export const teaches = ({ id }: { readonly id: string }): boolean =>
  /^(?:starter|pages|questions)-train-/.test(id);

export const contentId = (...content: readonly unknown[]): string =>
  digest(JSON.stringify(content)).toString('hex').slice(0, 12);
