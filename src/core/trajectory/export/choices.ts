import type { Candidate } from '../event';
import type { TrajectoryLog } from '../log';
import type { Choice, Trajectory } from '../trajectory';
import type { CardFacts } from './card';
import type { ExportOptions } from './export';
import { origin, sampledOrigin, type ChatMessageLike, type ExportedGrade } from './rows';
import { countUp, type LeftOut, type Selected } from './selection';

/** A row for each choice in which one candidate was better than the other. */
export async function* choiceRows(
  log: TrajectoryLog,
  selected: readonly Selected[],
  options: Extract<ExportOptions, { format: 'choices' }>,
  facts: CardFacts,
  leftOut: LeftOut,
): AsyncGenerator<object> {
  const withChoices = selected.filter(({ summary }) => summary.choices > 0);
  const without = selected.length - withChoices.length;
  if (without > 0) countUp(leftOut, 'without a choice between candidates', without);
  const grades = new Map(withChoices.map(({ summary, grade }) => [summary.id, grade]));
  let done = 0;
  for await (const trajectory of log.trajectories(grades.keys())) {
    done += 1;
    options.onProgress?.({ done, total: withChoices.length });
    const reason = trajectory.damaged === undefined ? options.leaveOut?.(trajectory) : 'damaged';
    if (reason !== undefined) {
      countUp(leftOut, reason);
      continue;
    }
    const grade = grades.get(trajectory.id);
    facts.add(trajectory, grade);
    yield* rowsOf(trajectory, options.render(trajectory), grade, leftOut);
  }
}

function* rowsOf(
  trajectory: Trajectory,
  messages: readonly ChatMessageLike[],
  grade: ExportedGrade | undefined,
  leftOut: LeftOut,
): Generator<object> {
  const said = messages.flatMap(({ role }, index) => (role === 'assistant' ? [index] : []));
  for (const [index, { candidates = [] }] of trajectory.turns.entries()) {
    const prompt = messages.slice(0, said[index]);
    for (const choice of candidates) {
      const { picked } = choice.choice;
      if (picked === 'equal') countUp(leftOut, 'choices of candidates that are equal');
      else if (picked === 'neither') countUp(leftOut, 'choices of neither candidate');
      else yield choiceRow(prompt, choice, picked, origin(trajectory, grade));
    }
  }
}

/**
 * A preference row of one step: `prompt` is the conversation before the choice, `chosen` and `rejected` are the two
 * messages, whole. `position` says which of the two was shown first: 0, the chosen one.
 */
function choiceRow(
  prompt: readonly ChatMessageLike[],
  { shown, choice }: Choice,
  picked: 0 | 1,
  of: object,
): object {
  const chosen = shown.candidates[picked];
  const rejected = shown.candidates[1 - picked]!;
  return {
    prompt,
    chosen: [{ role: 'assistant', content: chosen.text }],
    rejected: [{ role: 'assistant', content: rejected.text }],
    tandem: {
      ...of,
      turn: shown.turn,
      position: picked,
      chosen_by: choice.by,
      ...(choice.milliseconds !== undefined && { milliseconds: choice.milliseconds }),
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
