import { Fault } from '../../fault';
import { pageBytes } from './binary';
import { GuestSystem } from './system';

/** Offsets in CPython 3.12's objects on a 32-bit machine. Source: Include/object.h, cpython/object.h, bytesobject.h. */
export const offsets = { type: 4, typeCall: 64, bytesSize: 8, bytesData: 16 } as const;
/** Maximum length of a result; evaluation.py writes none that is longer. */
const maxResultBytes = 64 * 1024;
/** Memory beyond the image's that a job may leave before the instance is replaced by a new one. */
const maxLeftOverBytes = 32 * 1024 * 1024;

/** Far more than one C function of CPython leaves untouched on the stack. */
const stackWindow = new Uint8Array(1024 * 1024);

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
  /** The image's memory below and above the stack, which is empty in it. */
  private readonly belowStack: Uint8Array;
  private readonly aboveStack: Uint8Array;

  constructor(
    private readonly module: WebAssembly.Module,
    private readonly image: Image,
  ) {
    this.system.endBoot();
    this.instance = instantiate(module, this.system);
    const pristine = restore(image, new Uint8Array(this.instance.memory.buffer));
    this.belowStack = pristine.subarray(0, image.stackBottom);
    this.aboveStack = pristine.subarray(image.stackTop);
    this.warmUp();
  }

  rewind(): void {
    this.system.startJob();
    const { image } = this;
    const length = image.byteLength;
    if (this.instance.memory.buffer.byteLength > length + maxLeftOverBytes) {
      this.instance = instantiate(this.module, this.system);
    }
    const { memory, stackPointer } = this.instance;
    const missing = length - memory.buffer.byteLength;
    if (missing > 0) memory.grow(missing / pageBytes);
    const bytes = new Uint8Array(memory.buffer);
    bytes.set(this.belowStack);
    this.clearStack(bytes);
    bytes.set(this.aboveStack, image.stackTop);
    bytes.fill(0, length);
    stackPointer.value = image.stackTop;
  }

  /** The stack grows downward, and most jobs use little of it: below a whole empty window nothing was written. */
  private clearStack(bytes: Uint8Array): void {
    const { stackBottom, stackTop } = this.image;
    for (let end = stackTop; end > stackBottom; end -= stackWindow.length) {
      const window = bytes.subarray(Math.max(stackBottom, end - stackWindow.length), end);
      if (Buffer.compare(window, stackWindow.subarray(0, window.length)) === 0) return;
      window.fill(0);
    }
  }

  /** Reads a job in the guest; runs no code of the job. */
  prepare(job: string): void {
    this.system.openInput(Buffer.from(job));
    this.call(this.image.prepare);
    this.system.closeInput();
  }

  step(): string {
    return this.call(this.image.step);
  }

  /** Makes the engine compile what every job runs, which would otherwise count as time of the first job. */
  private warmUp(): void {
    this.rewind();
    this.prepare(
      JSON.stringify({
        source: 'def f(x): return [x]',
        calls: ['f({1: 2.5, "a": None})'],
        start: 0,
        split: false,
        seed: '0',
        own: [],
        imported: [],
      }),
    );
    this.system.startCall(0);
    this.step();
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

export function instantiate(module: WebAssembly.Module, system: GuestSystem): Instance {
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

/** A booted interpreter: the difference of its memory from a fresh one's, and what the host needs to call into it. */
export interface Image extends Changes {
  /** Stack of the jobs: its lowest address, and the one behind its highest, at which every call starts. */
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

interface Changes {
  readonly byteLength: number;
  readonly blocks: readonly number[];
  /** The changed blocks, one behind the other. Shared by all threads, never written. */
  readonly contents: Uint8Array;
}

/** The changes of the boot lie close together, so smaller blocks would save next to nothing. */
const blockBytes = 4096;

/** @param fresh the memory before the boot; whatever the boot added to it was zero */
export function changes(fresh: Uint8Array, booted: Uint8Array): Changes {
  const before = new Uint8Array(booted.length);
  before.set(fresh);
  const block = (memory: Uint8Array, number: number): Buffer =>
    Buffer.from(memory.buffer, memory.byteOffset + number * blockBytes, blockBytes);
  const blocks = Array.from({ length: booted.length / blockBytes }, (_, number) => number).filter(
    (number) => !block(before, number).equals(block(booted, number)),
  );
  return {
    byteLength: booted.length,
    blocks,
    contents: Buffer.concat(blocks.map((number) => block(booted, number))),
  };
}

/** The stack's part takes no room until something is written there. */
function restore({ byteLength, blocks, contents }: Changes, fresh: Uint8Array): Uint8Array {
  const memory = new Uint8Array(byteLength);
  memory.set(fresh);
  blocks.forEach((block, index) => {
    memory.set(contents.subarray(index * blockBytes, (index + 1) * blockBytes), block * blockBytes);
  });
  return memory;
}

/** A line of JSON, and the changed blocks behind it. */
export function writeImage({ contents, ...rest }: Image): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(rest)}\n`), contents]);
}

export function readImage(file: Buffer): Image {
  const start = file.indexOf('\n') + 1;
  const rest = JSON.parse(file.toString('utf8', 0, start)) as Omit<Image, 'contents'>;
  const contents = new Uint8Array(new SharedArrayBuffer(file.length - start));
  contents.set(file.subarray(start));
  return { ...rest, contents };
}
