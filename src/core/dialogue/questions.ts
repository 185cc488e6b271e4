import {
  asks,
  isConfirmation,
  kindOf,
  LIST_HEADER,
  SECOND_QUESTION,
  type QuestionKind,
} from './questionKind';
import { fencedRanges } from './markers';

export interface Question {
  readonly kind: QuestionKind;
  readonly text: string;
  /** Text right before it, which may name what the question is about. */
  readonly context: string;
  /** True for the second half of a sentence if its first half asks something too. */
  readonly continues: boolean;
}

const MAX_MESSAGE_CHARS = 20_000;

/** Sentences, list items and both halves of "… and how …". */
export function questionsOf(message: string): Question[] {
  const questions: Question[] = [];
  let before = '';
  for (const { text, listed } of sentencesOf(message.slice(0, MAX_MESSAGE_CHARS))) {
    if (isConfirmation(text)) {
      // "I would round up. Is that right?" asks about rounding.
      if (before !== '')
        questions.push({ kind: kindOf(before), text: before, context: '', continues: false });
      before = '';
      continue;
    }
    if (listed || asks(text)) {
      for (const [i, part] of text.split(SECOND_QUESTION).entries()) {
        questions.push({ kind: kindOf(part), text: part, context: before, continues: i > 0 });
        before = part;
      }
    }
    before = text;
  }
  return questions;
}

interface Sentence {
  readonly text: string;
  /** True for a list item under a line such as "I need to know:". */
  readonly listed: boolean;
}

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

function sentencesOf(message: string): Sentence[] {
  const sentences: Sentence[] = [];
  let underHeader = false;
  for (const line of withoutCode(message).split('\n')) {
    const item = /^\s*(?:[-*+•]|\(?\d+[.)]|\(?[a-z][.)])\s+/.exec(line)?.[0] ?? '';
    const text = line
      .slice(item.length)
      .replace(/[*`#]+/g, '')
      .trim();
    if (text === '') continue;
    if (text.endsWith(':') && !text.includes('?')) {
      underHeader = LIST_HEADER.test(text);
      continue;
    }
    underHeader &&= item !== '';
    for (const { segment } of segmenter.segment(text))
      for (const clause of segment.split(';'))
        if (clause.trim() !== '') sentences.push({ text: clause.trim(), listed: underHeader });
  }
  return sentences;
}

function withoutCode(message: string): string {
  let text = '';
  let end = 0;
  for (const range of fencedRanges(message)) {
    text += message.slice(end, range.start);
    end = range.end;
  }
  return text + message.slice(end);
}
