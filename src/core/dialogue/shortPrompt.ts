import path from 'node:path';

/** Name of the shipped agent.md for small models, accepted wherever a user names a prompt folder or file. */
export const SHORT = 'short';

/** @param shipped the folder of the prompts that ship with Tandem */
export const shortPrompt = (shipped: string): string => path.join(shipped, SHORT, 'agent.md');
