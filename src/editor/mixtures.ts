import path from 'node:path';
import type { CriticScorer } from '../core/model/local/critic/turnScorer';
import { mixedModels, mixtureSpec } from '../core/model/mixtureSpec';
import type { Model } from '../core/model/model';
import type { FolderSettings } from './configuration';

/** Agents made of models. A critic's process stays for the next turn, because each turn opens its agent anew. */
export class Mixtures {
  private readonly critics = new Map<string, CriticScorer>();

  /** @param dist the folder of the built scoring.js */
  constructor(
    private readonly dist: string,
    private readonly configuration: Pick<FolderSettings, 'resolve'>,
    private readonly openModel: (spec: string) => Promise<Model>,
  ) {}

  /**
   * Opens a mixture, or else a model.
   * @throws {Fault} as `mixtureSpec`, `CriticScorer` and the model
   */
  async open(spec: string): Promise<Model> {
    const mixture = mixtureSpec(spec);
    const models = await Promise.all(mixedModels(spec).map((model) => this.openModel(model)));
    if (mixture === undefined) return models[0]!;
    const { MixtureModel } = await import('../core/model/mixture');
    const scorer = await this.scorer(this.configuration.resolve(mixture.critic) ?? mixture.critic);
    return new MixtureModel(spec, models, scorer, mixture);
  }

  dispose(): void {
    for (const critic of this.critics.values()) void critic.close();
  }

  private async scorer(folder: string): Promise<CriticScorer> {
    const { CriticScorer } = await import('../core/model/local/critic/turnScorer');
    const scorer = this.critics.get(folder) ?? new CriticScorer(folder, path.join(this.dist, 'scoring.js'));
    this.critics.set(folder, scorer);
    return scorer;
  }
}
