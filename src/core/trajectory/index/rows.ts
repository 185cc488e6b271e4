import type { RowEvent } from './glance';
import type { StartFields } from './episodes';
import type { IndexParts } from './parts';

/**
 * What each event changes in the row of its episode. Where an event does not simply add to what is known (a turn taken
 * back, an answer reopened), the row is put down in `unsettled`: only the whole episode tells what holds.
 */
export class Rows {
  readonly unsettled = new Set<number>();

  constructor(private readonly parts: IndexParts) {}

  /**
   * @param at the time of the event, in milliseconds since 1970
   * @param segment in which it stands
   */
  apply(row: number, event: RowEvent, at: number, segment: number): void {
    const { episodes } = this.parts;
    switch (event.event) {
      case 'episode-started':
        this.start(row, event, at, segment);
        return;
      case 'agent-turn':
      case 'candidates':
      case 'choice':
        this.play(row, event.event, event.turn);
        return;
      case 'reply':
        this.reply(row, event.turn, event.author === 'simulator' ? undefined : event.milliseconds);
        return;
      case 'leak':
        this.leak(row, event.turn, event.fraction, event.leaked);
        return;
      case 'grade':
        episodes.setGrade(row, event.grade.mode, event.grade.reward, event.grade.success);
        return;
      case 'hand-over':
        episodes.seat(row, event.to);
        return;
      case 'rating':
        episodes.columns.stars.set(row, event.stars ?? 0);
        return;
      case 'turn-rating':
        if (event.turn > episodes.columns.turns.get(row)) this.unsettled.add(row);
        return;
      case 'answered':
        episodes.setState(row, 'answered');
        return;
      case 'abandoned':
        if (episodes.isAnswered(row)) this.unsettled.add(row);
        episodes.setState(row, event.reason);
        return;
      case 'resumed':
        if (episodes.isAnswered(row)) this.unsettled.add(row);
        episodes.resume(row, event.agent);
        episodes.setState(row, 'open');
        return;
      case 'deleted':
        if (episodes.isDoubtful(row)) this.unsettled.add(row);
        episodes.delete(row);
        return;
      case 'undeleted':
        if (episodes.isDoubtful(row)) this.unsettled.add(row);
        episodes.undelete(row);
        return;
      case 'credit-verdict':
        // It may take back or replace another one, which only the whole episode tells.
        this.unsettled.add(row);
        return;
      case 'lines-lost':
        this.unsettled.add(row);
        return;
      case 'turn-superseded':
        // The turn that follows it says so again.
        return;
      case 'outcome':
        // No list shows it.
        return;
    }
  }

  /** The row of the line that holds an episode's task; -1 when the log does not. */
  taskLine(row: number): number {
    const { task, taskLine } = this.parts.episodes.columns;
    if (taskLine.get(row) < 0) taskLine.set(row, this.parts.tasks.find(task.get(row), -1));
    return taskLine.get(row);
  }

  private start(row: number, event: StartFields, at: number, segment: number): void {
    const { episodes, strings, tasks } = this.parts;
    episodes.start(row, event, at);
    const line = tasks.find(strings.number(event.task), segment);
    episodes.columns.taskLine.set(row, line);
    // Its own segment lost the task, or never had it: whether another copy may stand for it, all of them tell.
    if (line < 0 || tasks.range(line).segment !== segment) this.unsettled.add(row);
  }

  private play(row: number, kind: 'agent-turn' | 'candidates' | 'choice', turn: number): void {
    const { turns, choices, undecidedTurn } = this.parts.episodes.columns;
    switch (kind) {
      case 'agent-turn':
        if (!this.isNext(row, turn)) this.unsettled.add(row);
        turns.set(row, turn);
        undecidedTurn.set(row, 0);
        return;
      case 'candidates':
        if (!this.isNext(row, turn)) this.unsettled.add(row);
        undecidedTurn.set(row, turn);
        return;
      case 'choice':
        if (turn !== undecidedTurn.get(row)) this.unsettled.add(row);
        choices.set(row, choices.get(row) + 1);
        undecidedTurn.set(row, 0);
        return;
    }
  }

  /** Follows on the last turn, and that has its reply. */
  private isNext(row: number, turn: number): boolean {
    const { turns, lastReplyTurn } = this.parts.episodes.columns;
    return turn === turns.get(row) + 1 && lastReplyTurn.get(row) === turn - 1;
  }

  private reply(row: number, turn: number, milliseconds: number | undefined): void {
    const { episodes } = this.parts;
    const { turns, lastReplyTurn } = episodes.columns;
    if (turn !== turns.get(row) || turn <= lastReplyTurn.get(row)) this.unsettled.add(row);
    episodes.addReply(row, turn, milliseconds);
  }

  private leak(row: number, turn: number, fraction: number, leaked: boolean): void {
    const { episodes } = this.parts;
    const known = episodes.columns.turns.get(row);
    if (turn > known || turn <= episodes.columns.lastLeakTurn.get(row)) this.unsettled.add(row);
    episodes.addLeak(row, turn, fraction, leaked);
  }
}
