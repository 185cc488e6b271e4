import { spawn } from 'node:child_process';
import { extractCode } from '../../src/core/grading/code';
import type { Pair } from './grading-pairs';

/**
 * The baseline: one native interpreter for each answer, which runs the reference and the answer on each test with a
 * time limit of one second each, without a sandbox.
 */
const script = `
import json, signal, sys
job = json.load(sys.stdin)
class Late(Exception): pass
def late(*_): raise Late
signal.signal(signal.SIGALRM, late)
def value(source, call):
    signal.setitimer(signal.ITIMER_REAL, 1.0)
    try:
        scope = {}
        exec(source, scope)
        return eval(call, scope)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
passed = 0
for call in job["calls"]:
    expected = value(job["reference"], call)
    try: passed += expected == value(job["answer"], call)
    except Exception: pass
print(passed / len(job["calls"]))
`;

/** Returns the reward of each pair; as many run at a time as there are workers. */
export async function gradeNatively(pairs: readonly Pair[], workers: number): Promise<number[]> {
  const rewards: number[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < pairs.length) {
      const index = next++;
      rewards[index] = await gradeOne(pairs[index]!);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return rewards;
}

function gradeOne({ task, answer }: Pair): Promise<number> {
  const calls = task.testCases.map(({ call }) => call);
  const python = spawn('python3', ['-I', '-S', '-c', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  let output = '';
  python.stdout.on('data', (text: Buffer) => (output += text.toString()));
  python.stdin.end(
    JSON.stringify({
      reference: task.reference,
      answer: extractCode(answer, 'fixed', calls),
      calls,
    }),
  );
  return new Promise((resolve, reject) => {
    python.once('error', reject);
    python.once('close', () => resolve(Number(output)));
  });
}
