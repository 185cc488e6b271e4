import { undecidedOf } from '../../core/dialogue/state';
import { isOwnFunction } from '../../core/task/own';
import { isOver } from '../../core/trajectory/choices';
import type { Trajectory } from '../../core/trajectory/trajectory';
import type {
  AnswerDecision,
  CandidatesView,
  DialogueRating,
  GradeView,
  Notice,
  Phase,
  Seat,
  TurnView,
} from '../../../webview/session/protocol';
import { reasonWords } from '../reasons';
import type { Translate } from '../translate';
import { candidatesView } from './candidates';
import { notices } from './notices';
import { gradeView, turnView } from './view';

/** A dialogue as the log has it, while nobody plays it. */
export interface Resting {
  readonly phase: Phase;
  readonly notice: Notice | undefined;
  readonly seat: Seat;
  readonly turns: readonly TurnView[];
  /** Those that wait for a choice. */
  readonly candidates: CandidatesView | undefined;
  readonly answer: string | undefined;
  readonly grade: GradeView | undefined;
  readonly rating: DialogueRating;
  readonly decision: AnswerDecision | undefined;
}

export function resting(trajectory: Trajectory, t: Translate): Resting {
  const { task, state, turns, collaborator, answer, abandoned, grades, rating, damaged, doubtful } =
    trajectory;
  const outcome = trajectory.outcome?.outcome;
  const tellsNames = isOver(state, abandoned?.reason);
  const undecided = undecidedOf(trajectory.pending ?? []);
  const { phase, notice } = restingPlace(trajectory, t);
  const grade = grades.at(-1)?.grade;
  const lost = damaged ?? doubtful;
  return {
    phase,
    notice: notice ?? (lost === undefined ? undefined : notices.damaged(lost)),
    seat: collaborator.kind === 'developer' ? 'developer' : 'simulator',
    turns: turns.map((turn) => turnView(turn, t, tellsNames)),
    candidates: undecided && candidatesView(undecided),
    answer: answer?.answer,
    grade: grade && gradeView(task, grade, t, answer?.answer),
    rating: {
      ...(rating?.stars !== undefined && { stars: rating.stars }),
      ...(rating?.comment !== undefined && { comment: rating.comment }),
    },
    // What was accepted may have been edited since.
    decision: outcome === 'edited' ? 'accepted' : outcome,
  };
}

/** What the log says about a dialogue decides what can be done next. */
function restingPlace(trajectory: Trajectory, t: Translate): { phase: Phase; notice: Notice | undefined } {
  const { state, abandoned, turns, collaborator, grades } = trajectory;
  if (state === 'answered') {
    const isUngraded = grades.length === 0 && !isOwnFunction(trajectory.task);
    return { phase: 'over', notice: isUngraded ? notices.notGraded(t) : undefined };
  }
  if (state === 'abandoned' && abandoned?.reason === 'skipped') {
    return { phase: 'skipped', notice: notices.skipped(t, abandoned.message) };
  }
  if (state === 'abandoned' && abandoned !== undefined) {
    const kind = abandoned.reason === 'failed' ? 'error' : 'information';
    return { phase: 'stopped', notice: { kind, message: reasonWords(abandoned.message, t), actions: [] } };
  }
  if (undecidedOf(trajectory.pending ?? []) !== undefined) return { phase: 'choosing', notice: undefined };
  const last = turns.at(-1);
  const agentsMove = last === undefined || last.reply !== undefined;
  if (!agentsMove && collaborator.kind === 'developer') return { phase: 'developer', notice: undefined };
  return { phase: 'stopped', notice: notices.cutOff(t, agentsMove ? 'agent' : 'simulator') };
}
