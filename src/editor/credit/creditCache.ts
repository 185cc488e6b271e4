import type { Agreement, TurnJudgements } from '../../core/evaluation/agreement';
import type { CreditCache } from '../../core/training/credit/cache';
import type * as vscode from 'vscode';
import type { Engine } from '../engine';
import type { Engines } from '../engines';

interface Kept {
  readonly cache: CreditCache;
  readonly said: TurnJudgements;
}

/** Critics' scores and people's judgements of the same turns, by log. */
export class KeptCredit implements vscode.Disposable {
  private readonly byDataFolder = new Map<string, Kept>();
  private readonly following: vscode.Disposable;

  constructor(
    engines: Pick<Engines, 'onDidChangeLog'>,
    private readonly output: vscode.LogOutputChannel,
  ) {
    this.following = engines.onDidChangeLog(({ engine, episodes }) =>
      this.byDataFolder.get(engine.dataFolder)?.said.forget(episodes),
    );
  }

  async cache(engine: Engine): Promise<CreditCache> {
    return (await this.of(engine)).cache;
  }

  /** @param critic its identity */
  async agreement(engine: Engine, critic: string): Promise<Agreement> {
    const { agreementWith } = await import('../../core/evaluation/agreement');
    const { cache, said } = await this.of(engine);
    return agreementWith(await engine.log(), critic, await cache.advantages(critic), said);
  }

  dispose(): void {
    this.following.dispose();
  }

  private async of({ dataFolder }: Engine): Promise<Kept> {
    const { CreditCache } = await import('../../core/training/credit/cache');
    const { TurnJudgements } = await import('../../core/evaluation/agreement');
    const before = this.byDataFolder.get(dataFolder);
    const kept = before ?? {
      cache: new CreditCache(dataFolder, (sentence) => this.output.warn(sentence)),
      said: new TurnJudgements(),
    };
    this.byDataFolder.set(dataFolder, kept);
    return kept;
  }
}
