import { parentPort, workerData } from 'node:worker_threads';
import { Fault, messageOf } from '../../fault';
import type { Job } from '../runner';
import { execute } from './execution';
import { Interpreter } from './interpreter';
import type { FromThread, ThreadData } from './protocol';

/** A worker thread: one interpreter, one job at a time, for ever. */
export function runThread(): void {
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
