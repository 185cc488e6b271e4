import type { Candidate } from '../event';
import type { Choice } from '../trajectory';
import { origin, sampledOrigin, type ChatMessageLike, type Rendered } from './rows';
import { countUp, type LeftOut } from './selection';

/** A row for each choice of the dialogue in which one candidate was better than the other; others are counted. */
export function choiceRows({ messages, ...exported }: Rendered, leftOut: LeftOut): object[] {
  const said = messages.flatMap(({ role }, index) => (role === 'assistant' ? [index] : []));
  const rows: object[] = [];
  for (const [index, { candidates = [] }] of exported.trajectory.turns.entries()) {
    const prompt = messages.slice(0, said[index]);
    for (const choice of candidates) {
      const { picked } = choice.choice;
      if (picked === 'equal') countUp(leftOut, 'choices of candidates that are equal');
      else if (picked === 'neither') countUp(leftOut, 'choices of neither candidate');
      else rows.push(choiceRow(prompt, choice, picked, exported));
    }
  }
  return rows;
}

/**
 * A preference row of one step: `prompt` is the conversation before the choice, `chosen` and `rejected` are the two
 * messages, whole. `position` says which of the two was shown first: 0, the chosen one.
 */
function choiceRow(
  prompt: readonly ChatMessageLike[],
  { shown, choice }: Choice,
  picked: 0 | 1,
  exported: Omit<Rendered, 'messages'>,
): object {
  const chosen = shown.candidates[picked];
  const rejected = shown.candidates[1 - picked]!;
  const withTiming = choice.milliseconds !== undefined && exported.consents.mayLeaveWithEdits(choice.by);
  return {
    prompt,
    chosen: [{ role: 'assistant', content: chosen.text }],
    rejected: [{ role: 'assistant', content: rejected.text }],
    tandem: {
      ...origin(exported),
      turn: shown.turn,
      position: picked,
      chosen_by: choice.by,
      ...(withTiming && { milliseconds: choice.milliseconds }),
      chosen: side(chosen),
      rejected: side(rejected),
    },
  };
}

const side = (candidate: Candidate): object => ({
  agent: candidate.agent,
  sampling: candidate.sampling,
  ...sampledOrigin(candidate),
});
