import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { adaptPython, pageBytes, withholdModules } from './binary';
import { changes, writeImage, type Image, instantiate, offsets } from './interpreter';
import { BootEnd, GuestSystem } from './system';

interface GuestProgram {
  readonly python: Buffer;
  readonly evaluation: string;
  readonly driver: string;
}

/** The boot needs less. A grader decides for itself how much memory its jobs may take. */
const bootPages = (256 * 1024 * 1024) / pageBytes;

/**
 * Stack, and number of nested C calls. A level of a recursion that goes through C (a cached function, `sorted` with a
 * key, a class that builds another) takes one to four of CPython's count of such calls, and up to 5 kB for each. The
 * binary comes with 0.5 MB and a count of 500. CPython 3.10 and 3.11 count no C calls, so a program of a thousand
 * levels, their default limit, has to pass.
 */
const stackBytes = 32 * 1024 * 1024;
const nestedCalls = 6_000;
/** A recursion limit that occurs nowhere else in memory. */
const recursionMark = 1_234_567_891;

/**
 * Makes the file python.image. This happens when Tandem is built, since the boot takes longer than all the rest of a
 * grader's start, and ends with the same memory each time.
 */
export async function bootPython(program: GuestProgram): Promise<Buffer> {
  const module = await WebAssembly.compile(adaptPython(program.python, bootPages));
  return writeImage(bootImage(module, program));
}

/**
 * Boots CPython and takes the image that every job starts from. The guest is left in the middle of a host call:
 * its stack stays in the image, and later calls run on another one.
 */
function bootImage(module: WebAssembly.Module, program: GuestProgram): Image {
  const system = new GuestSystem(['python', '-I', '-S', '-B', '-X', 'utf8', '-c', bootSource(program)]);
  const instance = instantiate(module, system);
  withholdModules(new Uint8Array(instance.memory.buffer));
  try {
    instance.start();
    throw new Error('the interpreter returned');
  } catch (error) {
    if (!(error instanceof BootEnd)) {
      throw new Error(`The Python interpreter does not boot: ${system.bootOutput.trim() || String(error)}`, {
        cause: error,
      });
    }
  }
  const [prepare, step, emptyTuple, bytesType, stack] = system.bootOutput.split(' ').map(Number);
  raiseNestedCalls(instance.memory.buffer);
  const view = new DataView(instance.memory.buffer);
  const functionType = view.getUint32(step! + offsets.type, true);
  const fresh = new Uint8Array(instantiate(module, new GuestSystem([])).memory.buffer);
  return {
    ...changes(fresh, new Uint8Array(instance.memory.buffer)),
    stackBottom: stack! + offsets.bytesData,
    // The guest keeps its stack pointer at multiples of 16.
    stackTop: (stack! + offsets.bytesData + stackBytes) & ~15,
    call: view.getUint32(functionType + offsets.typeCall, true),
    prepare: prepare!,
    step: step!,
    emptyTuple: emptyTuple!,
    bytesType: bytesType!,
  };
}

/** JSON strings serve as Python strings. */
function bootSource({ evaluation, driver }: GuestProgram): string {
  return `
import builtins
private = dict(vars(builtins))
texts = ${JSON.stringify(textsIn(evaluation))}
loading = {'__builtins__': private, '__name__': 'tandem_loading'}
exec(compile(texts['loading'], 'tandem/loading.py', 'exec'), loading)
load = loading['imported_from'](texts)('evaluation').load
exec(compile(${JSON.stringify(driver)}, 'tandem/driver.py', 'exec'),
     {'__builtins__': private, '__name__': 'tandem_driver', 'load': load,
      'STACK_BYTES': ${stackBytes}, 'RECURSION_MARK': ${recursionMark}})
`;
}

/** Always in the same order, since the image depends on it. */
function textsIn(folder: string): Readonly<Record<string, string>> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.py'));
  return Object.fromEntries(
    names.sort().map((name) => [path.parse(name).name, readFileSync(path.join(folder, name), 'utf8')]),
  );
}

/** Raises CPython's count of nested C calls. Source: Include/cpython/pystate.h of 3.12, struct _ts. */
function raiseNestedCalls(memory: ArrayBuffer): void {
  const words = new Int32Array(memory);
  const builtInCount = 500;
  for (let at = words.indexOf(recursionMark); at >= 0; at = words.indexOf(recursionMark, at + 1)) {
    // The struct holds, in this order: Python calls left, their limit (the mark), C calls left.
    const used = recursionMark - words[at - 1]!;
    const left = words[at + 1]!;
    if (used < 0 || used > 100 || left < builtInCount / 2 || left > builtInCount) continue;
    words[at + 1] = nestedCalls;
    return;
  }
  throw new Error(
    'The Python interpreter does not boot: its counters of recursion are not where they should be.',
  );
}
