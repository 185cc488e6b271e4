import { fencedRanges, hasCode } from '../../core/dialogue/markers';
import { parseAgentMessage } from '../../core/dialogue/protocol';
import type { AgentReading } from '../../core/dialogue/reading';
import type { Grade, TestResult } from '../../core/grading/grade';
import type { GrowingText } from '../../core/growingText';
import type { Task } from '../../core/task/task';
import type { EventOf } from '../../core/trajectory/event';
import type { Choice, Turn } from '../../core/trajectory/trajectory';
import type {
  ChoiceView,
  GradeView,
  MessageView,
  ReplyView,
  StreamView,
  TaskView,
  TestView,
  TurnRating,
  TurnView,
} from '../../../webview/session/protocol';
import { taskTitle } from '../../core/task/title';
import type { Translate } from '../translate';
import { fenceFor } from '../../core/text';

/** What a person is shown of the engine's data; pure, so that it can be tested without an editor. */

/** Nobody reads more of one message, and drawing megabytes would stop the view. The log has all of it. */
const MOST_CHARACTERS = 50_000;
/** A message that is being written is drawn many times a second. */
const MOST_STREAMED = 10_000;

export function taskView(task: Task, pack: string | undefined): TaskView {
  return {
    title: taskTitle(task),
    description: fenceSignature(task.description),
    pack: pack ?? '',
    tests: task.testCases.length,
  };
}

/** A message of the agent as Markdown, however long. */
export function messageOf(text: string): { visible: string; thoughts: string; final: boolean } {
  const { thoughts, visible, answer } = parseAgentMessage(text);
  return {
    visible: answer === undefined ? visible : withAnswer(beforeAnswer(visible, answer), answer),
    thoughts,
    final: answer !== undefined,
  };
}

/** @param tellsNames the dialogue is over, so that it may be told who wrote the candidates */
export function turnView(turn: Turn, t: Translate, tellsNames = false): TurnView {
  const { agent, candidates = [], superseded = [], reply, rating } = turn;
  return {
    turn: agent.turn,
    ...messageView(agent.text),
    ...(candidates.length > 0 && { choices: candidates.map((choice) => choiceView(choice, tellsNames)) }),
    samples: superseded.length + 1,
    milliseconds: Math.round(writingTime(turn) + (reply?.milliseconds ?? 0)),
    ...(rating && { rating: turnRating(rating) }),
    ...(reply && { reply: replyView(turn, t) }),
  };
}

/** Of two candidates the slower one and the choice: the time of the chosen one alone would tell who wrote it. */
function writingTime({ agent, candidates }: Turn): number {
  if (candidates === undefined) return agent.timing?.totalMs ?? 0;
  const pairs = candidates.map(
    ({ shown, choice }) =>
      Math.max(...shown.candidates.map(({ timing }) => timing?.totalMs ?? 0)) + (choice.milliseconds ?? 0),
  );
  return pairs.reduce((sum, milliseconds) => sum + milliseconds, 0);
}

/** A whole message of the agent, as far as it is drawn. */
export function messageView(text: string): MessageView {
  const { visible, thoughts, final } = messageOf(text);
  const said = cut(visible, MOST_CHARACTERS);
  const thought = cut(thoughts, MOST_CHARACTERS);
  const left = said.left + thought.left;
  return { visible: said.shown, thoughts: thought.shown, ...(left > 0 && { left }), final };
}

export function choiceView({ shown, choice }: Choice, tellsNames: boolean): ChoiceView {
  const [first, second] = shown.candidates;
  return {
    picked: choice.picked,
    by: choice.by,
    candidates: [messageView(first.text), messageView(second.text)],
    ...(tellsNames && { agents: [first.agent, second.agent] }),
  };
}

function turnRating({ thumb, comment }: EventOf<'turn-rating'>): TurnRating {
  return { ...(thumb && { thumb }), ...(comment !== undefined && { comment }) };
}

/** What is said before the answer with which the message ends. */
const beforeAnswer = (visible: string, answer: string): string =>
  visible.endsWith(answer) ? visible.slice(0, visible.length - answer.length).trimEnd() : '';

/** The beginning of a text, and how many characters are left out. */
function cut(text: string, most: number): { shown: string; left: number } {
  return { shown: text.slice(0, most), left: Math.max(0, text.length - most) };
}

function replyView({ reply, leak }: Turn, t: Translate): ReplyView {
  const { text, author, by, suggestedBy } = reply!;
  return {
    text,
    seat: author === 'simulator' ? 'simulator' : 'developer',
    by: author === 'simulator' ? by : t('you'),
    ...(suggestedBy !== undefined && {
      suggested: { by: suggestedBy, isEdited: author === 'developer-edited-suggestion' },
    }),
    ...(leak?.leaked === true ? { leakPercent: Math.round(leak.fraction * 100) } : {}),
  };
}

/**
 * An agent's message while it arrives. Until `OUTPUT:` has come nobody can tell thoughts from message, so the text
 * counts as thoughts, unless this agent has shown in an earlier turn that it writes none.
 */
export function agentStream(reading: AgentReading, earlier: readonly TurnView[]): StreamView {
  const { thinking, before, answer, left } = reading.beginning(MOST_STREAMED);
  const undecided = thinking === 0 && answer === undefined && !reading.hasOutput;
  const writesNone = earlier.length > 0 && earlier.every((turn) => turn.thoughts === '');
  if (undecided && !writesNone) return { by: 'agent', text: '', thinking: reading.text.length };
  const said = cut(answer === undefined ? before : withAnswer(before, answer), MOST_STREAMED);
  const all = said.left + left;
  return { by: 'agent', text: said.shown, thinking, ...(all > 0 && { left: all }) };
}

/** A simulator's reply while it arrives. */
export function simulatorStream(text: GrowingText): StreamView {
  const left = text.length - MOST_STREAMED;
  return { by: 'simulator', text: text.slice(0, MOST_STREAMED), thinking: 0, ...(left > 0 && { left }) };
}

/** @param answer what was graded, where it is known: of one that is no code no test need say so */
export function gradeView(task: Task, grade: Grade, t: Translate, answer?: string): GradeView {
  if (answer !== undefined && isSyntaxError(grade) && !hasCode(answer)) return withoutCode(task, grade, t);
  return {
    headline: headlineOf(grade, t),
    success: grade.success,
    mode: grade.mode,
    tests: grade.tests.map((test, index) => testView(task.testCases[index]?.call ?? '', test, t)),
  };
}

const isSyntaxError = ({ tests }: Grade): boolean =>
  tests.length > 0 && tests.every((test) => test.status === 'error' && test.type === 'SyntaxError');

/** Words are a syntax error in every test, which tells nobody what is wrong. */
function withoutCode(task: Task, { mode, tests }: Grade, t: Translate): GradeView {
  return {
    headline: t('The reply has no code, so that no test can pass'),
    ...{ success: false, mode },
    tests: tests.map((_, index) => ({
      call: task.testCases[index]?.call ?? '',
      status: 'error',
      got: t('no code'),
    })),
  };
}

function headlineOf({ success, notGradable, reward, tests }: Grade, t: Translate): string {
  if (success === null) {
    return notGradable === undefined
      ? t('This answer cannot be graded here: the grader gave no reason.')
      : t('This answer cannot be graded here: {0}', notGradable);
  }
  // Imported rows say only how much of the tests passed.
  if (tests.length === 0) return t('{0} % of the tests passed', Math.round((reward ?? 0) * 100));
  const passed = tests.filter((test) => test.status === 'passed').length;
  return t('{0} of {1} tests passed', passed, tests.length);
}

function testView(call: string, test: TestResult, t: Translate): TestView {
  switch (test.status) {
    case 'passed':
      return { call, status: 'passed', milliseconds: test.milliseconds };
    case 'wrong': {
      const { expected, got, milliseconds } = test;
      return { call, status: 'wrong', expected, got, milliseconds };
    }
    case 'error': {
      const said = `${test.type}: ${test.message}`;
      const got = test.line === undefined ? said : t('{0} (line {1})', said, test.line);
      return { call, status: 'error', got };
    }
    case 'timed-out':
      return {
        call,
        status: 'timed-out',
        got: t('no result within {0} ms', Math.round(test.limitMilliseconds)),
      };
    case 'not-gradable':
      return { call, status: 'not-gradable', got: test.reason };
  }
}

/** An answer is code, with or without a fence; without one it would be read as Markdown. */
function withAnswer(before: string, answer: string): string {
  const isFenced = answer === '' || fencedRanges(answer).length > 0;
  return `${before}\n\n${isFenced ? answer : fence(answer)}`.trim();
}

/** Requests end with the signature as a bare line, which Markdown would take as prose. */
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

/** A fence longer than any run of backticks in the code. */
function fence(code: string): string {
  const marks = fenceFor(code, 3);
  return `${marks}python\n${code}\n${marks}`;
}
