import { expect, it } from 'vitest';
import { foldTrajectory } from '../../../src/core/trajectory/fold';
import type { LogEvent, NewEvent } from '../../../src/core/trajectory/event';
import { transcriptOf } from '../../../src/editor/trajectories/transcript';
import { english } from './translate';
import { agentTurn, answered, candidates, choice, doubling, kim, started } from '../trajectory/fixtures';

/** The transcript of a dialogue of these events. */
function transcript(events: readonly NewEvent[]): string {
  const all: NewEvent[] = [{ event: 'task', task: doubling }, started('e', { collaborator: kim }), ...events];
  const at = '2026-01-01T00:00:00.000Z';
  return transcriptOf(foldTrajectory(all.map((event): LogEvent => ({ version: 1, at, ...event })))!, english);
}

it('says of every reply whose words it has, and what people think of the turns', () => {
  const reply = {
    event: 'reply',
    episode: 'e',
    by: 'kim',
    suggestion: 'Yes.',
    suggestedBy: 'rules',
  } as const;
  const text = transcript([
    agentTurn('e', 1, 'OUTPUT:\nFirst?'),
    { event: 'turn-superseded', episode: 'e', turn: 1 },
    agentTurn('e', 1, 'Hm.\nOUTPUT:\nSecond?'),
    { event: 'turn-rating', episode: 'e', turn: 1, thumb: 'down', comment: 'Vague.', by: 'kim' },
    { ...reply, turn: 1, text: 'Yes, two.', author: 'developer-edited-suggestion' },
    agentTurn('e', 2),
    { ...reply, turn: 2, text: 'Yes.', author: 'developer-sent-suggestion' },
    { event: 'rating', episode: 'e', stars: 4, comment: 'Short.', by: 'kim' },
  ]);
  expect(text).not.toContain('First?');
  expect(text).toContain('Second?\n\n> Thoughts: Hm.\n\n> Sample 2 of this message.\n\n> kim: bad, Vague.');
  expect(text).toContain('### kim (developer, edited from a draft of rules)\n\nYes, two.');
  expect(text).toContain('### kim (developer, as rules drafted it)\n\nYes.');
  expect(text).toContain('- Rating: 4 of 5\n- Comment: Short.');
});

it('says what became of an answer to a function of one’s own', () => {
  const outcome = { event: 'outcome', episode: 'e', by: 'kim' } as const;
  const accepted = [agentTurn('e', 1), answered('e', 1), { ...outcome, outcome: 'accepted' } as const];
  expect(transcript(accepted)).toContain('- Outcome: answered, accepted\n');
  const measured = { ...outcome, outcome: 'edited', survived: 0.667, milliseconds: 300_000 } as const;
  expect(transcript([...accepted, measured])).toContain(
    '- Outcome: answered, accepted, 66 % of its lines left\n',
  );
});

it('has all of a message, however long', () => {
  const long = 'word '.repeat(400_000).trim();
  expect(transcript([agentTurn('e', 1, `OUTPUT:\n${long}`)])).toContain(long);
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
    ...chosen,
    candidates('e', 2),
    choice('e', 2, 'neither'),
    candidates('e', 2),
    { event: 'abandoned', episode: 'e', reason: 'skipped', message: 'Too hard' },
  ]);
  expect(skipped).toContain('> kim chose B (openai:rival) over A (openai:agent).');
  expect(skipped).toContain('> kim wanted neither A (openai:agent) nor B (openai:rival).');
  expect(skipped).toContain('### Candidate A for turn 2 (openai:agent)');
});
