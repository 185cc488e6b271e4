import { html, type TemplateResult } from 'lit';

/**
 * A sentence with markup inside of it: translated as a whole, with its places left open, and then filled.
 * @param sentence with `{0}`, `{1}` … where the parts go: `t('In {0}.')`
 */
export function filled(sentence: string, ...parts: readonly TemplateResult[]): TemplateResult {
  // Every other piece is the number of a place.
  const pieces = sentence.split(/\{(\d+)\}/);
  return html`${pieces.map((piece, index) => (index % 2 === 0 ? piece : parts[Number(piece)]))}`;
}
