import type { Job, Reply } from '../runner';
import type { Image } from './image';
import type { FaultCode } from '../../fault';

/** Settings of the child process: its one command-line argument, as JSON. */
export interface HostSettings {
  /** Folder of python.wasm and python.image. */
  readonly assets: string;
  readonly workers: number;
  readonly memoryMegabytes: number;
}

/** From the extension host or the command line. */
export type ToHost =
  | { readonly kind: 'run'; readonly id: number; readonly job: Job }
  | { readonly kind: 'stop'; readonly id: number };

/** Messages from the child process. `fault`: it cannot work at all. `failed`: this job cannot be run. */
export type FromHost =
  | { readonly kind: 'ready' }
  | { readonly kind: 'fault'; readonly code: FaultCode; readonly message: string }
  | { readonly kind: 'done'; readonly id: number; readonly calls: readonly Reply[] }
  | { readonly kind: 'failed'; readonly id: number; readonly code: FaultCode; readonly message: string };

export interface ThreadData {
  readonly module: WebAssembly.Module;
  readonly image: Image;
}

/** A worker thread gets one job at a time. */
export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'done'; readonly calls: readonly Reply[] }
  | { readonly kind: 'failed'; readonly code: FaultCode; readonly message: string };
