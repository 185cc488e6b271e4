import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import type { Run } from '../../src/core/training/runs';
import { realTrainer } from '../fixtures/trainer';
import { processes } from './processes';

/** Holds the trainers of a story at places that it names, however short a stage is and however slow the machine. */
export class HeldTrainer {
  readonly #folder = mkdtempSync(path.join(os.tmpdir(), 'tandem-held-'));
  readonly #python = path.join(this.#folder, 'python');
  readonly #place = path.join(this.#folder, 'place');

  /** @param newest returns the latest run, whose trainer is meant */
  constructor(private readonly newest: () => Promise<Run>) {
    const lines = [
      '#!/bin/sh',
      `export TANDEM_HOLD="${this.#place}" PYTHONPATH="${path.resolve('test/fixtures/held-trainer')}:$PYTHONPATH"`,
      `exec "${realTrainer().python}" "$@"`,
    ];
    writeFileSync(this.#python, `${lines.join('\n')}\n`, { mode: 0o755 });
  }

  /** Environment variables of the extension host. */
  get environment(): Readonly<Record<string, string>> {
    return { TANDEM_TRAINER_PYTHON: this.#python };
  }

  /**
   * From now on a trainer suspends itself at a place.
   * @param place is found in `start`, or in the kind of an event with its state, stage and step: `step critic 10`
   */
  holdAt(place: RegExp): void {
    writeFileSync(this.#place, place.source);
  }

  /** Waits until the trainer has suspended itself. */
  async isHeld(): Promise<void> {
    for (;;) {
      const trainer = (await this.newest()).process?.pid;
      if ((await processes()).some(({ pid, isSuspended }) => isSuspended && pid === trainer)) return;
      await pause(50);
    }
  }

  /** Resumes the suspended trainer, which suspends itself again at another place; waits until it has. */
  async onTo(place: RegExp): Promise<void> {
    this.holdAt(place);
    await this.#resume();
    await this.isHeld();
  }

  /** Resumes the suspended trainer for good. */
  async release(): Promise<void> {
    rmSync(this.#place, { force: true });
    await this.#resume();
  }

  dispose(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #resume(): Promise<void> {
    process.kill((await this.newest()).process!.pid, 'SIGCONT');
  }
}
