import path from 'node:path';

/** Stands for the shipped agent.md for small models wherever a folder or a file of one's own is named. */
export const SHORT = 'short';

/** @param shipped the folder of the prompts that ship with Tandem */
export const shortPrompt = (shipped: string): string => path.join(shipped, SHORT, 'agent.md');
