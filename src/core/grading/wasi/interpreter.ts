import { Fault } from '../../fault';
import { pageBytes, withholdModules } from './binary';
import { BootEnd, GuestSystem } from './system';

/** The booted interpreter's memory and what the host needs to call into it. Shared by all threads, never written. */
export interface Image {
  readonly memory: SharedArrayBuffer;
  /** Where the stack of the jobs lies: its lowest address and the one behind its highest, at which every call starts. */
  readonly stackBottom: number;
  readonly stackTop: number;
  /** Index in the function table of `tp_call` of Python functions: (function, arguments, keywords) → object. */
  readonly call: number;
  /** Addresses of Python objects. */
  readonly prepare: number;
  readonly step: number;
  readonly emptyTuple: number;
  readonly bytesType: number;
}

/** The texts of the Python files that the guest boots from. */
export interface GuestProgram {
  readonly evaluation: string;
  readonly driver: string;
}

/** Offsets in CPython 3.12's objects on a 32-bit machine. Source: Include/object.h, cpython/object.h, bytesobject.h. */
const offsets = { type: 4, typeCall: 64, bytesSize: 8, bytesData: 16 } as const;
/** Longer results are nothing that evaluation.py writes. */
const maxResultBytes = 64 * 1024;
/** A job may leave this much more memory than the image has before the instance is replaced by a new one. */
const maxLeftOverBytes = 32 * 1024 * 1024;

/**
 * A call that goes through C (a cached function, `sorted` with a key, a class that builds another) takes about 9 kB and
 * two of CPython's count of such calls. The binary comes with 0.5 MB and a count of 500; native CPython 3.12 allows
 * more, so the count is raised to what this stack holds.
 */
const stackBytes = 12 * 1024 * 1024;
const nestedCalls = 1_500;
/** A limit of recursion that nothing else in memory looks like. */
const recursionMark = 1_234_567_891;

/** A mutable global of the guest. */
interface StackPointer {
  value: number;
}

interface Instance {
  readonly memory: WebAssembly.Memory;
  readonly table: WebAssembly.Table;
  readonly stackPointer: StackPointer;
  readonly start: () => void;
}

/** One CPython in WebAssembly. `rewind` makes it pristine: its whole state is its memory and one stack pointer. */
export class Interpreter {
  readonly system = new GuestSystem([]);
  private instance: Instance;
  /** The image without the stack, which is empty in it. */
  private readonly belowStack: Uint8Array;
  private readonly aboveStack: Uint8Array;

  constructor(
    private readonly module: WebAssembly.Module,
    private readonly image: Image,
  ) {
    this.system.endBoot();
    this.instance = instantiate(module, this.system);
    // A private copy: copying out of shared memory is several times slower.
    const pristine = new Uint8Array(image.memory);
    this.belowStack = pristine.slice(0, image.stackBottom);
    this.aboveStack = pristine.slice(image.stackTop);
  }

  rewind(): void {
    const { image } = this;
    const length = image.memory.byteLength;
    if (this.instance.memory.buffer.byteLength > length + maxLeftOverBytes) {
      this.instance = instantiate(this.module, this.system);
    }
    const { memory, stackPointer } = this.instance;
    const missing = length - memory.buffer.byteLength;
    if (missing > 0) memory.grow(missing / pageBytes);
    const bytes = new Uint8Array(memory.buffer);
    bytes.set(this.belowStack);
    bytes.fill(0, image.stackBottom, image.stackTop);
    bytes.set(this.aboveStack, image.stackTop);
    bytes.fill(0, length);
    stackPointer.value = image.stackTop;
  }

  /** Reads a job in the guest; runs no code of the job. */
  prepare(job: string): void {
    this.system.openInput(Buffer.from(job));
    this.call(this.image.prepare);
    this.system.closeInput();
  }

  /** The guest's outcome of its next call, JSON text. */
  step(): string {
    return this.call(this.image.step);
  }

  private call(functionAddress: number): string {
    const tpCall = this.instance.table.get(this.image.call) as (...values: number[]) => number;
    const result = tpCall(functionAddress, this.image.emptyTuple, 0);
    const view = new DataView(this.instance.memory.buffer);
    if (result === 0 || view.getUint32(result + offsets.type, true) !== this.image.bytesType) {
      throw new Fault('grading/tampered', 'The code has tampered with its interpreter.');
    }
    const length = view.getUint32(result + offsets.bytesSize, true);
    if (length > maxResultBytes) {
      throw new Fault('grading/tampered', 'The code has tampered with its interpreter.');
    }
    return Buffer.from(this.instance.memory.buffer, result + offsets.bytesData, length).toString('latin1');
  }
}

/**
 * Boots CPython once and takes the image that every job starts from. The guest is left in the middle of a host call:
 * its stack stays in the image, and later calls run on another one.
 */
export function bootImage(module: WebAssembly.Module, program: GuestProgram): Image {
  const system = new GuestSystem(['python', '-I', '-S', '-B', '-X', 'utf8', '-c', bootSource(program)]);
  const instance = instantiate(module, system);
  withholdModules(new Uint8Array(instance.memory.buffer));
  try {
    instance.start();
    throw new Error('the interpreter returned');
  } catch (error) {
    if (!(error instanceof BootEnd)) {
      throw new Fault(
        'grading/boot-failed',
        `The Python interpreter does not boot: ${system.bootOutput.trim() || String(error)}`,
        { cause: error },
      );
    }
  }
  const [prepare, step, emptyTuple, bytesType, stack] = system.bootOutput.split(' ').map(Number);
  raiseNestedCalls(instance.memory.buffer);
  const view = new DataView(instance.memory.buffer);
  const functionType = view.getUint32(step! + offsets.type, true);
  const memory = new SharedArrayBuffer(instance.memory.buffer.byteLength);
  new Uint8Array(memory).set(new Uint8Array(instance.memory.buffer));
  return {
    memory,
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

/** Python source; JSON strings are Python strings. */
function bootSource({ evaluation, driver }: GuestProgram): string {
  return `
import builtins
private = dict(vars(builtins))
judge = {'__builtins__': private, '__name__': 'tandem_evaluation'}
exec(compile(${JSON.stringify(evaluation)}, 'evaluation.py', 'exec'), judge)
exec(compile(${JSON.stringify(driver)}, 'driver.py', 'exec'),
     {'__builtins__': private, '__name__': 'tandem_driver', 'load': judge['load'],
      'STACK_BYTES': ${stackBytes}, 'RECURSION_MARK': ${recursionMark}})
`;
}

function instantiate(module: WebAssembly.Module, system: GuestSystem): Instance {
  const { exports } = new WebAssembly.Instance(module, system.imports());
  const memory = exports.memory as WebAssembly.Memory;
  system.attach(memory);
  return {
    memory,
    table: exports.table as WebAssembly.Table,
    stackPointer: exports.stackPointer as StackPointer,
    start: exports._start as () => void,
  };
}

/** Raises CPython's count of nested C calls. Source: Include/cpython/pystate.h of 3.12, struct _ts. */
function raiseNestedCalls(memory: ArrayBuffer): void {
  const words = new Int32Array(memory);
  const builtInCount = 500;
  for (let at = words.indexOf(recursionMark); at >= 0; at = words.indexOf(recursionMark, at + 1)) {
    // In the order of the struct: Python calls left, their limit (the mark), C calls left.
    const used = recursionMark - words[at - 1]!;
    const left = words[at + 1]!;
    if (used < 0 || used > 100 || left < builtInCount / 2 || left > builtInCount) continue;
    words[at + 1] = nestedCalls;
    return;
  }
  throw new Fault(
    'grading/boot-failed',
    'The Python interpreter does not boot: its counters of recursion are not where they should be.',
  );
}
