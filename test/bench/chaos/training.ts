import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Runs, type Run } from '../../../src/core/training/runs';
import { tinyModel } from '../../fixtures/trainer';
import type { Findings } from './findings';
import type { Victim, VictimPlan } from './victim';

/** Matches the trainer at work, but not the earlier check of the machine. */
export const TRAINER = /-m tandem_trainer \S+run\.json/;

interface Step {
  readonly event: string;
  readonly stage: string;
  readonly step: number;
  readonly loss: number;
}

/** A real, endless run of a tiny model; it is started once, and resumed whenever its trainer is gone. */
export class Training {
  readonly #runs: Runs;

  private constructor(
    private readonly data: string,
    private readonly file: string,
    private readonly findings: Findings,
  ) {
    this.#runs = new Runs(data);
  }

  static async of(folder: string, data: string, findings: Findings): Promise<Training> {
    const file = path.join(folder, 'run.json');
    const stage = { learning_rate: 1e-2, batch: 2, patience: 0, evaluate_every: 1000, epochs: 1e6 };
    const configuration = {
      ...{ name: 'tiny', method: 'multiturn-dpo' },
      model: { base: await tinyModel(path.join(folder, 'base')), device: 'cpu', lora_rank: 2 },
      data: { log: data, held_out: 0.4, opening: 'short.md', pairing: 'all' },
      policy: stage,
      // With a checkpoint after every step, a kill loses nothing.
      resources: { token_budget: 4096, checkpoint_activations: false, threads: 1, checkpoint_minutes: 0 },
    };
    await writeFile(file, JSON.stringify(configuration));
    await writeFile(path.join(folder, 'short.md'), '{{description}}');
    return new Training(data, file, findings);
  }

  get plan(): VictimPlan {
    return {
      name: 'train',
      next: async () => {
        const run = await this.#run();
        if (run === undefined) return ['train', this.file, '--data', this.data, '--follow'];
        return [run.isLive ? 'runs' : 'resume', run.id, '--data', this.data, '--follow'];
      },
      worker: TRAINER,
      seconds: 60,
      parts: [TRAINER, TRAINER],
      outlives: TRAINER,
      after: () => this.#look(),
    };
  }

  /** Continues the run without kills until it has its model. */
  async finish(victim: Victim): Promise<number> {
    const run = await this.#run();
    if (run === undefined) {
      this.findings.violation('train', 'no run was ever begun');
      return 0;
    }
    if (!run.isLive)
      this.findings.ended('train', await victim.undisturbed(['resume', run.id, '--data', this.data]));
    const begun = (await this.#steps(run)).length;
    while ((await this.#steps(run)).length <= begun && (await this.#runs.find(run.id)).isLive)
      await new Promise((resolve) => setTimeout(resolve, 500));
    const life = await victim.undisturbed(['stop', run.id, '--finish', '--data', this.data]);
    this.findings.ended('train', life);
    const { state, message } = await this.#runs.find(run.id);
    if (state !== 'done')
      this.findings.violation('train', `undisturbed its run is ${state}: ${message} ${life.stderr}`);
    await this.#look();
    return new Set((await this.#steps(run)).map(({ step }) => step)).size;
  }

  async #run(): Promise<Run | undefined> {
    return (await this.#runs.list()).find(({ isLive, canResume }) => isLive || canResume);
  }

  /** Expects that no step is missing, and that a repeated step is the same. */
  async #look(): Promise<void> {
    for (const run of await this.#runs.list()) {
      const losses = new Map<number, number>();
      for (const { step, loss } of await this.#steps(run)) {
        const before = losses.get(step);
        if (before !== undefined && Math.abs(before - loss) > 1e-4 * Math.abs(before))
          this.findings.violation('train', `step ${step} of ${run.id} has the losses ${before} and ${loss}`);
        losses.set(step, loss);
        if (step > 1 && !losses.has(step - 1))
          this.findings.violation('train', `${run.id} left out step ${step - 1}`);
      }
    }
  }

  async #steps({ folder }: Run): Promise<Step[]> {
    const text = await readFile(path.join(folder, 'events.jsonl'), 'utf8').catch(() => '');
    return text.split('\n').flatMap((line) => {
      try {
        const event = JSON.parse(line) as Step;
        return event.event === 'step' ? [event] : [];
      } catch {
        return [];
      }
    });
  }
}
