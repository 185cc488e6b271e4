import type { Trajectory } from '../../core/trajectory/trajectory';
import { gradeView, taskView, turnView } from '../session/view';

/** A dialogue as a Markdown document: what was said, by whom, and what came of it. */
export function transcriptOf(trajectory: Trajectory): string {
  const { task, started, turns, grades, abandoned, collaborator, rating } = trajectory;
  const { title, description } = taskView(task, started.pack);
  const facts = [
    `- Started: ${started.at}`,
    ...(started.pack === undefined ? [] : [`- Pack: ${started.pack}`]),
    `- Agent: ${trajectory.agent}`,
    `- Collaborator: ${collaborator.name} (${collaborator.kind})`,
    `- Outcome: ${abandoned === undefined ? trajectory.state : `${abandoned.reason}, ${abandoned.message}`}`,
    ...(rating?.stars === undefined ? [] : [`- Rating: ${rating.stars} of 5`]),
  ];
  const said = turns.flatMap((turn) => {
    const view = turnView(turn, trajectory.state === 'answered');
    return [
      `### Agent, turn ${view.turn}`,
      view.visible,
      ...(view.thoughts === '' ? [] : [quoted(`Thoughts: ${view.thoughts}`)]),
      ...(view.reply === undefined
        ? []
        : [`### ${turn.reply?.by ?? ''} (${view.reply.seat})`, view.reply.text]),
    ];
  });
  const results = grades.map(({ grade }) => gradeTable(gradeView(task, grade)));
  return `${[`# ${title}`, facts.join('\n'), '## Request', description, '## Dialogue', ...said, ...results].join('\n\n')}\n`;
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

const quoted = (text: string): string => text.replace(/^/gm, '> ');
