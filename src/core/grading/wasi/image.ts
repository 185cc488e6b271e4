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
export function restore({ byteLength, blocks, contents }: Changes, fresh: Uint8Array): Uint8Array {
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
