import * as z from 'zod';
import { Fault } from '../fault';
import { lazily } from '../lazily';
import { readAddress } from '../model/address';
import { textOf } from '../model/chat/body';

/** A node of a Ray cluster that is alive, with what Ray may give to jobs there. */
export interface ClusterNode {
  readonly host: string;
  readonly cpus: number;
  /** Available memory in bytes; undefined until the node has reported it. */
  readonly memory?: number | undefined;
  readonly gpus: readonly ClusterGpu[];
}

interface ClusterGpu {
  /** `GPU` where the node's driver does not tell it. */
  readonly name: string;
  /** Memory in bytes; undefined where the driver does not tell it. */
  readonly memory?: number | undefined;
}

/** A Ray cluster as its dashboard describes it. */
export interface Cluster {
  /** Version of Ray: `2.60.0`. */
  readonly version: string;
  readonly nodes: readonly ClusterNode[];
}

/** Milliseconds that a dashboard may take, because a person waits for it. */
const REQUEST_TIMEOUT_MS = 5_000;
/** Maximum number of bytes of an answer: it takes about 14 KB for each node. */
const MAX_BYTES = 64 * 2 ** 20;

/** The fields that are read of `GET /api/version` and `GET /nodes?view=summary` (Ray 2.60, `ray/dashboard/modules`). */
const schemas = lazily(() => ({
  version: z.object({ ray_version: z.string() }),
  nodes: z.object({
    data: z.object({
      summary: z.array(
        z.object({
          hostname: z.string().optional(),
          /** The node's own report, which is absent until it has made the first one; GPUs in units of 2^20 bytes. */
          gpus: z.array(z.object({ name: z.string(), memoryTotal: z.number() })).default([]),
          /** Bytes in all and bytes available, then the used part. */
          mem: z.array(z.number()).default([]),
          raylet: z.object({
            state: z.string(),
            nodeManagerHostname: z.string().optional(),
            nodeManagerAddress: z.string(),
            resourcesTotal: z.object({ CPU: z.number().default(0), GPU: z.number().default(0) }),
          }),
        }),
      ),
    }),
  }),
}));

/**
 * Asks the dashboard of a Ray cluster for its nodes.
 * @param address as in `resources.cluster.address`: `http://head:8265`
 * @throws {Fault} `training/no-cluster`
 * @throws AbortError on cancel
 */
export async function readCluster(
  address: string,
  { signal, waitMs = REQUEST_TIMEOUT_MS }: { readonly signal?: AbortSignal; readonly waitMs?: number } = {},
): Promise<Cluster> {
  const read = readAddress(address);
  if (typeof read === 'string')
    throw new Fault('training/no-cluster', 'Enter the address of the Ray dashboard, e.g. http://head:8265.');
  const late = AbortSignal.timeout(waitMs);
  const ask = (path: string): Promise<unknown> =>
    answerOf(`${read.baseUrl}${path}`, signal === undefined ? late : AbortSignal.any([late, signal]));
  try {
    const version = schemas().version.parse(await ask('/api/version')).ray_version;
    const { data } = schemas().nodes.parse(await ask('/nodes?view=summary'));
    return { version, nodes: data.summary.filter(({ raylet }) => raylet.state === 'ALIVE').map(nodeOf) };
  } catch (error) {
    signal?.throwIfAborted();
    throw new Fault('training/no-cluster', sentenceOf(error, address.trim(), late.aborted, waitMs), {
      cause: error,
    });
  }
}

type NodeSummary = z.infer<ReturnType<typeof schemas>['nodes']>['data']['summary'][number];

function nodeOf({ hostname, gpus, mem, raylet }: NodeSummary): ClusterNode {
  const { nodeManagerHostname, nodeManagerAddress, resourcesTotal } = raylet;
  return {
    host: hostname ?? nodeManagerHostname ?? nodeManagerAddress,
    cpus: resourcesTotal.CPU,
    memory: mem[1],
    gpus: Array.from({ length: Math.floor(resourcesTotal.GPU) }, (_, index) => {
      const { name = 'GPU', memoryTotal } = gpus[index] ?? {};
      return { name, memory: memoryTotal === undefined ? undefined : memoryTotal * 2 ** 20 };
    }),
  };
}

/** An answer that is none of a Ray dashboard. */
class StrangeAnswer extends Error {}

async function answerOf(url: string, signal: AbortSignal): Promise<unknown> {
  const response = await fetch(url, { redirect: 'manual', signal });
  if (!response.ok) throw new StrangeAnswer(`HTTP ${response.status}`);
  const text = await textOf(response, MAX_BYTES);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new StrangeAnswer('it is not JSON', { cause: error });
  }
}

function sentenceOf(error: unknown, address: string, isLate: boolean, waitMs: number): string {
  if (isLate)
    return `The Ray dashboard at ${address} has not answered within ${waitMs / 1000} seconds: check that this machine reaches it.`;
  const isStrange = error instanceof StrangeAnswer || error instanceof z.ZodError;
  if (!isStrange)
    return `No Ray dashboard answers at ${address}: check the address, and that the cluster is up and was started with its dashboard.`;
  const why = error instanceof StrangeAnswer ? error.message : 'its fields are others';
  return `What answers at ${address} is no Ray dashboard (${why}): enter the address that “ray start --head” names, usually with port 8265.`;
}

/** The memory that each worker of a run has on a cluster, in bytes; null where it is not known. */
export interface WorkerMemory {
  /** Name of the GPU with the least memory; null for workers on processors. */
  readonly gpu: string | null;
  readonly memory: number | null;
}

/**
 * Returns the least memory that a worker may get: of the smallest GPU, or of the smallest node that is full of workers,
 * because Ray puts as many on a node as it has processors.
 */
export function workerMemory(
  { nodes }: Cluster,
  { workers, isOnGpu }: { readonly workers: number; readonly isOnGpu: boolean },
): WorkerMemory {
  const places: readonly ClusterGpu[] = isOnGpu
    ? nodes.flatMap(({ gpus }) => gpus)
    : nodes
        .filter(({ cpus }) => cpus >= 1)
        .map(({ host, cpus, memory }) => ({
          name: host,
          memory: memory === undefined ? undefined : memory / Math.min(workers, Math.floor(cpus)),
        }));
  const known = places.filter((place): place is Required<ClusterGpu> => place.memory !== undefined);
  const [smallest] = known.toSorted((a, b) => a.memory - b.memory);
  return {
    gpu: isOnGpu ? (smallest?.name ?? places[0]?.name ?? 'GPU') : null,
    memory: smallest === undefined ? null : Math.floor(smallest.memory),
  };
}

/** Returns equal names once, with their number: `8 × NVIDIA H100 80GB HBM3`. */
export function gpuNames(gpus: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of gpus) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${count} × ${name}`).join(', ');
}
