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
import { type CriticChoice, type KeptCredit, openCriticAt } from './critics';
import { computePlayed, identityIn, type CreditPlace } from './playedCredits';
import { askPseudonym } from '../inputSteps';

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

/** What gives credit; `score` returns undefined when the person cancelled, or declined to install the trainer. */
interface Opened extends Pick<Critic, 'id' | 'unit'> {
  readonly score: (missing: readonly Trajectory[]) => Promise<readonly Credit[] | undefined>;
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
      const { id, unit } = await this.opened(engine, place);
      const cache = await this.kept.cache(engine);
      const credits = await Promise.all(
        trajectories.map(async (trajectory) => {
          const scored = await this.scored(trajectory, place);
          return scored && cache.read(id, scored);
        }),
      );
      const agreement = await this.kept.agreement(engine, id);
      return { place, critic: { id, unit }, credits, agreement };
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
    const { id, score } = await this.opened(engine, place);
    const cache = await this.kept.cache(engine);
    const missing: Trajectory[] = [];
    for (const trajectory of trajectories) {
      const scored = await this.scored(trajectory, place);
      if (scored && (await cache.read(id, scored)) === undefined) missing.push(trajectory);
    }
    if (missing.length === 0) return false;
    const credits = await score(missing);
    for (const credit of credits ?? []) await cache.write(credit);
    return credits !== undefined;
  }

  /** Runs nothing until `score` is called. */
  private async opened(engine: Engine, place: CreditPlace): Promise<Opened> {
    const { by, name } = place;
    if (by === undefined) {
      const critic = await openCriticAt(place);
      const { id, unit } = critic;
      return {
        id,
        unit,
        score: (missing) => this.score(critic, missing, t('{0} scores the dialogue', name)),
      };
    }
    const { id, unit } = await identityIn(engine, by);
    const score: Opened['score'] = (missing) =>
      cancellable(t('Credit: {0}', name), (signal, report) =>
        computePlayed(engine, by, id, missing, { signal, report }),
      );
    return { id, unit, score };
  }

  private async score(
    critic: Critic,
    trajectories: readonly Trajectory[],
    title: string,
  ): Promise<readonly Credit[] | undefined> {
    refuseInRestrictedMode(DO_NOT_RUN);
    const mayRun =
      critic.runner !== 'trainer' ||
      (await this.trainer.mayInstall(
        t('This critic has no graphs for this machine, so the trainer has to score. Install what it needs?'),
        t('Or make ONNX graphs with the command tandem onnx.'),
      ));
    if (!mayRun) return undefined;
    const scorables = await Promise.all(trajectories.map((trajectory) => this.scorable(trajectory)));
    const { computeCredits } = await import('../../core/training/credit/compute');
    return cancellable(title, (signal, report) =>
      computeCredits(
        critic,
        scorables.filter((scorable) => scorable !== undefined),
        {
          scoring: path.join(this.trainer.assets, 'scoring.js'),
          trainer: () => {
            report(t('by the trainer, which takes a while to start'));
            return this.trainer.open(signal, report);
          },
          signal,
          onLine: (line) => report(line),
        },
      ),
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
