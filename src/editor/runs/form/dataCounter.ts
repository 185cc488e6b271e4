import type { CountOptions, DataCounts } from '../../../core/training/data/countData';
import { pause } from '../../../core/training/pause';
import { feedbackOfRun, methodIn, needsGrades, rowsOfRun } from '../../../core/training/methods';
import { PAIRINGS } from '../../../core/trajectory/export/selection';
import type { TrajectoryLog } from '../../../core/trajectory/log';

type Data = Readonly<Record<string, unknown>>;
type Configuration = Readonly<Record<string, unknown>>;
type How = Pick<CountOptions, 'rows' | 'withUngraded' | 'feedback'>;

/** Milliseconds without a change, so that a series of clicks is counted once. */
const REST_MS = 120;

/** Counts only the latest request, and none twice. */
export class Counting {
  private counted = '';
  private running: AbortController | undefined;

  constructor(
    /** @param counts undefined while counting */
    private readonly told: (counts: DataCounts | undefined) => void,
    private readonly report: (error: unknown) => void,
  ) {}

  /** @param again true when the log has changed */
  update(log: TrajectoryLog, configuration: Configuration, again = false): void {
    const data = configuration.data as Data;
    const how = {
      rows: rowsOfRun(configuration),
      withUngraded: !needsGrades(methodIn(configuration)),
      feedback: feedbackOfRun(configuration),
    };
    const text = JSON.stringify([data, how]);
    if (text === this.counted && !again) return;
    this.stop();
    this.counted = text;
    this.told(undefined);
    const running = new AbortController();
    this.running = running;
    this.count(log, data, how, running.signal).catch((error: unknown) => {
      if (!running.signal.aborted) this.report(error);
    });
  }

  stop(): void {
    this.running?.abort();
    this.counted = '';
  }

  private async count(log: TrajectoryLog, data: Data, how: How, signal: AbortSignal): Promise<void> {
    await pause(REST_MS, signal);
    const { parseSelection } = await import('../../../core/training/configuration');
    const { countData } = await import('../../../core/training/data/countData');
    const selection = parseSelection(data, { from: '', folder: '' });
    if (selection === undefined) return;
    const counts = await countData(log, selection, {
      ...how,
      pairing: PAIRINGS.find((pairing) => pairing === data.pairing) ?? 'paper',
      margin: typeof data.pair_margin === 'number' ? data.pair_margin : undefined,
      signal,
    });
    if (!signal.aborted) this.told(counts);
  }
}
