import { expect, it } from 'vitest';
import type { NewEvent } from '../../../../src/core/trajectory/event';
import { transcriptOf } from '../../../../src/editor/trajectories/transcript';
import type { Namer } from '../../../../src/editor/displayNames';
import { folded } from '../folded';
import { english } from '../translate';
import { agentTurn, answered, candidates, choice, kim, label, started } from '../../../fixtures/log';

/** Returns the transcript of a dialogue of these events. @param names of connections and runs */
function transcript(events: readonly NewEvent[], names: Readonly<Record<string, string>> = {}): string {
  const namer: Namer = { calledBy: (name) => names[name] ?? name };
  return transcriptOf(folded(started('e', { collaborator: kim }), ...events), english, namer);
}

it('says of every reply whose words it has, and what people think of the turns', () => {
  const drafted = { suggestion: 'Yes.', suggestedBy: 'rules' } as const;
  const reply = { event: 'reply', episode: 'e', by: 'kim', ...drafted } as const;
  const text = transcript([
    agentTurn('e', 1, 'OUTPUT:\nFirst?'),
    { event: 'turn-superseded', episode: 'e', turn: 1 },
    agentTurn('e', 1, 'Hm.\nOUTPUT:\nSecond?'),
    { event: 'turn-rating', episode: 'e', turn: 1, thumb: 'down', comment: 'Vague.', by: 'kim' },
    { ...reply, turn: 1, text: 'Yes, two.', author: 'developer-edited-suggestion' },
    agentTurn('e', 2),
    { ...reply, turn: 2, text: 'Yes.', author: 'developer-sent-suggestion' },
    { event: 'rating', episode: 'e', stars: 4, comment: 'Short.', by: 'kim' },
    { event: 'turn-rating', episode: 'e', turn: 1, comment: 'But clear.', by: 'lee' },
    { event: 'rating', episode: 'e', comment: 'Too\nlong.', by: 'lee' },
  ]);
  expect(text).not.toContain('First?');
  expect(text).toContain(
    'Second?\n\n> Thoughts: Hm.\n\n> Sample 2 of this message.\n\n> kim: bad, Vague.\n\n> lee: But clear.',
  );
  expect(text).toContain('### kim (developer, edited from a draft of Simulator (rules))\n\nYes, two.');
  expect(text).toContain('### kim (developer, as Simulator (rules) drafted it)\n\nYes.');
  expect(text).toContain('- Rating of kim: 4 of 5\n- Comment of kim: Short.\n- Comment of lee: Too long.');
});

it('has the title, the tags and the notes that people gave the dialogue', () => {
  const note = 'First line.\n\n# A [Taxi](x) <img src=x>';
  const text = transcript([
    agentTurn('e', 1, 'OUTPUT:\nThe taxi?'),
    label('e', 'kim', { title: 'A taxi', tags: ['odd'], note }),
    label('e', 'lee', { tags: ['odd', 'long'], note: 'Another taxi.' }),
  ]);
  expect(text).toContain(
    '- Title: A taxi\n- Tags: long, odd\n- Note of kim: First line. # A [Taxi](x) \\<img',
  );
  expect(text).toContain('\n- Note of lee: Another taxi.\n');
});

it('says what was chosen and what was not, and who wrote the candidates once the dialogue is over', () => {
  const chosen = [candidates('e', 1), choice('e', 1, 1), agentTurn('e', 1, 'OUTPUT: candidate 1 for 1?')];
  const during = transcript([...chosen, candidates('e', 2)]);
  expect(during).toContain('> kim chose B over A.\n\n> A: candidate 0 for 1?');
  expect(during).toContain('### Candidate A for turn 2\n\ncandidate 0 for 2?\n\n### Candidate B for turn 2');
  expect(during).not.toContain('rival');
  const after = transcript([...chosen, answered('e', 1)]);
  expect(after).toContain('> kim chose B (openai:rival) over A (openai:agent).');
  const skipped = transcript([
    ...[...chosen, candidates('e', 2), choice('e', 2, 'neither'), candidates('e', 2)],
    { event: 'abandoned', episode: 'e', reason: 'skipped', message: 'Too hard' },
  ]);
  expect(skipped).toContain('> kim wanted neither A (openai:agent) nor B (openai:rival).');
});

it('calls models by their names, and a person by the pseudonym whatever it reads like', () => {
  const by = 'openai:simulator';
  const text = transcript(
    [
      agentTurn('e', 1),
      { event: 'reply', episode: 'e', turn: 1, text: 'Two.', author: 'simulator', by },
      agentTurn('e', 2),
      { event: 'reply', episode: 'e', turn: 2, text: 'Three.', author: 'developer', by },
      answered('e', 2),
    ],
    { 'openai:agent': 'Lab', 'openai:simulator': 'Helper' },
  );
  expect(text).toContain('- Agent: Lab\n- Collaborator: kim (developer)');
  expect(text).toContain('### Helper (simulator)\n\nTwo.');
  expect(text).toContain('### openai:simulator (developer)\n\nThree.');
});
