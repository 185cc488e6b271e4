import type { ProgramTask } from '../../src/core/task/task';

/** A task, an answer, and the answer's reward by construction. */
export interface Pair {
  readonly kind: 'loops' | 'raises' | 'huge' | 'right' | 'wrong';
  readonly task: ProgramTask;
  readonly answer: string;
  readonly reward: number;
}

const tests = 10;

/** References over one integer, in size and style like ColBench's; `K` is a number that differs between tasks. */
const references = [
  `def solve(n):
    total = 0
    for day in range(1, n + 1):
        rate = K if day % 7 < 5 else K * 2
        total += rate * (1.1 if day > 5 else 1.0)
    return round(total, 2)`,
  `def solve(n):
    words = ["item%d" % (i * K % 17) for i in range(n * 3)]
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))`,
  `def solve(n):
    rows = [{"id": i, "group": "ABC"[i % 3], "value": i * K % 11} for i in range(n * 4)]
    groups = {}
    for row in rows:
        groups.setdefault(row["group"], []).append(row["value"])
    return {name: {"mean": sum(values) / len(values), "max": max(values)} for name, values in groups.items()}`,
  `def solve(n):
    text = "The quick brown fox jumps over the lazy dog " * n
    shifted = ""
    for letter in text:
        if letter.isalpha():
            base = ord("A") if letter.isupper() else ord("a")
            shifted += chr((ord(letter) - base + K) % 26 + base)
        else:
            shifted += letter
    return shifted.strip()`,
  `def solve(n):
    grid = [[(row * K + column) % 5 for column in range(n)] for row in range(n)]
    best = [[0] * n for _ in range(n)]
    for row in range(n):
        for column in range(n):
            above = best[row - 1][column] if row else 0
            left = best[row][column - 1] if column else 0
            best[row][column] = grid[row][column] + max(above, left)
    return best[-1][-1]`,
  `def solve(n):
    import re
    lines = ["2024-%02d-%02d level=%d" % (i % 12 + 1, i % 28 + 1, i * K % 4) for i in range(n * 2)]
    found = [re.match(r"(\\d+)-(\\d+)-(\\d+) level=(\\d)", line) for line in lines]
    return [tuple(int(part) for part in match.groups()) for match in found if match.group(4) != "0"]`,
];

/**
 * Makes 300 pairs: a tenth loop endlessly, a tenth raise, a twentieth return huge values, the rest are right or wrong.
 */
export function makePairs(): Pair[] {
  return Array.from({ length: 300 }, (_, index) => makePair(index));
}

function makePair(index: number): Pair {
  const reference = references[index % references.length]!.replaceAll('K', String(index + 3));
  const task = makeTask(`task-${index}`, reference);
  // The right answer has another name here, and the wrong function calls it.
  const inner = reference.replace('def solve(', 'def correct(');
  const wrap = (body: string): string => `${inner}\n\ndef solve(n):\n${body}\n`;
  const place = index % 20;
  if (place < 2) {
    // One in five looping answers loops on a single test only.
    const condition = Math.floor(index / 10) % 5 === 4 ? 'n == 4' : 'True';
    const reward = condition === 'True' ? 0 : (tests - 1) / tests;
    const answer = wrap(`    step = 0\n    while ${condition}:\n        step += 1\n    return correct(n)`);
    return { kind: 'loops', task, answer, reward };
  }
  if (place < 4) {
    const answer = wrap('    if n > 3:\n        raise ValueError("unknown %d" % n)\n    return correct(n)');
    return { kind: 'raises', task, answer, reward: 3 / tests };
  }
  if (place === 4) {
    const answer = wrap('    return list(range(200000)) if n % 2 else "x" * 3000000');
    return { kind: 'huge', task, answer, reward: 0 };
  }
  if (place < 13) return { kind: 'right', task, answer: fenced(reference), reward: 1 };
  const every = (index % 4) + 2;
  const answer = wrap(`    return correct(n) if n % ${every} else (correct(n), None)`);
  return { kind: 'wrong', task, answer, reward: (tests - Math.floor(tests / every)) / tests };
}

function fenced(code: string): string {
  return `Here is the function.\n\n\`\`\`python\n# Finished.\n${code}\n\`\`\`\n`;
}

function makeTask(id: string, reference: string): ProgramTask {
  const testCases = Array.from({ length: tests }, (_, test) => ({
    name: `test ${test + 1}`,
    call: `solve(${test + 1})`,
  }));
  return { id, description: 'Write def solve(n).', reference, testCases, hiddenInformation: reference };
}
