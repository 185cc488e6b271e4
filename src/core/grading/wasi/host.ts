// This is the grading process: forked from the extension host or the command line, and killable at any moment. The same
// file is the body of its worker threads.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { Fault, messageOf } from '../../fault';
import { endWithParent, tellParent } from '../../parent';
import { adaptPython, pageBytes } from './binary';
import { readImage } from './image';
import type { FromHost, FromThread, HostSettings, ThreadData, ToHost } from './protocol';
import { Threads } from './threads';
import type { Job } from '../runner';
import { execute } from './execution';
import { Interpreter } from './interpreter';

const send = (message: FromHost): void => tellParent(message);

async function startThreads({ assets, workers, memoryMegabytes }: HostSettings): Promise<Threads> {
  const pages = (memoryMegabytes * 1024 * 1024) / pageBytes;
  const module = await WebAssembly.compile(adaptPython(readFileSync(join(assets, 'python.wasm')), pages));
  return new Threads({ module, image: readImage(readFileSync(join(assets, 'python.image'))) }, workers);
}

function serve(threads: Threads): void {
  process.on('message', (message: ToHost) => {
    if (message.kind === 'stop') {
      threads.stop(message.id);
      return;
    }
    const { id } = message;
    threads.run(id, message.job, (result) => send({ ...result, id }));
  });
  send({ kind: 'ready' });
}

async function main(): Promise<void> {
  endWithParent();
  try {
    serve(await startThreads(JSON.parse(process.argv[2]!) as HostSettings));
  } catch (error) {
    const code = error instanceof Fault ? error.code : 'grading/boot-failed';
    send({ kind: 'fault', code, message: messageOf(error) });
  }
}

/** Runs a worker thread: one interpreter, one job at a time, for ever. */
function runThread(): void {
  const { module, image } = workerData as ThreadData;
  const interpreter = new Interpreter(module, image);
  const send = (message: FromThread): void => parentPort!.postMessage(message);
  parentPort!.on('message', (job: Job) => send(answer(interpreter, job)));
  send({ kind: 'ready' });
}

function answer(interpreter: Interpreter, job: Job): FromThread {
  try {
    return { kind: 'done', calls: execute(interpreter, job) };
  } catch (error) {
    const code = error instanceof Fault ? error.code : 'grading/internal';
    return { kind: 'failed', code, message: messageOf(error) };
  }
}

if (isMainThread) void main();
else runThread();
