import { fencedRanges } from '../core/dialogue/markers';
import { parseAgentMessage } from '../core/dialogue/protocol';
import { isProgram, testsOf, type Task } from '../core/task/task';
import type { Candidate, EventOf } from '../core/trajectory/event';
import type { Choice, Turn } from '../core/trajectory/trajectory';
import type {
  CandidatesView,
  ChoiceView,
  MessageView,
  ReplyView,
  TaskView,
  TurnRating,
  TurnView,
} from '../../webview/session/protocol';
import type { TranslateSentence } from './translate';
import { isObject, isTooDeep, jsonOrUndefined } from '../core/json';
import { taskTitle } from '../core/task/title';
import { fenceFor } from '../core/markdown';
import { draftView, wordsAndPage, type DrawPage } from './pageViews';

/** Maximum number of characters shown of a message: drawing megabytes would stop the view. The log has all of it. */
const MAX_CHARS = 50_000;

export function taskView(task: Task, pack: string | undefined): TaskView {
  return {
    title: taskTitle(task),
    description: isProgram(task) ? fenceSignature(task.description) : task.description,
    pack: pack ?? '',
    tests: testsOf(task).length,
    ...(isProgram(task) ? {} : { isPage: true }),
  };
}

export function messageOf(text: string): { visible: string; thoughts: string; final: boolean } {
  const { thoughts, visible, answer } = parseAgentMessage(text);
  return {
    visible: answer === undefined ? visible : withAnswer(beforeAnswer(visible, answer), answer),
    thoughts,
    final: answer !== undefined,
  };
}

/**
 * @param tellsNames true when the dialogue is over, so that the writers of the candidates may be shown
 * @param draw in tasks of pages
 */
export function turnView(turn: Turn, tellsNames = false, draw?: DrawPage): TurnView {
  const { agent, candidates = [], superseded = [], reply, rating } = turn;
  return {
    turn: agent.turn,
    ...messageView(agent, draw),
    ...(candidates.length > 0 && {
      choices: candidates.map((choice) => choiceView(choice, tellsNames, draw)),
    }),
    samples: superseded.length + 1,
    milliseconds: Math.round(writingTime(turn) + (reply?.milliseconds ?? 0)),
    ...(rating && { rating: turnRating(rating) }),
    ...(reply && { reply: replyView(turn) }),
  };
}

/** The slower candidate plus the choice, because the time of the chosen one would reveal its writer. */
function writingTime({ agent, candidates }: Turn): number {
  if (candidates === undefined) return agent.timing?.totalMs ?? 0;
  const pairs = candidates.map(
    ({ shown, choice }) =>
      Math.max(...shown.candidates.map(({ timing }) => timing?.totalMs ?? 0)) + (choice.milliseconds ?? 0),
  );
  return pairs.reduce((sum, milliseconds) => sum + milliseconds, 0);
}

/** @param draw in tasks of pages */
export function messageView(
  { text, finishReason }: Pick<Candidate, 'text' | 'finishReason'>,
  draw?: DrawPage,
): MessageView {
  const { thoughts, final, ...rest } = messageOf(text);
  const { words: visible, source } = draw === undefined ? { words: rest.visible } : wordsAndPage(text);
  const said = cut(visible, MAX_CHARS);
  const thought = cut(thoughts, MAX_CHARS);
  const left = said.left + thought.left;
  const isCut = rest.visible === '' && finishReason === 'length';
  return {
    visible: said.shown,
    thoughts: thought.shown,
    ...(left > 0 && { left }),
    final,
    ...(isCut && { isCut }),
    ...(draw && source !== undefined && { draft: draftView(source, draw) }),
  };
}

/** Nothing in it reveals which agent wrote which. */
export const candidatesView = (
  { candidates: [first, second] }: EventOf<'candidates'>,
  draw?: DrawPage,
): CandidatesView => [messageView(first, draw), messageView(second, draw)];

export function choiceView({ shown, choice }: Choice, tellsNames: boolean, draw?: DrawPage): ChoiceView {
  const [first, second] = shown.candidates;
  return {
    picked: choice.picked,
    by: choice.by,
    candidates: candidatesView(shown, draw),
    ...(tellsNames && { agents: [first.agent, second.agent] }),
  };
}

export function turnRating({ thumb, comment }: EventOf<'turn-rating'>): TurnRating {
  return { ...(thumb && { thumb }), ...(comment !== undefined && { comment }) };
}

const beforeAnswer = (visible: string, answer: string): string =>
  visible.endsWith(answer) ? visible.slice(0, visible.length - answer.length).trimEnd() : '';

/** What an agent of another program did besides what it said, each part with its name. */
export function partsOf(
  { imported }: Pick<EventOf<'agent-turn'>, 'imported'>,
  t: TranslateSentence,
): readonly { readonly name: string; readonly text: string }[] {
  return (imported?.parts ?? []).flatMap(({ kind, text, name = t('tool') }) => {
    if (kind === 'text') return [];
    const names = {
      thoughts: t('thoughts'),
      call: t('call of {0}', name),
      result: t('result'),
      note: t('the program'),
    };
    return [{ name: names[kind], text: kind === 'call' ? argumentLines(text) : text }];
  });
}

/** A line for each argument of a call, with strings as they are; another text stays. */
function argumentLines(call: string): string {
  const given = jsonOrUndefined(call);
  if (!isObject(given) || isTooDeep(given) || Object.keys(given).length === 0) return call;
  return Object.entries(given)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('\n');
}

export function cut(text: string, most: number): { shown: string; left: number } {
  return { shown: text.slice(0, most), left: Math.max(0, text.length - most) };
}

function replyView({ reply, leak }: Turn): ReplyView {
  const { text, author, by, suggestedBy, pins } = reply!;
  return {
    ...{ text, by, seat: author === 'simulator' ? 'simulator' : 'developer' },
    ...(suggestedBy !== undefined && {
      suggested: { by: suggestedBy, isEdited: author === 'developer-edited-suggestion' },
    }),
    ...(pins && { pins }),
    ...(leak?.leaked === true ? { leakPercent: Math.round(leak.fraction * 100) } : {}),
  };
}

/** Puts the answer into a code fence unless it has one; otherwise it would be read as Markdown. */
export function withAnswer(before: string, answer: string): string {
  const isFenced = answer === '' || fencedRanges(answer).length > 0;
  return `${before}\n\n${isFenced ? answer : fence(answer)}`.trim();
}

/** Puts the signature at the end of a request into a fence, because Markdown would take the bare line as prose. */
function fenceSignature(description: string): string {
  if (fencedRanges(description).length > 0) return description;
  const whole = description.trimEnd();
  const lineStart = whole.lastIndexOf('\n') + 1;
  const line = whole.slice(lineStart);
  const at = line.search(/(?<=^|\s)def \w+\s*\(/);
  const isWhole = at !== -1 && line.includes(')', at);
  const before = whole.slice(0, lineStart + at);
  return isWhole && before !== '' ? `${before.trimEnd()}\n${fence(line.slice(at))}` : description;
}

function fence(code: string): string {
  const marks = fenceFor(code, 3);
  return `${marks}python\n${code}\n${marks}`;
}
