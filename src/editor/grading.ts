import type { AnswerRunner, Grader } from '../core/grading/grader';
import type { FolderSettings } from './configuration';

/** The one grader of the window; it starts on first use, and restarts when its settings change. */
export class Grading {
  private started: { readonly settings: string; readonly grader: Promise<Grader & AnswerRunner> } | undefined;

  constructor(
    private readonly configuration: FolderSettings,
    private readonly assets: string,
    private readonly cacheFolder: string,
    private readonly report: (error: unknown) => void,
    private readonly note: (sentence: string) => void,
  ) {}

  grader(): Promise<Grader & AnswerRunner> {
    const settings = JSON.stringify(this.configuration.grader);
    if (this.started?.settings !== settings) {
      void this.close();
      const grader = this.start();
      this.started = { settings, grader };
      grader.catch(() => (this.started = undefined));
    }
    return this.started.grader;
  }

  async close(): Promise<void> {
    const { started } = this;
    this.started = undefined;
    try {
      await (await started?.grader)?.close();
    } catch (error) {
      this.report(error);
    }
  }

  private async start(): Promise<Grader & AnswerRunner> {
    const { createGrader } = await import('../core/grading/grader');
    const { systemPython } = await import('../core/grading/native/native');
    return createGrader({
      native: systemPython(this.assets),
      assets: this.assets,
      ...this.configuration.grader,
      cache: { folder: this.cacheFolder, onNotice: this.note },
    });
  }
}
