import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import type { Agreement } from '../../core/evaluation/agreement';
import type { Credit, Scorable } from '../../core/training/credit/credit';
import type { Critic } from '../../core/training/credit/critics';
import type { Trajectory } from '../../core/trajectory/trajectory';
import type { Engine } from '../engine';
import { cancellable } from '../progress';
import type { EditorTrainer } from '../trainer';
import { refuseInRestrictedMode, restrictionOf } from '../workspaceTrust';
import type { CriticChoice } from './criticChoice';
import type { KeptCredit } from './creditCache';
import { openCriticAt } from './criticOptions';
import { computePlayed, identityIn, type CreditPlace, type PlayedBy } from './playedCredits';
import { askPseudonym } from '../pseudonym';

const { t } = vscode.l10n;

const DO_NOT_RUN = t('Critics do not run');

export interface KnownCredit {
  readonly place: CreditPlace;
  /** Absent where its folder cannot be read, which `problem` explains. */
  readonly critic?: Pick<Critic, 'id' | 'unit'>;
  readonly problem?: string;
  /** Undefined where the critic has not read the dialogue's present state. */
  readonly credits: readonly (Credit | undefined)[];
  readonly agreement?: Agreement;
}

/** Computed on request and kept beside the log: a reopened replay shows it at once, even in an untrusted workspace. */
export class Credits {
  constructor(
    readonly choice: CriticChoice,
    private readonly kept: KeptCredit,
    private readonly trainer: EditorTrainer,
  ) {}

  /** Undefined in a trusted workspace. */
  get restriction(): string | undefined {
    return restrictionOf(DO_NOT_RUN);
  }

  /** Undefined while no critic is chosen. */
  async known(engine: Engine, trajectories: readonly Trajectory[]): Promise<KnownCredit | undefined> {
    const place = this.choice.chosen;
    if (place === undefined) return undefined;
    try {
      const critic = await (place.by === undefined ? openCriticAt(place) : identityIn(engine, place.by));
      const cache = await this.kept.cache(engine);
      const credits = await Promise.all(
        trajectories.map(async (trajectory) => {
          const scored = await this.scored(trajectory, place);
          return scored && cache.read(critic.id, scored);
        }),
      );
      return { place, critic, credits, agreement: await this.kept.agreement(engine, critic.id) };
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return { place, problem: error.message, credits: trajectories.map(() => undefined) };
    }
  }

  /**
   * Scores the dialogues that the chosen critic has not read.
   * @returns true if there is anything new
   * @throws {Fault} `editor/restricted`; faults of the critic and of the trainer
   */
  async compute(engine: Engine, trajectories: readonly Trajectory[]): Promise<boolean> {
    const place = this.choice.chosen;
    if (place === undefined) return false;
    if (place.by !== undefined) return this.play(engine, place.by, place.name, trajectories);
    const critic = await openCriticAt(place);
    const cache = await this.kept.cache(engine);
    const missing: Scorable[] = [];
    for (const trajectory of trajectories) {
      const scorable = await this.scorable(trajectory);
      if (scorable && (await cache.read(critic.id, scorable)) === undefined) missing.push(scorable);
    }
    if (missing.length === 0) return false;
    refuseInRestrictedMode(DO_NOT_RUN);
    const credits = await this.score(critic, missing, t('{0} scores the dialogue', place.name));
    for (const credit of credits ?? []) await cache.write(credit);
    return credits !== undefined;
  }

  private async play(
    engine: Engine,
    by: PlayedBy,
    name: string,
    trajectories: readonly Trajectory[],
  ): Promise<boolean> {
    const { id } = await identityIn(engine, by);
    const cache = await this.kept.cache(engine);
    const missing: Trajectory[] = [];
    for (const trajectory of trajectories) {
      const scored = await this.scored(trajectory, { by });
      if (scored && (await cache.read(id, scored)) === undefined) missing.push(trajectory);
    }
    if (missing.length === 0) return false;
    const credits = await cancellable(t('Credit: {0}', name), (signal, report) =>
      computePlayed(engine, by, id, missing, { signal, report }),
    );
    for (const credit of credits ?? []) await cache.write(credit);
    return credits !== undefined;
  }

  /** @returns undefined when the person cancelled, or declined to install the trainer */
  private async score(
    critic: Critic,
    scorables: readonly Scorable[],
    title: string,
  ): Promise<readonly Credit[] | undefined> {
    if (critic.runner === 'trainer' && !(await this.mayInstallTrainer())) return undefined;
    const { computeCredits } = await import('../../core/training/credit/compute');
    return cancellable(title, (signal, report) =>
      computeCredits(critic, scorables, {
        scoring: path.join(this.trainer.assets, 'scoring.js'),
        trainer: () => {
          report(t('by the trainer, which takes a while to start'));
          return this.trainer.open(signal, report);
        },
        signal,
        onLine: (line) => report(line),
      }),
    );
  }

  private mayInstallTrainer(): Promise<boolean> {
    return this.trainer.mayInstall(
      t('This critic has no graphs for this machine, so the trainer has to score. Install what it needs?'),
      t('Or make ONNX graphs with the command tandem onnx.'),
    );
  }

  /** Undefined before the agent's first message. */
  private async scored(
    trajectory: Trajectory,
    { by }: Pick<CreditPlace, 'by'>,
  ): Promise<Pick<Scorable, 'episode' | 'of'> | undefined> {
    if (by === undefined || trajectory.turns.length === 0) return this.scorable(trajectory);
    const { digestOf, playedDialogue } = await import('../../core/training/credit/playedCredit');
    return { episode: trajectory.id, of: digestOf(playedDialogue(trajectory)) };
  }

  /** Undefined before the agent's first message. */
  private async scorable(trajectory: Trajectory): Promise<Scorable | undefined> {
    if (trajectory.turns.length === 0) return undefined;
    const { scorable } = await import('../../core/training/credit/credit');
    const { Prompts } = await import('../../core/dialogue/prompts');
    return scorable(trajectory, await Prompts.load(this.trainer.prompts));
  }
}

/** `agrees` is undefined when the verdict is taken back. */
export interface NewVerdict {
  readonly turn: number;
  readonly agrees: boolean | undefined;
}

/**
 * Logs the shown credit, too. A person without consent is asked for it first.
 * @returns true if it was logged
 * @throws {Fault} of the log
 */
export async function logVerdict(
  engine: Engine,
  trajectory: Trajectory,
  credit: Credit,
  { turn, agrees }: NewVerdict,
): Promise<boolean> {
  const by = await askPseudonym(
    engine,
    t(
      'Your verdicts on the critic are logged under a pseudonym. Choose one first, and how your data may be shared.',
    ),
  );
  const advantage = credit.turns.find((one) => one.turn === turn)?.advantage ?? null;
  if (by === undefined || advantage === null) return false;
  const { critic } = credit;
  const before = trajectory.turns
    .find(({ agent }) => agent.turn === turn)
    ?.verdicts?.find((verdict) => verdict.by === by && verdict.critic === critic);
  if (before?.agrees === agrees) return false;
  await engine.consent.record();
  const log = await engine.log();
  await log.append(
    {
      event: 'credit-verdict',
      episode: trajectory.id,
      turn,
      critic,
      advantage,
      ...(agrees !== undefined && { agrees }),
      by,
    },
    { durable: true },
  );
  return true;
}
