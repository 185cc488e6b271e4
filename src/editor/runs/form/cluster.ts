import path from 'node:path';
import * as vscode from 'vscode';
import { pause } from '../../../core/training/pause';
import { gpuNames, type Cluster } from '../../../core/training/cluster';
import { clusterFields, valueOf } from '../../../core/training/fields';
import { grouped } from '../../../core/text';
import { readAddress } from '../../../core/model/address';
import { Fault } from '../../../core/fault';
import type { ClusterView, FieldView, Option, Values } from '../../../../webview/newRun/protocol';
import { fromSchema } from '../../translate';
import { wantedWords } from './words';

const { t } = vscode.l10n;

export type ClusterState =
  | { readonly state: 'none' | 'checking' }
  | { readonly state: 'answers'; readonly cluster: Cluster }
  | { readonly state: 'failed'; readonly sentence: string };

const unknownCluster: ClusterState = { state: 'none' };

interface ClusterConfiguration {
  readonly address?: string;
  readonly workers: number;
  readonly gpus_per_worker: number;
  readonly storage?: string;
}

interface FilledCluster {
  readonly configuration: ClusterConfiguration;
  readonly texts: Values;
  readonly errors: Values;
}

export const ADDRESS = 'resources.cluster.address';
const WORKERS = 'resources.cluster.workers';
const GPUS = 'resources.cluster.gpus_per_worker';
const STORAGE = 'resources.cluster.storage';

/**
 * Where nothing is set, the run takes a GPU for each worker and all GPUs of the cluster, or else a worker on each of
 * its nodes.
 * @param of.copied text of the fields in the duplicated run; absent where it has none
 * @param of.device of the configuration; a run on processors takes no GPU
 */
export function filledCluster(
  values: Values,
  { copied, device }: { readonly copied: Values; readonly device: unknown },
  known: ClusterState,
): FilledCluster {
  const cluster = known.state === 'answers' ? known.cluster : undefined;
  const errors: Record<string, string> = {};
  const set = (name: string): string | undefined => (values[name] ?? copied[name])?.trim();
  const whole = (name: typeof WORKERS | typeof GPUS, otherwise: number): number => {
    const text = set(name);
    const value = text === undefined ? otherwise : valueOf(clusterFields[name], text);
    if (typeof value === 'number') return value;
    errors[name] = wantedWords(clusterFields[name]);
    return otherwise;
  };
  const address = set(ADDRESS) ?? '';
  if (typeof readAddress(address) === 'string')
    errors[ADDRESS] = t('Enter the address of the Ray dashboard, e.g. http://head:8265.');
  else if (known.state === 'failed') errors[ADDRESS] = known.sentence;
  const gpusPerWorker = whole(GPUS, device !== 'cpu' && gpusOf(cluster) > 0 ? 1 : 0);
  const workers = whole(WORKERS, (gpusPerWorker > 0 && gpusOf(cluster)) || (cluster?.nodes.length ?? 0) || 1);
  const storage = set(STORAGE) ?? '';
  if (storage !== '' && !path.isAbsolute(storage))
    errors[STORAGE] = t('Enter the whole path of a folder, or leave it empty.');
  return {
    configuration: {
      ...(errors[ADDRESS] === undefined && { address }),
      ...{ workers, gpus_per_worker: gpusPerWorker },
      ...(storage !== '' && errors[STORAGE] === undefined && { storage }),
    },
    texts: {
      ...{ [ADDRESS]: address, [STORAGE]: storage },
      ...{ [WORKERS]: set(WORKERS) ?? String(workers), [GPUS]: set(GPUS) ?? String(gpusPerWorker) },
    },
    errors,
  };
}

const gpusOf = (cluster: Cluster | undefined): number =>
  cluster?.nodes.reduce((sum, { gpus }) => sum + gpus.length, 0) ?? 0;

const cpusOf = ({ nodes }: Cluster): number => nodes.reduce((sum, { cpus }) => sum + cpus, 0);

export function whereOptions(): Option[] {
  return [
    { value: 'here', label: t('This machine') },
    {
      value: 'cluster',
      label: t('A Ray cluster'),
      detail: t(
        'Its nodes train together. They must see the folder of the run, and have the trainer’s Python.',
      ),
    },
  ];
}

export function clusterView(
  { configuration }: FilledCluster,
  values: Values,
  known: ClusterState,
): ClusterView {
  const field = (name: keyof typeof clusterFields, more: Partial<FieldView>): FieldView => ({
    ...{
      name,
      label: fromSchema(clusterFields[name].title, t),
      about: fromSchema(clusterFields[name].description, t),
    },
    ...{ control: 'text', isChanged: false, ...more },
  });
  const warnings = known.state === 'answers' ? warningsOf(configuration, known.cluster) : {};
  const isSet = (name: string): boolean => values[name] !== undefined;
  return {
    state: known.state,
    sentence: known.state === 'answers' ? clusterWords(known.cluster) : '',
    fields: [
      field(ADDRESS, { placeholder: 'http://head:8265' }),
      field(WORKERS, { isChanged: isSet(WORKERS), ...warnings.workers }),
      field(GPUS, {
        ...{ control: 'choice', isChanged: isSet(GPUS), ...warnings.gpus },
        options: [
          { value: '1', label: '1' },
          { value: '0', label: t('None') },
        ],
      }),
      field(STORAGE, { placeholder: t('not set') }),
    ],
  };
}

/** For example `Ray 2.60.0, 3 nodes, 24 CPUs, 8 × NVIDIA H100 80GB HBM3`. */
function clusterWords(cluster: Cluster): string {
  const { version, nodes } = cluster;
  const cpus = cpusOf(cluster);
  const gpus = gpuNames(nodes.flatMap(({ gpus: there }) => there.map(({ name }) => name)));
  return [
    t('Ray {0}', version),
    nodes.length === 1 ? t('1 node') : t('{0} nodes', grouped(nodes.length)),
    cpus === 1 ? t('1 CPU') : t('{0} CPUs', grouped(cpus)),
    ...(gpus === '' ? [] : [gpus]),
  ].join(', ');
}

/** A run waits for its first place, and then works with fewer workers than asked. */
function warningsOf(
  { workers, gpus_per_worker: each }: ClusterConfiguration,
  cluster: Cluster,
): { readonly workers?: Pick<FieldView, 'warning'>; readonly gpus?: Pick<FieldView, 'warning'> } {
  const [gpus, cpus] = [gpusOf(cluster), cpusOf(cluster)];
  if (each > 0 && gpus === 0)
    return { gpus: { warning: t('The cluster has no GPU: the run would wait until there is one.') } };
  const places = each > 0 ? gpus : cpus;
  if (workers <= places) return {};
  const has =
    each > 0 ? t('The cluster has {0} GPUs', grouped(gpus)) : t('The cluster has {0} CPUs', grouped(cpus));
  const warning = t('{0}, one for each worker: the run continues with as many until there are more.', has);
  return { workers: { warning } };
}

/** Milliseconds without typing. */
const REST_MS = 600;

/** Asks the cluster for its nodes. Only the latest address is asked, and none twice. */
export class ClusterCheck {
  state: ClusterState = unknownCluster;
  private address: string | undefined;
  private asking: AbortController | undefined;
  private asked: Promise<void> = Promise.resolve();

  /** @param report gets errors that are not the cluster's */
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
    await pause(restMs, signal);
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
