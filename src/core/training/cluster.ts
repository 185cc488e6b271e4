import * as z from 'zod';
import { Fault } from '../fault';
import { lazily } from '../lazily';
import { readAddress } from '../model/address';
import { textOf } from '../model/chat/body';

/** Alive, with the resources that Ray may give to jobs there. */
interface ClusterNode {
  readonly host: string;
  readonly cpus: number;
  /** Available bytes; undefined until the node has reported them. */
  readonly memory?: number | undefined;
  readonly gpus: readonly ClusterGpu[];
}

interface ClusterGpu {
  /** `GPU` where the node's driver does not report a name. */
  readonly name: string;
  /** Bytes; undefined where the driver does not report them. */
  readonly memory?: number | undefined;
}

export interface Cluster {
  /** Version of Ray: `2.60.0`. */
  readonly version: string;
  readonly nodes: readonly ClusterNode[];
}

/** A person waits for the dashboard. */
const REQUEST_TIMEOUT_MS = 5_000;
/** An answer takes about 14 KB for each node. */
const MAX_BYTES = 64 * 2 ** 20;

/** The fields that are read of `GET /api/version` and `GET /nodes?view=summary` (Ray 2.60, `ray/dashboard/modules`). */
const schemas = lazily(() => ({
  version: z.object({ ray_version: z.string() }),
  nodes: z.object({
    data: z.object({
      summary: z.array(
        z.object({
          hostname: z.string().optional(),
          /** Absent until the node has made its first report; GPUs in units of 2^20 bytes. */
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
 * @param address the dashboard, as in `resources.cluster.address`: `http://head:8265`
 * @throws {Fault} `training/no-cluster`
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
    return `The Ray dashboard at ${address} has not answered within ${waitMs / 1000} seconds. Check that this machine can reach it.`;
  const isStrange = error instanceof StrangeAnswer || error instanceof z.ZodError;
  if (!isStrange)
    return `No Ray dashboard answers at ${address}: check the address, and that the cluster is up and was started with its dashboard.`;
  const why = error instanceof StrangeAnswer ? error.message : 'its fields are others';
  return `${address} is not a Ray dashboard (${why}): enter the address that “ray start --head” names, usually with port 8265.`;
}

/** Bytes; null where not known. */
export interface WorkerMemory {
  /** The one with the least memory; null for workers on processors. */
  readonly gpu: string | null;
  readonly memory: number | null;
}

/**
 * Least memory that a worker may get: of the smallest GPU, or of the smallest node that is full of workers, because
 * Ray puts as many on a node as it has processors.
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

/** Equal names once, with their number: `8 × NVIDIA H100 80GB HBM3`. */
export function gpuNames(gpus: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of gpus) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${count} × ${name}`).join(', ');
}
