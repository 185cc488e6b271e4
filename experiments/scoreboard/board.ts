import { join } from 'node:path';
import { inFlight } from '../../src/core/concurrency';
import { messageOf } from '../../src/core/fault';
import { claimIn } from '../../src/core/trajectory/claim';
import { cellName, rowKey, type Cell } from './cells';
import {
  bestNew,
  cellsOf,
  choicesOf,
  equalArms,
  mainArms,
  playerOf,
  rowsOf,
  settingsOf,
  type Arm,
  type ArmRows,
  type Choices,
} from './choice';
import { creditOf, type Credit } from './credit';
import { isTrained, type Method } from './methods';
import { Models } from './models';
import { Pace } from './pace';
import { missing, playCell } from './play';
import { Rows } from './rows';
import type { Surroundings } from './surroundings';
import { TimeLimit } from './timeLimit';

/** What the rows say by now. */
export interface Board {
  readonly choices: Choices;
  readonly main: readonly PlayedArm[];
  readonly equal: readonly PlayedArm[];
  /** Names of the new methods with primary comparisons; undefined until all new methods are chosen. */
  readonly best: readonly string[] | undefined;
  /** Cells of the whole plan that can be named by now, and how many of them are finished. */
  readonly cells: { readonly done: number; readonly total: number };
  /** Cells that failed in this call, with the message. */
  readonly failures: readonly { readonly cell: string; readonly message: string }[];
  readonly isOutOfTime: boolean;
  /** Undefined unless it was measured. */
  readonly credit: Credit | undefined;
}

export interface PlayedArm extends Arm {
  readonly rows: ArmRows;
}

export interface BoardOptions extends Surroundings {
  /** The part of the plan that this call works on; the board is always of all rows. */
  readonly piece: {
    readonly methods: readonly string[];
    /** Training seeds of the table. */
    readonly seeds: readonly number[];
    /** No work begins or continues after that. */
    readonly minutes?: number;
  };
  /** Also measures how well the critics of the first training seed rank turns. */
  readonly withCredit: boolean;
}

/** Number of cells at one time; each trains on one thread. */
const AT_ONCE = 2;

/**
 * Plays the missing cells of a piece: the development split, on which setting and temperature of each method are
 * chosen, then the test split. Every finished row is stored, so that any later call, also on another machine, continues
 * from it.
 *
 * @throws {Fault} `study/bad-row`, `trajectory/claimed` when another process works in the folder
 * @throws the signal's reason when it is aborted
 */
export async function scoreboard(options: BoardOptions): Promise<Board> {
  const claim = await claimIn(join(options.out, 'claims'), 'scoreboard', `The scoreboard in ${options.out}`);
  try {
    const time = new TimeLimit(options.piece.minutes, options.signal);
    return await new Work({ ...options, signal: time.signal }, await Rows.open(options.rows), time).done();
  } finally {
    await claim.release();
  }
}

class Work {
  private readonly models: Models;
  private readonly failures = new Map<string, string>();

  constructor(
    private readonly to: BoardOptions,
    private readonly rows: Rows,
    private readonly time: TimeLimit,
  ) {
    this.models = new Models(to);
  }

  async done(): Promise<Board> {
    let credit: Credit | undefined;
    try {
      // Each stage depends on the choices that the one before it allows.
      await this.play(this.development((method) => !usesOthers(method)));
      await this.play(this.development(usesOthers));
      await this.play(this.test().filter(({ player }) => this.to.piece.seeds.includes(player.seed)));
      if (this.to.withCredit && this.time.mayBegin()) credit = await this.measureCredit();
    } catch (error) {
      if (!this.time.isOver) throw error;
    }
    return this.board(credit);
  }

  /** Setting by setting: two of one method mostly share a critic, which the later one then finds trained. */
  private development(of: (method: Method) => boolean): Cell[] {
    const { plan, methods } = this.to;
    const choices = choicesOf(this.rows, this.to);
    return plan.choiceSeeds.flatMap((seed) =>
      Array.from({ length: plan.settings }, (_, place) => place).flatMap((place) =>
        methods.filter(of).flatMap((method): Cell[] => {
          const setting = settingsOf(method, plan)[place];
          const player = setting && playerOf(method, setting, seed, choices);
          return player === undefined ? [] : [{ player, split: 'development' }];
        }),
      ),
    );
  }

  /** Seed by seed, so that after an early stop all methods have about equally many. */
  private test(): Cell[] {
    const choices = choicesOf(this.rows, this.to);
    const arms = [...mainArms(choices, this.to.plan), ...equalArms(choices, this.to.plan)];
    const cells = arms.flatMap((arm) => cellsOf(arm, choices));
    const distinct = new Map(
      cells.map((cell) => [rowKey(cell, this.to.plan.temperatures[0]!, this.to), cell]),
    );
    return [...distinct.values()].sort((a, b) => a.player.seed - b.player.seed);
  }

  private async play(cells: readonly Cell[]): Promise<void> {
    const { to, time } = this;
    const todo = cells.filter(
      (cell) => to.piece.methods.includes(cell.player.method.name) && missing(cell, this.rows, to).length > 0,
    );
    const pace = new Pace(todo.length, AT_ONCE, (told) => to.onProgress?.(told));
    const play = (some: readonly Cell[]): Promise<void> =>
      inFlight(some, AT_ONCE, async (cell) => {
        if (!time.mayBegin()) return;
        const name = cellName(cell);
        const failure = await this.attempt(cell, (where) => pace.where(name, where));
        pace.finished(name, failure === undefined ? 'done' : `failed: ${failure}`);
      });
    await play(todo);
    // A cell that failed by chance, e.g. because memory ran out for a moment, is tried once more, since nobody may be
    // watching.
    await play(todo.filter((cell) => this.failures.has(cellName(cell))));
  }

  /** @returns the message of a failure */
  private async attempt(cell: Cell, onWhere: (where: string) => void): Promise<string | undefined> {
    const { to, time, rows, models } = this;
    const name = cellName(cell);
    const began = performance.now();
    this.failures.delete(name);
    try {
      await playCell(cell, rows, models, to, onWhere);
    } catch (error) {
      to.signal?.throwIfAborted();
      this.failures.set(name, messageOf(error));
    }
    time.ended(began);
    return this.failures.get(name);
  }

  private async measureCredit(): Promise<Credit> {
    const seed = this.to.plan.seeds[0]!;
    const choices = choicesOf(this.rows, this.to);
    const players = mainArms(choices, this.to.plan).flatMap(({ method, setting }) =>
      isTrained(method) && this.to.piece.methods.includes(method.name) ? [{ method, setting, seed }] : [],
    );
    return creditOf(players, this.models, this.to);
  }

  private board(credit: Credit | undefined): Board {
    const { to, rows } = this;
    const choices = choicesOf(rows, to);
    const playedArm = (arm: Arm): PlayedArm => ({ ...arm, rows: rowsOf(arm, choices, rows, to) });
    const all = [...this.development(() => true), ...this.test()];
    return {
      choices,
      main: mainArms(choices, to.plan).map(playedArm),
      equal: equalArms(choices, to.plan).map(playedArm),
      best: bestNew(choices, to.plan),
      cells: {
        done: all.filter((cell) => missing(cell, rows, to).length === 0).length,
        total: all.length,
      },
      failures: [...this.failures].map(([cell, message]) => ({ cell, message })),
      isOutOfTime: this.time.hasLeftWork,
      credit,
    };
  }
}

const usesOthers = (method: Method): boolean => !isTrained(method) && method.uses.length > 0;
