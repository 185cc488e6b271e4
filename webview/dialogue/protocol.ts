/** Shortens a model's name in the settings: it removes the server and all folders that do not tell models apart. */
export function shortened(model: string): string {
  const script = /^script:(?:.*[\\/])?([^\\/]+?)(?:\.json)?$/.exec(model)?.[1];
  // The folder of a trained model is called `model`, in the folder of its run.
  const folder = /^local:(?:.*?[\\/])?((?:[^\\/]+[\\/])?model|[^\\/]+)[\\/]*$/.exec(model)?.[1];
  return script ?? folder ?? model.replace(/^openai:/, '').replace(/@https?:\/\/.*/is, '');
}

/**
 * Replaces invisible characters by their code points. Text from models and programs may hold unseen characters
 * that change how the rest reads: overrides of the writing direction (CVE-2021-42574), terminal controls,
 * zero-width characters, tags. Letters of right-to-left scripts, and joiners that some scripts and emojis need, stay.
 */
export function withVisibleControls(text: string): string {
  return text.replace(HIDDEN, (character) => {
    const code = character.codePointAt(0)!.toString(16).toUpperCase();
    return `[U+${code.padStart(4, '0')}]`;
  });
}

const HIDDEN = new RegExp(
  [
    // Control characters, except tab and line ends.
    String.raw`[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]`,
    // A carriage return that ends no line takes a terminal back over what is written.
    String.raw`\r(?!\n)`,
    // Direction marks, embeddings, overrides, isolates.
    String.raw`[\u061C\u200E\u200F\u202A-\u202E\u2066-\u206F]`,
    // Zero-width characters, and characters without a glyph.
    String.raw`[\u00AD\u180E\u200B\u2028\u2029\u2060-\u2064\uFEFF\uFFF9-\uFFFB]`,
    String.raw`[\u{E0000}-\u{E007F}]`,
  ].join('|'),
  'gu',
);
