import { isChoice, isOver } from '../../core/trajectory/choices';
import type { Trajectory } from '../../core/trajectory/trajectory';
import type { EventOf } from '../../core/trajectory/event';
import { candidateLines, choiceLines } from './choices';
import { quoted } from './markdown';
import { gradeView, messageOf, taskView } from '../session/view';
import type { Translate } from '../translate';

/** A dialogue as a Markdown document: what was said, by whom, and what came of it. */
export function transcriptOf(trajectory: Trajectory, t: Translate): string {
  const { task, state, started, turns, pending = [], grades, abandoned, collaborator, rating } = trajectory;
  const { title, description } = taskView(task, started.pack);
  const facts = [
    `- Started: ${started.at}`,
    ...(started.pack === undefined ? [] : [`- Pack: ${started.pack}`]),
    `- Agent: ${trajectory.agent}`,
    `- Collaborator: ${collaborator.name} (${collaborator.kind})`,
    `- Outcome: ${abandoned === undefined ? state : `${abandoned.reason}, ${abandoned.message}`}`,
    ...(rating?.stars === undefined ? [] : [`- Rating: ${rating.stars} of 5`]),
    ...(rating?.comment === undefined ? [] : [`- Comment: ${rating.comment}`]),
  ];
  const tellsNames = isOver(state, abandoned?.reason);
  const said = turns.flatMap(({ agent, candidates = [], superseded = [], reply, rating: remark }) => {
    const { visible, thoughts } = messageOf(agent.text);
    return [
      `### Agent, turn ${agent.turn}`,
      visible,
      ...(thoughts === '' ? [] : [quoted(`Thoughts: ${thoughts}`)]),
      ...candidates.flatMap((choice) => choiceLines(choice, tellsNames)),
      ...(superseded.length === 0 ? [] : [quoted(`Sample ${superseded.length + 1} of this message.`)]),
      ...(remark === undefined ? [] : [quoted(remarkWords(remark))]),
      ...(reply === undefined ? [] : [`### ${reply.by} (${authorWords(reply)})`, reply.text]),
    ];
  });
  const undecided = pending.flatMap((shown) =>
    isChoice(shown) ? choiceLines(shown, tellsNames) : candidateLines(shown.shown, tellsNames),
  );
  const results = grades.map(({ grade }) => gradeTable(gradeView(task, grade, t)));
  return `${[`# ${title}`, facts.join('\n'), '## Request', description, '## Dialogue', ...said, ...undecided, ...results].join('\n\n')}\n`;
}

/** Whose words a reply has. */
function authorWords({ author, suggestedBy = 'the simulator' }: EventOf<'reply'>): string {
  switch (author) {
    case 'developer':
    case 'simulator':
      return author;
    case 'developer-edited-suggestion':
      return `developer, edited from a draft of ${suggestedBy}`;
    case 'developer-sent-suggestion':
      return `developer, as ${suggestedBy} drafted it`;
  }
}

function remarkWords({ thumb, comment, by }: EventOf<'turn-rating'>): string {
  const verdict = thumb === undefined ? [] : [thumb === 'up' ? 'good' : 'bad'];
  return `${by}: ${[...verdict, ...(comment === undefined ? [] : [comment])].join(', ')}`;
}

function gradeTable({ headline, mode, tests }: ReturnType<typeof gradeView>): string {
  const rows = tests.map(
    ({ call, status, expected = '', got = '' }) =>
      `| ${[cell(call), status, cell(expected), cell(got)].join(' | ')} |`,
  );
  const head = ['| Call | Result | Expected | Got |', '|---|---|---|---|'];
  return [`## ${headline} (${mode})`, [...head, ...rows].join('\n')].join('\n\n');
}

/** Code in a table's cell: no line breaks, no bars, and a fence longer than any run of backticks. */
function cell(text: string): string {
  if (text === '') return '';
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const marks = '`'.repeat(longest + 1);
  return `${marks} ${text.replace(/\s*\n\s*/g, ' ').replaceAll('|', '\\|')} ${marks}`;
}
