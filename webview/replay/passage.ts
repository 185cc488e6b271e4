import type { Found } from './protocol';

const NAME = 'found';

export function clearPassage(): void {
  CSS.highlights.delete(NAME);
}

/** Goes to what a search has found, in whatever case. The words are marked in the drawn text, because its elements belong to Lit. */
export function showPassage(page: HTMLElement, { turn, by, words }: Found): void {
  const places = [...page.querySelectorAll<HTMLElement>(placesOf(turn, by))];
  const ranges = places.flatMap((place) => rangesOf(place, words));
  CSS.highlights.set(NAME, new Highlight(...ranges));
  const found = ranges[0]?.startContainer.parentElement ?? places[0];
  for (let fold = found?.closest('details'); fold != null; fold = fold.parentElement?.closest('details'))
    fold.open = true;
  const group = found?.closest<HTMLElement>('.played, .note');
  if (found === undefined || group == null) return;
  group.tabIndex = -1;
  group.focus({ preventScroll: true });
  found.scrollIntoView({ block: 'center' });
}

function placesOf(turn: number, by: Found['by']): string {
  if (by === 'note') return '.note';
  const said = by === 'agent' ? '.from-agent' : ':not(.from-agent)';
  return `.played[data-turn="${turn}"] .message${said} .said`;
}

function rangesOf(place: HTMLElement, words: readonly string[]): Range[] {
  const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
  const ranges: Range[] = [];
  while (walker.nextNode() !== null) {
    const node = walker.currentNode as Text;
    const text = node.data.toLowerCase();
    // `İ` becomes two characters, so that offsets after it would be wrong.
    if (text.length !== node.data.length) continue;
    for (const word of words) {
      for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + word.length)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        ranges.push(range);
      }
    }
  }
  return ranges;
}
