import * as vscode from 'vscode';
import * as z from 'zod';
import { lazily } from '../../core/lazily';
import { figureNames } from '../../core/training/events';
import type { ChartName } from '../../../webview/chart/protocol';
import type { Memory } from '../consent';
import { recall } from '../recall';

const KEY = 'tandem.pinnedCharts';
/** The oldest chart is dropped. */
const MAX_REMEMBERED = 24;

const pinnedSchema = lazily(() => z.array(z.object({ stage: z.string(), figure: z.enum(figureNames) })));

/** Pinned charts of all runs and comparisons of the workspace, in the order of pinning. */
export class PinnedCharts {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;

  constructor(private readonly memory: Memory) {}

  get all(): readonly ChartName[] {
    return recall(this.memory, KEY, pinnedSchema) ?? [];
  }

  async pin({ stage, figure }: ChartName, isPinned: boolean): Promise<void> {
    const others = this.all.filter((one) => one.stage !== stage || one.figure !== figure);
    const next = isPinned ? [...others, { stage, figure }].slice(-MAX_REMEMBERED) : others;
    await this.memory.update(KEY, next);
    this.changed.fire();
  }

  dispose(): void {
    this.changed.dispose();
  }
}
