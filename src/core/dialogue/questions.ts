import { fencedRanges } from './markers';
import { stemmer } from 'stemmer';

/** Porter stems, in order. Names in snake_case are split into their words. */
export function stems(text: string): string[] {
  const words = text
    .toLowerCase()
    .replace(/['’]/g, '')
    .match(/\p{L}+|\p{N}+(?:\.\p{N}+)?/gu);
  return (words ?? []).map(stemOf);
}

/** Stems by word, kept because dialogues repeat the same words. */
const known = new Map<string, string>();
const MAX_CACHED_WORDS = 10_000;

function stemOf(word: string): string {
  const stem = known.get(word);
  if (stem !== undefined) return stem;
  if (known.size === MAX_CACHED_WORDS) known.clear();
  const found = stemmer(word);
  known.set(word, found);
  return found;
}

/**
 * `general`: it asks for rules or details, of one thing perhaps; `everything`: it wants all there is to know; `code`:
 * it wants the reference or the tests; `programming`: it is about how the program is written, not what it does.
 */
type QuestionKind = 'specific' | 'general' | 'everything' | 'code' | 'programming';

/** With or without a question mark. */
function asks(sentence: string): boolean {
  if (consistsOf(COURTESY, sentence)) return false;
  return endsAsQuestion(sentence) || REQUEST.test(sentence) || OPENS_AS_QUESTION.test(sentence);
}

function endsAsQuestion(sentence: string): boolean {
  const mark = sentence.lastIndexOf('?');
  return mark !== -1 && /^\W*$/.test(sentence.slice(mark));
}

/** True for "Is that right?", which asks only about the sentence before. */
function isConfirmation(sentence: string): boolean {
  return sentence.endsWith('?') && consistsOf(CONFIRMATION, sentence) && CONFIRMED.test(sentence);
}

function kindOf(question: string): QuestionKind {
  if (CODE.test(question)) return 'code';
  if (UNIVERSAL.test(question)) return 'everything';
  if (GENERAL.test(question) && !CASE.test(question)) return 'general';
  return PROGRAMMING.test(question) ? 'programming' : 'specific';
}

/** Matches a line that announces a list of questions; the caller checks that it ends with a colon. */
const LIST_HEADER =
  /\b(?:questions?|know|tell|clarify|clarification|details?|confirm|answer|unclear|ask|specify)\b/i;

/** Gap between two words that belong together. The limit keeps the search fast. */
const SOMETHING = '.{0,300}';

const QUESTION_WORD =
  '(?:what|whats|which|how|when|where|who|whose|why|whether|is|are|was|does|do|did|should|shall|can|could|would|will|may|must|has|have)';

/** Matches the joint before the second half of "… and how large is it". An "or" offers a choice and splits nothing. */
const SECOND_QUESTION = new RegExp(
  `(?:[,?]\\s*|(?<!\\s)\\s+)(?:and|also|plus)(?:\\s+also)?\\s+(?=${QUESTION_WORD}\\s)`,
  'i',
);

const OPENS_AS_QUESTION = new RegExp(
  `^(?:(?:and|also|so|then|finally|lastly|from|up to|to|at|in|on|by|for|until|above|below) )*${QUESTION_WORD}\\b`,
  'i',
);

const REQUEST_VERB =
  '(?:tell me|let me know|clarify|confirm|specify|explain|describe|list|share|show|give|provide|paste|send|reveal|state)';

const REQUEST = new RegExp(
  [
    "^(?:(?:and|also|so|then|now|ok|okay),? )*(?:i(?:'ll|'d| will| would|'m| am)? )?(?:assum(?:e|ing)|presum(?:e|ing))\\b",
    `(?:^(?:(?:and|also|so|then|now|first) )*|\\bplease )(?:also )?${REQUEST_VERB}\\b`,
    `\\bi(?:'d| would)? (?:need|like|want|have) to know\\b`,
    '\\bi need (?:the|all|more|your|some)\\b',
    '\\b(?:wonder(?:ing)?|not sure|unsure|unclear)\\b',
  ].join('|'),
  'i',
);

const CODE = new RegExp(
  `\\b(?:show|share|give|paste|send|reveal|provide|post|disclose|tell me|what is|what does)\\b${SOMETHING}` +
    '\\b(?:the|your|its|any|some)\\s+(?:(?:full|actual|hidden|existing|original|python|exact|whole|complete|source|reference)\\s+)*' +
    '(?:reference|ground truth|hidden information|code|implementation|solution|function body|test cases|tests)\\b',
  'i',
);

const SUBJECT =
  '(?:requirements?|rules?|details?|conditions?|specs?|specifications?|facts?|information|info|decisions?|(?:edge |special |corner )?cases|constraints?|assumptions?|thresholds|values|numbers|parameters|logic|criteria|exceptions|expectations?|behaviou?rs?)';

const TELL = '(?:tell|explain|give|list|share|provide|describe|know|say|spell out)';

const UNIVERSAL = new RegExp(
  `\\b(?:all|every|complete|full|entire)\\s+(?:[\\w-]+,?\\s+){0,3}${SUBJECT}\\b|\\b${TELL}\\b${SOMETHING}\\beverything\\b|\\ball you know\\b`,
  'i',
);

/** Programming terms that contain a word with another meaning in a task. */
const TERMS =
  'unit tests?|type (?:hints?|annotations?)|(?:decimal|math|datetime) module|(?:variable|parameter|function) names?';

const PROGRAMMING = new RegExp(
  `\\b(?:${TERMS}|python|docstrings?|comments?|librar(?:y|ies)|modules?|dependenc(?:y|ies)|imports?|` +
    'pandas|numpy|performance|speed|efficien(?:t|cy)|optimi[sz]ed?|memory|complexity|tabs|pep ?8|coding style|' +
    'helpers?(?: functions?)?|a class|recursion|recursive|prints?|logs?|logging|tests?|version|framework|one function|' +
    'favou?rite)\\b',
  'i',
);

/** Returns the question without programming terms, so that "unit tests" is not about units. */
export const withoutTerms = (question: string): string =>
  question.replace(new RegExp(`\\b(?:${TERMS})\\b`, 'gi'), '');

const IT = '(?:it|this|that|everything|(?:the|this|your) (?:function|result|output|program|code))';

/** Matches a question about one case, however broad its words are. */
const CASE = /^\W*(?:(?:and|also|so|then) )*what (?:if|happens (?:if|when))\b/i;

const GENERAL = new RegExp(
  [
    `\\b(?:what|which|any|more|other|${TELL})\\b${SOMETHING}\\b${SUBJECT}\\b`,
    '\\b(?:what|anything|something) else\\b',
    `\\bhow (?:\\w+ )?(?:should|does|do|would|must|is|will) ${IT}\\b${SOMETHING}\\b(?:work|behave|calculated|computed|look)\\b`,
    `\\bwhat (?:\\w+ )?(?:should|does|must) ${IT}(?: \\w+)? do\\b`,
    '\\bwhat do you (?:want|need|expect)\\W*$',
    `\\b(?:give|show|provide|share|send)\\b${SOMETHING}\\bexamples?\\b`,
  ].join('|'),
  'i',
);

const wordSet = (words: string): ReadonlySet<string> => new Set(stems(words));

const consistsOf = (words: ReadonlySet<string>, sentence: string): boolean =>
  stems(sentence).every((stem) => words.has(stem));

/** A sentence of these words alone asks nothing. */
const COURTESY = wordSet(
  'hi hello hey sure great good ok okay fine thanks thank please kindly you me i we us it this that these there here ' +
    'and so now then if when can could may might would shall do does is are am have has had how let know need want like ' +
    'ask asking answer clarify confirm tell help make sense clear ready start begin proceed go on ahead with for of to a ' +
    'an the any anything else some few couple several following more two three one something question questions thing ' +
    'things point points before further change changes adjust',
);

const CONFIRMATION = wordSet(
  'so and is was are am do does would that this it these those my i you have understand understood assumption ' +
    'understanding interpretation reading all also still agree sound look seem right correct ok okay fine good true ' +
    'accurate yes alright agreed',
);

const CONFIRMED = /\b(?:right|correct|ok|okay|fine|good|true|accurate|yes|alright|agreed?)\b/i;

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

export function sentencesOf(message: string): Sentence[] {
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
