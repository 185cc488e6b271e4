import path from 'node:path';
import * as vscode from 'vscode';
import { Fault, messageOf } from '../../core/fault';
import type { Agreement, SaidOfTurns } from '../../core/evaluation/agreement';
import type { CreditCache } from '../../core/training/credit/cache';
import type { Credit, Scorable } from '../../core/training/credit/credit';
import type { Critic, CriticPlace } from '../../core/training/credit/critics';
import type { Trajectory } from '../../core/trajectory/trajectory';
import type { Engine } from '../engine';
import type { Engines } from '../engines';
import { cancellable } from '../progress';
import { refuseInRestrictedMode } from '../trust/restricted';
import type { CriticChoice } from './choice';
import { openShippedTrainer } from './trainer';

const { t } = vscode.l10n;

/** What is known of the credit of dialogues under the chosen critic. */
export interface KnownCredit {
  readonly place: CriticPlace;
  /** Absent where its folder cannot be read; `problem` says why. */
  readonly critic?: Critic;
  readonly problem?: string;
  /** Of each dialogue that was asked for; undefined where the critic has not read it as it is now. */
  readonly credits: readonly (Credit | undefined)[];
  readonly agreement?: Agreement;
}

/**
 * What the chosen critic says of dialogues. It is computed when a person asks for it and kept beside the log, so that a
 * replay that is opened again shows it at once, also in a workspace that is not trusted.
 */
export class Credits implements vscode.Disposable {
  /** By data folder. */
  private readonly kept = new Map<string, { readonly cache: CreditCache; readonly said: SaidOfTurns }>();
  private readonly following: vscode.Disposable;

  /** @param dist the folder of the built extension */
  constructor(
    readonly choice: CriticChoice,
    private readonly dist: string,
    engines: Pick<Engines, 'onDidChangeLog'>,
  ) {
    this.following = engines.onDidChangeLog(({ engine, episodes }) =>
      this.kept.get(engine.dataFolder)?.said.forget(episodes),
    );
  }

  dispose(): void {
    this.following.dispose();
  }

  /** Undefined while no critic was chosen. */
  async known(engine: Engine, trajectories: readonly Trajectory[]): Promise<KnownCredit | undefined> {
    const place = this.choice.chosen;
    if (place === undefined) return undefined;
    try {
      const critic = await this.open(place);
      const { cache, said } = await this.keptOf(engine);
      const credits = await Promise.all(
        trajectories.map(async (trajectory) => {
          const scorable = await this.scorable(trajectory);
          return scorable && cache.read(critic.id, scorable);
        }),
      );
      const { agreementWith } = await import('../../core/evaluation/agreement');
      const advantages = await cache.advantages(critic.id);
      const agreement = await agreementWith(await engine.log(), critic.id, advantages, said);
      return { place, critic, credits, agreement };
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return { place, problem: error.message, credits: trajectories.map(() => undefined) };
    }
  }

  /**
   * Has the chosen critic read those of the dialogues that it has not read, with progress and a way to cancel.
   * @returns whether there is anything new
   * @throws {Fault} `editor/restricted`; of the critic, of the trainer
   */
  async compute(engine: Engine, trajectories: readonly Trajectory[]): Promise<boolean> {
    const place = this.choice.chosen;
    if (place === undefined) return false;
    const critic = await this.open(place);
    const { cache } = await this.keptOf(engine);
    const missing: Scorable[] = [];
    for (const trajectory of trajectories) {
      const scorable = await this.scorable(trajectory);
      if (scorable && (await cache.read(critic.id, scorable)) === undefined) missing.push(scorable);
    }
    if (missing.length === 0) return false;
    refuseInRestrictedMode(t('Critics do not run'));
    const credits = await this.score(critic, missing, t('{0} scores the dialogue', place.name));
    for (const credit of credits ?? []) await cache.write(credit);
    return credits !== undefined;
  }

  /** @returns undefined when the person cancelled it */
  private async score(
    critic: Critic,
    scorables: readonly Scorable[],
    title: string,
  ): Promise<readonly Credit[] | undefined> {
    const { computeCredits } = await import('../../core/training/credit/compute');
    return cancellable(title, async (signal, report) => {
      const cancel = new AbortController();
      const onLine = (line: string): void => report(line);
      try {
        return await computeCredits(critic, scorables, {
          scoring: path.join(this.dist, 'scoring.js'),
          trainer: async () => {
            const trainer = await openShippedTrainer(this.dist, { signal, onLine });
            if (trainer === undefined) cancel.abort();
            cancel.signal.throwIfAborted();
            return trainer!;
          },
          signal,
          onLine,
        });
      } catch (error) {
        if (cancel.signal.aborted) return undefined;
        throw error;
      }
    });
  }

  private async open({ folder }: CriticPlace): Promise<Critic> {
    const { openCritic } = await import('../../core/training/credit/critics');
    try {
      return openCritic(folder);
    } catch (error) {
      if (error instanceof Fault) throw error;
      throw new Fault('editor/critic-unreadable', t('The critic cannot be read: {0}', messageOf(error)), {
        cause: error,
      });
    }
  }

  /** Undefined of a dialogue in which the agent has said nothing yet. */
  private async scorable(trajectory: Trajectory): Promise<Scorable | undefined> {
    if (trajectory.turns.length === 0) return undefined;
    const { scorable } = await import('../../core/training/credit/credit');
    const { Prompts } = await import('../../core/dialogue/prompts');
    return scorable(trajectory, await Prompts.load(path.join(this.dist, 'prompts')));
  }

  private async keptOf({ dataFolder }: Engine): Promise<{ cache: CreditCache; said: SaidOfTurns }> {
    const { CreditCache } = await import('../../core/training/credit/cache');
    const { SaidOfTurns } = await import('../../core/evaluation/agreement');
    const before = this.kept.get(dataFolder);
    const kept = before ?? { cache: new CreditCache(dataFolder), said: new SaidOfTurns() };
    this.kept.set(dataFolder, kept);
    return kept;
  }
}
