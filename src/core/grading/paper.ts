/** What an answer may not contain anywhere, comments included, in the published grader. Only what is known for certain. */
const bannedTexts = ['import os'];

/** The banned text that the code contains, if any. */
export function bannedText(code: string): string | undefined {
  return bannedTexts.find((text) => code.includes(text));
}
