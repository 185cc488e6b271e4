import { isChoice, isOver } from '../../core/trajectory/choices';
import type { Trajectory } from '../../core/trajectory/trajectory';
import type { EventOf } from '../../core/trajectory/event';
import { candidateLines, choiceLines } from './choices';
import { harmless, quoted } from './markdown';
import { gradeView, messageOf, taskView } from '../session/view';
import { reasonWords } from '../reasons';
import { collaboratorCalled, type Namer } from '../models/called';
import type { Translate } from '../translate';
import { abandonedWords, becameWords } from './words';
import { fenceFor, inOneLine } from '../../core/text';

/** The heading of a message of the agent in a transcript. */
export const turnHeading = (turn: number, t: Translate): string => `### ${t('Agent, turn {0}', turn)}`;

/** A dialogue as a Markdown document: what was said, by whom, and what came of it. */
export function transcriptOf(trajectory: Trajectory, t: Translate, namer: Namer): string {
  const { task, state, started, turns, pending = [], grades, abandoned, collaborator, rating } = trajectory;
  const { title, description } = taskView(task, started.pack);
  const facts = [
    t('Started: {0}', started.at),
    ...(started.pack === undefined ? [] : [t('Pack: {0}', started.pack)]),
    t('Agent: {0}', namer.calledBy(trajectory.agent)),
    t('Collaborator: {0} ({1})', collaboratorCalled(collaborator, namer), collaborator.kind),
    t('Outcome: {0}', outcomeOf(trajectory, t)),
    ...(rating?.stars === undefined ? [] : [t('Rating: {0} of 5', rating.stars)]),
    ...(rating?.comment === undefined ? [] : [t('Comment: {0}', rating.comment)]),
  ].map((fact) => `- ${fact}`);
  const ofCandidates = isOver(state, abandoned?.reason) ? namer : undefined;
  const said = turns.flatMap(({ agent, candidates = [], superseded = [], reply, rating: remark }) => {
    const { visible, thoughts } = messageOf(agent.text);
    return [
      turnHeading(agent.turn, t),
      harmless(visible),
      ...(thoughts === '' ? [] : [quoted(harmless(t('Thoughts: {0}', thoughts)))]),
      ...candidates.flatMap((choice) => choiceLines(choice, ofCandidates, t)),
      ...(superseded.length === 0 ? [] : [quoted(t('Sample {0} of this message.', superseded.length + 1))]),
      ...(remark === undefined ? [] : [quoted(harmless(remarkWords(remark, t)))]),
      ...(reply === undefined ? [] : [replyHeading(reply, t, namer), harmless(reply.text)]),
    ];
  });
  const undecided = pending.flatMap((shown) =>
    isChoice(shown) ? choiceLines(shown, ofCandidates, t) : candidateLines(shown.shown, ofCandidates, t),
  );
  const results = grades.map(({ grade }) =>
    gradeTable(gradeView(task, grade, t, trajectory.answer?.answer), t),
  );
  return `${[`# ${title}`, facts.join('\n'), `## ${t('Request')}`, harmless(description), `## ${t('Dialogue')}`, ...said, ...undecided, ...results].join('\n\n')}\n`;
}

function outcomeOf({ state, abandoned, outcome }: Trajectory, t: Translate): string {
  if (abandoned !== undefined)
    return `${abandonedWords(abandoned.reason, t)}, ${reasonWords(abandoned.message, t)}`;
  if (state !== 'answered') return t('in progress');
  return outcome === undefined ? t('answered') : becameWords(outcome, t);
}

function replyHeading(reply: EventOf<'reply'>, t: Translate, namer: Namer): string {
  const by = reply.author === 'simulator' ? namer.calledBy(reply.by) : reply.by;
  return `### ${by} (${authorWords(reply, t, namer)})`;
}

/** Whose words a reply has. */
function authorWords({ author, suggestedBy }: EventOf<'reply'>, t: Translate, namer: Namer): string {
  const drafter = suggestedBy === undefined ? t('the simulator') : namer.calledBy(suggestedBy);
  switch (author) {
    case 'developer':
      return t('developer');
    case 'simulator':
      return t('simulator');
    case 'developer-edited-suggestion':
      return t('developer, edited from a draft of {0}', drafter);
    case 'developer-sent-suggestion':
      return t('developer, as {0} drafted it', drafter);
  }
}

function remarkWords({ thumb, comment, by }: EventOf<'turn-rating'>, t: Translate): string {
  const verdict = thumb === undefined ? [] : [thumb === 'up' ? t('good') : t('bad')];
  return `${by}: ${[...verdict, ...(comment === undefined ? [] : [comment])].join(', ')}`;
}

function gradeTable({ headline, mode, tests }: ReturnType<typeof gradeView>, t: Translate): string {
  const rows = tests.map(
    ({ call, status, expected = '', got = '' }) =>
      `| ${[cell(call), status, cell(expected), cell(got)].join(' | ')} |`,
  );
  const head = [`| ${t('Call')} | ${t('Result')} | ${t('Expected')} | ${t('Got')} |`, '|---|---|---|---|'];
  return [`## ${headline} (${mode})`, [...head, ...rows].join('\n')].join('\n\n');
}

/** Code in a table's cell: no line breaks, no bars, and a fence longer than any run of backticks. */
function cell(text: string): string {
  if (text === '') return '';
  const marks = fenceFor(text, 1);
  return `${marks} ${inOneLine(text).replaceAll('|', '\\|')} ${marks}`;
}
