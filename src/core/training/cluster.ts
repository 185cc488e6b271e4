import * as z from 'zod';
import { Fault } from '../fault';
import { lazily } from '../lazily';
import { readAddress } from '../model/address';
import { textOf } from '../model/chat/body';

/** A node of a Ray cluster that is alive, with what Ray may give to jobs there. */
export interface ClusterNode {
  readonly host: string;
  readonly cpus: number;
  /** A name for each GPU; `GPU` where the node's driver does not tell it. */
  readonly gpus: readonly string[];
}

/** A Ray cluster as its dashboard describes it. */
export interface Cluster {
  /** Version of Ray: `2.60.0`. */
  readonly version: string;
  readonly nodes: readonly ClusterNode[];
}

/** Milliseconds that a dashboard may take, because a person waits for it. */
const WAIT_MS = 5_000;
/** Maximum number of bytes of an answer: it takes about 14 KB for each node. */
const MOST_BYTES = 64 * 2 ** 20;

/** The fields that are read of `GET /api/version` and `GET /nodes?view=summary` (Ray 2.60, `ray/dashboard/modules`). */
const schemas = lazily(() => ({
  version: z.object({ ray_version: z.string() }),
  nodes: z.object({
    data: z.object({
      summary: z.array(
        z.object({
          hostname: z.string().optional(),
          /** The node's own report, which is absent until it has made the first one. */
          gpus: z.array(z.object({ name: z.string() })).default([]),
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
  { signal, waitMs = WAIT_MS }: { readonly signal?: AbortSignal; readonly waitMs?: number } = {},
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

function nodeOf({ hostname, gpus, raylet }: NodeSummary): ClusterNode {
  const { nodeManagerHostname, nodeManagerAddress, resourcesTotal } = raylet;
  return {
    host: hostname ?? nodeManagerHostname ?? nodeManagerAddress,
    cpus: resourcesTotal.CPU,
    gpus: Array.from({ length: Math.floor(resourcesTotal.GPU) }, (_, index) => gpus[index]?.name ?? 'GPU'),
  };
}

/** An answer that is none of a Ray dashboard. */
class StrangeAnswer extends Error {}

async function answerOf(url: string, signal: AbortSignal): Promise<unknown> {
  const response = await fetch(url, { redirect: 'manual', signal });
  if (!response.ok) throw new StrangeAnswer(`HTTP ${response.status}`);
  const text = await textOf(response, MOST_BYTES);
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

/** Returns equal names once, with their number: `8 × NVIDIA H100 80GB HBM3`. */
export function gpuNames(gpus: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of gpus) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${count} × ${name}`).join(', ');
}
