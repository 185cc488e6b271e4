import { Fault } from '../../../core/fault';
import { unknownCluster, type ClusterState } from './cluster';

/** Milliseconds without typing. */
const REST_MS = 600;

/** Asks the cluster for its nodes. Only the latest address is asked, and none twice. */
export class ClusterCheck {
  state: ClusterState = unknownCluster;
  private address: string | undefined;
  private asking: AbortController | undefined;
  private asked: Promise<void> = Promise.resolve();

  /**
   * @param told called when the state has changed
   * @param report gets errors that are not the cluster's
   */
  constructor(
    private readonly told: () => void,
    private readonly report: (error: unknown) => void,
  ) {}

  /** @param address undefined when the form names no cluster */
  update(address: string | undefined): void {
    if (address === this.address) return;
    this.stop();
    this.address = address;
    if (address === undefined) this.state = unknownCluster;
    else this.ask(address, REST_MS);
  }

  again(): void {
    const { address } = this;
    if (address === undefined) return;
    this.stop();
    this.address = address;
    this.ask(address, 0);
    this.told();
  }

  settled(): Promise<void> {
    return this.asked;
  }

  stop(): void {
    this.asking?.abort();
    this.address = undefined;
  }

  private ask(address: string, restMs: number): void {
    const asking = new AbortController();
    this.asking = asking;
    this.state = { state: 'checking' };
    this.asked = this.askOnce(address, restMs, asking.signal).catch((error: unknown) => {
      if (!asking.signal.aborted) this.report(error);
    });
  }

  private async askOnce(address: string, restMs: number, signal: AbortSignal): Promise<void> {
    const { setTimeout: rest } = await import('node:timers/promises');
    await rest(restMs, undefined, { signal });
    const { readCluster } = await import('../../../core/training/cluster');
    let state: ClusterState;
    try {
      state = { state: 'answers', cluster: await readCluster(address, { signal }) };
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      state = { state: 'failed', sentence: error.message };
    }
    signal.throwIfAborted();
    this.state = state;
    this.told();
  }
}
