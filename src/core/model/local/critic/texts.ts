import { TurnText } from '../turnText';

/**
 * What each token adds to the text of a turn: nothing for one that is special or only begins a character, which the last
 * of its tokens then adds whole.
 */
export function textsOf(ids: readonly number[], decode: (ids: readonly number[]) => string): string[] {
  const text = new TurnText(decode, []);
  const texts = ids.map((id) => text.push(id));
  const { rest } = text.end();
  if (rest !== '') texts.push((texts.pop() ?? '') + rest);
  return texts;
}
