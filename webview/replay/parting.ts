import { diffArrays } from 'diff';
import { renderMarkdown, renderPlain } from '../dialogue/markdown';

/** The first message that differs, or that only one of the dialogues has. */
export interface Parting {
  /** From 1. */
  readonly turn: number;
  readonly by: 'message' | 'reply';
  /** Index of the dialogue that continues when the other one has ended. */
  readonly only?: 0 | 1;
}

/** Safe HTML of one turn, in which the words are marked that the other dialogue does not have there. */
interface MarkedTurn {
  readonly message?: string;
  readonly reply?: string;
}

export interface Apart {
  readonly parting: Parting;
  readonly marked: readonly MarkedTurn[];
}

export interface Said {
  readonly visible: string;
  readonly left?: number;
  readonly final: boolean;
  /** The page that `visible` leaves out. */
  readonly draft?: { readonly source: string };
  readonly reply?: { readonly text: string };
}

/** Undefined when both say the same. Thoughts do not count, because the other side does not see them. */
export function partingOf(first: readonly Said[], second: readonly Said[]): Parting | undefined {
  const both = Math.min(first.length, second.length);
  for (let index = 0; index < both; index += 1) {
    const [one, other] = [first[index]!, second[index]!];
    const turn = index + 1;
    const isSame =
      one.visible === other.visible &&
      one.left === other.left &&
      one.final === other.final &&
      one.draft?.source === other.draft?.source;
    if (!isSame) return { turn, by: 'message' };
    if (one.reply?.text !== other.reply?.text) return { turn, by: 'reply' };
  }
  if (first.length === second.length) return undefined;
  return { turn: both + 1, by: 'message', only: first.length > second.length ? 0 : 1 };
}

export function apart(first: readonly Said[], second: readonly Said[]): readonly [Apart, Apart] | undefined {
  const parting = partingOf(first, second);
  if (parting === undefined) return undefined;
  const pairs = first.slice(0, second.length).map((one, index) => {
    const other = second[index]!;
    const message = marked(renderMarkdown(one.visible), renderMarkdown(other.visible));
    const reply = marked(renderPlain(one.reply?.text ?? ''), renderPlain(other.reply?.text ?? ''));
    return { message, reply };
  });
  const of = (index: 0 | 1): Apart => ({
    parting,
    marked: pairs.map(({ message, reply }) => ({ message: message?.[index], reply: reply?.[index] })),
  });
  return [of(0), of(1)];
}

/** Words that only one text has, at most; the time of a comparison grows with their square. */
const MAX_WORDS = 200;

/**
 * Marks the words of each text that the other does not have at that place.
 * @param first safe HTML, as `renderMarkdown` returns it: `<` and `>` stand around tags and nowhere else
 * @returns undefined when the texts are the same, or share less than half of their words, so that nearly everything
 * would be marked
 */
export function marked(first: string, second: string): readonly [string, string] | undefined {
  if (first === second) return undefined;
  const [ones, others] = [partsOf(first), partsOf(second)];
  const [words, otherWords] = [ones.filter(isWord), others.filter(isWord)];
  const maxEditLength = Math.min(MAX_WORDS, Math.floor((words.length + otherWords.length) / 2));
  const changes = diffArrays(
    words.map(({ text }) => text),
    otherWords.map(({ text }) => text),
    { maxEditLength },
  );
  if (changes?.some(({ added, removed }) => added || removed) !== true) return undefined;
  const only = (isRemoved: boolean): boolean[] =>
    changes
      .filter(({ added, removed }) => (isRemoved ? !added : !removed))
      .flatMap(({ added, removed, value }) => value.map(() => added || removed));
  return [withMarks(ones, only(true)), withMarks(others, only(false))];
}

interface Part {
  readonly kind: 'tag' | 'word' | 'space';
  /** HTML of a tag; else the text itself. */
  readonly text: string;
}

const isWord = ({ kind }: Part): boolean => kind === 'word';

/** Scripts without spaces have words too. A punctuation mark is a word of its own. */
const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

function partsOf(html: string): Part[] {
  return html.split(/(<[^<>]*>)/).flatMap((piece, index): Part[] => {
    if (index % 2 === 1) return [{ kind: 'tag', text: piece }];
    return Array.from(segmenter.segment(unescaped(piece)), ({ segment }) => ({
      kind: segment.trim() === '' ? 'space' : 'word',
      text: segment,
    }));
  });
}

/** @param marks one for each word: whether it is marked. Space between marked words is marked with them */
function withMarks(parts: readonly Part[], marks: readonly boolean[]): string {
  let html = '';
  let space = '';
  let isOpen = false;
  let word = 0;
  const close = (): void => {
    html += isOpen ? `</mark>${space}` : space;
    [isOpen, space] = [false, ''];
  };
  for (const { kind, text } of parts) {
    if (kind === 'space') space += escaped(text);
    else if (kind === 'tag') {
      close();
      html += text;
    } else {
      const isMarked = marks[word] === true;
      word += 1;
      if (isOpen && isMarked) {
        html += space;
        space = '';
      } else {
        close();
        if (isMarked) html += '<mark>';
        isOpen = isMarked;
      }
      html += escaped(text);
    }
  }
  close();
  return html;
}

const NAMES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#x27;' } as const;
const CHARACTERS = new Map(Object.entries(NAMES).map(([character, name]) => [name as string, character]));

const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => NAMES[character as keyof typeof NAMES]);

const unescaped = (html: string): string =>
  html.replace(/&(?:amp|lt|gt|quot|#x27);/g, (name) => CHARACTERS.get(name)!);
