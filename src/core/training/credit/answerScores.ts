import { createHash } from 'node:crypto';
import type { DialogueParts } from '../../dialogue/dialogueParts';
import { Fault } from '../../fault';
import type { Grade, GradingMode } from '../../grading/grade';
import type { Grader } from '../../grading/grader';
import { gradePage } from '../../grading/page';
import { isProgram, type Task } from '../../task/task';

/** Pages may be absent where no task is a web page. */
export interface AnswerGrading extends Pick<DialogueParts, 'pages' | 'clip'> {
  readonly grader: Pick<Grader, 'grade'>;
  readonly mode: GradingMode;
  readonly signal?: AbortSignal;
}

interface AnswerScore extends Pick<Grade, 'success'> {
  readonly reward: number;
}

/** Grades each answer once, also while it is being graded, because most samples of a history end in one of a few. */
export class AnswerScores {
  private readonly scores = new Map<string, Promise<AnswerScore>>();

  constructor(private readonly grading: AnswerGrading) {}

  /** @throws {Fault} `training/cannot-score` when the answer cannot be graded here */
  of(task: Task, answer: string): Promise<AnswerScore> {
    const key = createHash('sha256')
      .update(JSON.stringify([task.id, answer]))
      .digest('base64');
    const score = this.scores.get(key) ?? this.graded(task, answer);
    this.scores.set(key, score);
    return score;
  }

  private async graded(task: Task, answer: string): Promise<AnswerScore> {
    const { reward, success, notGradable = 'no reason was given.' } = await this.grade(task, answer);
    if (reward !== null) return { reward, success };
    throw new Fault(
      'training/cannot-score',
      `An answer to the task ${task.id} cannot be graded here: ${notGradable} Leave such tasks out.`,
    );
  }

  private grade(task: Task, answer: string): Promise<Grade> {
    const { grader, mode, pages, clip, signal } = this.grading;
    if (isProgram(task)) return grader.grade(task, answer, { mode, signal });
    if (pages === undefined)
      throw new Fault(
        'training/cannot-score',
        `The task ${task.id} is a web page, which cannot be scored here. Grade its dialogues first.`,
      );
    return gradePage(task, answer === '' ? [] : [{ turn: 1, html: answer }], mode, pages, clip);
  }
}
