import type { Trajectory, Turn } from '../../core/trajectory/trajectory';
import { summarize } from '../../core/trajectory/fold';
import type { Replay, ReplayedReply, ReplayedTurn } from '../../../webview/replay/protocol';
import type { ReplyView } from '../../../webview/session/protocol';
import { gradeView, turnView } from '../session/view';
import { outcomeWords } from '../trajectories/words';
import type { Translate } from '../translate';

/**
 * A trajectory as the replay shows it; pure, so that it can be tested without an editor.
 * @param own the pseudonym of the person at this editor, who is called `you`
 */
export function replayOf(trajectory: Trajectory, own: string | undefined, t: Translate): Replay {
  const { id, task, started, agent, collaborator, turns, answer, rating, damaged } = trajectory;
  const summary = summarize(trajectory);
  const grades = new Map(trajectory.grades.map(({ grade }) => [grade.mode, grade]));
  const grade = grades.get('fixed') ?? grades.get('paper');
  return {
    episode: id,
    agent,
    collaborator: personOf(collaborator.name, own),
    outcome: outcomeWords(summary, grade?.tests.length === 0 ? undefined : task.testCases.length, t),
    success: summary.state === 'answered' ? (grade?.success ?? null) : null,
    started: new Date(started.at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' }),
    turns: turns.map((turn) => replayedTurn(turn, trajectory, own)),
    ending: endingOf(trajectory),
    hasAnswer: answer !== undefined,
    grades: [...grades.values()].map((one) => gradeView(task, one)),
    ...(rating && {
      rating: { stars: rating.stars, comment: rating.comment, by: personOf(rating.by, own) },
    }),
    ...(damaged !== undefined && { damaged }),
  };
}

function replayedTurn(turn: Turn, { handOvers }: Trajectory, own: string | undefined): ReplayedTurn {
  const view = turnView(turn);
  const here = handOvers.filter((handOver) => handOver.turn === turn.agent.turn);
  return {
    ...view,
    reply: view.reply && replayedReply(turn, view.reply, own),
    handOvers: here.map(({ to }) => `${personOf(to.name, own)} ${verb(to.name, own)} the seat from here on`),
  };
}

function replayedReply({ reply }: Turn, view: ReplyView, own: string | undefined): ReplayedReply {
  const { author, by, suggestion, fullText, milliseconds } = reply!;
  const took = milliseconds === undefined ? '' : ` in ${duration(milliseconds)}`;
  const origins = {
    developer: `written by a developer${took}`,
    simulator: `written by the simulator${took}`,
    'developer-edited-suggestion': `suggested by the simulator, edited by a developer${took}`,
    'developer-sent-suggestion': `suggested by the simulator, sent as it was by a developer${took}`,
  };
  return { ...view, by: personOf(by, own), origin: origins[author], suggestion, fullText };
}

const personOf = (name: string, own: string | undefined): string => (name === own ? 'you' : name);
const verb = (name: string, own: string | undefined): string => (name === own ? 'have' : 'has');

function duration(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 1) return 'under a second';
  if (seconds < 60) return `${Math.round(seconds)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

function endingOf({ answer, abandoned, turns }: Trajectory): string {
  if (abandoned !== undefined) return `The dialogue was ${abandoned.reason}: ${abandoned.message}`;
  if (answer === undefined) return 'The dialogue is not finished.';
  const count = turns.length === 1 ? '1 turn' : `${turns.length} turns`;
  const endings = {
    answered: `The agent answered after ${count}.`,
    'turn-limit': `The turn limit made the agent’s message of turn ${turns.length} its answer.`,
    'ended-by-developer': `The developer ended the dialogue after ${count} and took the last message as the answer.`,
  };
  return endings[answer.reason];
}
