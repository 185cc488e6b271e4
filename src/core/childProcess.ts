import { fork, type ChildProcess } from 'node:child_process';
import { messageOf } from './fault';

interface ForkOptions<Message> {
  readonly env: NodeJS.ProcessEnv;
  /** Environment variable with the port at which the child listens for a debugger; CONTRIBUTING.md says how to attach. */
  readonly inspect: string;
  readonly onMessage: (child: ChildProcess, message: Message) => void;
  /** @param said a sentence with its last words, in front of which there is a space; empty without any */
  readonly onEnd: (child: ChildProcess, reason: string, said: string) => void;
}

/** Runs a built script of Tandem in a child process of this Node or editor. */
export function forkScript<Message>(
  script: string,
  argument: string,
  { env, inspect, onMessage, onEnd }: ForkOptions<Message>,
): ChildProcess {
  const port = process.env[inspect] ?? '';
  const child = fork(script, [argument], {
    env: { ...env, ELECTRON_RUN_AS_NODE: '1' },
    execArgv: port === '' ? [] : [`--inspect=127.0.0.1:${port}`],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let complaint = '';
  const end = (reason: string): void => {
    const words = complaint.replace(/\s+/g, ' ').trim();
    onEnd(child, reason, words === '' ? '' : ` It said: ${words}`);
  };
  child.stderr!.on('data', (text: Buffer) => (complaint = (complaint + text.toString()).slice(-500)));
  child.on('message', (message) => onMessage(child, message as Message));
  // At 'close', unlike at 'exit', everything that the process said has been read.
  child.once('close', (code, signal) => end(signal ?? `exit code ${code ?? 'unknown'}`));
  child.once('error', (error) => end(messageOf(error)));
  return child;
}

/** Resolves when it is gone. */
export async function killChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.ref();
  child.kill('SIGKILL');
  await gone;
}

/** SIGKILL, because `process.exit` waits for threads, and would never return if one of them runs forever. */
export function endAtOnce(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** However the parent ends: the kernel closes the channel between them. */
export function endWithParent(): void {
  process.on('disconnect', endAtOnce);
}

/**
 * A parent that is gone is no error here, because `endWithParent` handles it.
 * @param told called when the message is sent, or when the parent is gone
 */
export function tellParent(message: object, told: () => void = () => undefined): void {
  process.send!(message, told);
}
