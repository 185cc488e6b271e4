import { errno, MemoryFiles } from './files';

/** Thrown when the guest asks to end; `code` is its exit code. */
export class GuestExit extends Error {
  constructor(readonly code: number) {
    super(`the code ended the interpreter (exit code ${code})`);
  }
}

/** Thrown out of the guest at the end of its boot; its memory is then the image from which jobs start. */
export class BootEnd extends Error {}

/** Thrown when the guest sleeps, on the virtual clock, past what one call may take. */
export class SleptTooLong extends Error {}

/** Every call starts at this instant, so that outcomes do not depend on the day: 2025-01-01 12:00 UTC. */
const jobEpochNanoseconds = 1_735_732_800_000_000_000n;
const sleepLimitNanoseconds = 1_000_000_000n;
/** Time by which the clock advances each time it is read. Real time would differ between a reference and an answer. */
const tickNanoseconds = 10_000n;
const subscriptionBytes = 48;
const eventBytes = 32;
/** Maximum number of buffers that are used; no call of the interpreter passes as many. */
const maxVectors = 1024;

/**
 * Everything outside that the guest can reach: standard input that holds the job while the job is read, an output that
 * is dropped, a virtual clock that advances when it is read or slept on, random numbers from a seed, and files in memory
 * that last for one call. There is no environment, no network and no processes.
 */
export class GuestSystem {
  private memory: WebAssembly.Memory | undefined;
  private input: Uint8Array = new Uint8Array(0);
  private inputAt = 0;
  private output = '';
  private slept = 0n;
  private ticked = 0n;
  private random = 1n;
  private booting = true;
  private readonly files = new MemoryFiles(
    {
      bytes: () => this.bytes(),
      view: () => this.view(),
      vectors: (start, count) => this.vectors(start, count),
    },
    jobEpochNanoseconds,
  );

  constructor(private readonly programArguments: readonly string[]) {}

  attach(memory: WebAssembly.Memory): void {
    this.memory = memory;
  }

  get bootOutput(): string {
    return this.output;
  }

  endBoot(): void {
    this.booting = false;
  }

  openInput(input: Uint8Array): void {
    this.input = input;
    this.inputAt = 0;
  }

  closeInput(): void {
    this.input = new Uint8Array(0);
    this.inputAt = 0;
  }

  startJob(): void {
    this.files.reset();
  }

  /** Resets clock, random numbers and files, so that a call starts alike for a reference and an answer. */
  startCall(seed: number): void {
    this.slept = 0n;
    this.ticked = 0n;
    this.files.clear();
    this.random = BigInt(seed) * 2n + 1n;
  }

  /** Returns the imports of the guest; every function that is not here answers "not implemented". */
  imports(): WebAssembly.Imports {
    const files = this.files.functions();
    const functions: Record<string, (...values: never[]) => number> = {
      args_sizes_get: (count: number, size: number) => {
        this.view().setUint32(count, this.programArguments.length, true);
        this.view().setUint32(
          size,
          Buffer.byteLength(this.programArguments.map((a) => `${a}\0`).join('')),
          true,
        );
        return errno.ok;
      },
      args_get: (pointers: number, buffer: number) => this.writeArguments(pointers, buffer),
      environ_sizes_get: (count: number, size: number) => {
        this.view().setUint32(count, 0, true);
        this.view().setUint32(size, 0, true);
        return errno.ok;
      },
      environ_get: () => errno.ok,
      clock_res_get: (_id: number, resolution: number) => {
        if (this.booting) throw new BootEnd();
        this.view().setBigUint64(resolution, 1000n, true);
        return errno.ok;
      },
      clock_time_get: (id: number, _precision: bigint, time: number) => {
        this.view().setBigUint64(time, this.now(id), true);
        return errno.ok;
      },
      ...files,
      fd_close: (fd: number) => (fd <= 2 ? errno.ok : files.fd_close(fd)),
      fd_fdstat_get: (fd: number, at: number) =>
        fd <= 2 ? this.writeStreamStatus(at, 24, 0) : files.fd_fdstat_get(fd, at),
      fd_filestat_get: (fd: number, at: number) =>
        fd <= 2 ? this.writeStreamStatus(at, 64, 16) : files.fd_filestat_get(fd, at),
      fd_seek: (fd: number, offset: bigint, from: number, at: number) =>
        fd <= 2 ? errno.seekPipe : files.fd_seek(fd, offset, from, at),
      fd_tell: (fd: number, at: number) => (fd <= 2 ? errno.seekPipe : files.fd_tell(fd, at)),
      fd_read: (fd: number, vectors: number, count: number, read: number) =>
        fd === 0 ? this.readInput(vectors, count, read) : files.fd_read(fd, vectors, count, read),
      fd_write: (fd: number, vectors: number, count: number, written: number) =>
        fd === 1 || fd === 2
          ? this.dropOutput(vectors, count, written)
          : files.fd_write(fd, vectors, count, written),
      random_get: (start: number, length: number) => this.fillRandom(start, length),
      poll_oneoff: (subscriptions: number, events: number, count: number, happened: number) =>
        this.sleep(subscriptions, events, count, happened),
      sched_yield: () => errno.ok,
      proc_exit: (code: number) => {
        throw new GuestExit(code);
      },
    };
    const missing = (): number => errno.notImplemented;
    return {
      wasi_snapshot_preview1: new Proxy(functions, { get: (all, name) => all[String(name)] ?? missing }),
    };
  }

  private bytes(): Uint8Array {
    return new Uint8Array(this.memory!.buffer);
  }

  private view(): DataView {
    return new DataView(this.memory!.buffer);
  }

  private writeArguments(pointers: number, buffer: number): number {
    let pointer = pointers;
    let at = buffer;
    for (const argument of this.programArguments) {
      const text = Buffer.from(`${argument}\0`);
      this.view().setUint32(pointer, at, true);
      this.bytes().set(text, at);
      pointer += 4;
      at += text.length;
    }
    return errno.ok;
  }

  private writeStreamStatus(at: number, size: number, kindOffset: number): number {
    const characterDevice = 2;
    const bytes = this.bytes();
    bytes.fill(0, at, at + size);
    bytes[at + kindOffset] = characterDevice;
    const rights = 0xffff_ffffn;
    if (size === 24) this.view().setBigUint64(at + 8, rights, true);
    return errno.ok;
  }

  private *vectors(start: number, count: number): Generator<[start: number, length: number]> {
    for (let index = 0; index < Math.min(count, maxVectors); index++) {
      const at = start + 8 * index;
      yield [this.view().getUint32(at, true), this.view().getUint32(at + 4, true)];
    }
  }

  private readInput(vectors: number, count: number, read: number): number {
    let total = 0;
    for (const [start, length] of this.vectors(vectors, count)) {
      const part = this.input.subarray(this.inputAt, this.inputAt + length);
      this.bytes().set(part, start);
      this.inputAt += part.length;
      total += part.length;
    }
    this.view().setUint32(read, total, true);
    return errno.ok;
  }

  private dropOutput(vectors: number, count: number, written: number): number {
    let total = 0;
    for (const [start, length] of this.vectors(vectors, count)) {
      if (this.booting) this.output += Buffer.from(this.bytes().slice(start, start + length)).toString();
      total += length;
    }
    this.view().setUint32(written, total, true);
    return errno.ok;
  }

  private now(clock: number): bigint {
    const realTime = 0;
    // Time stands still while the guest boots, so that every boot ends with the same memory.
    if (!this.booting) this.ticked += tickNanoseconds;
    const elapsed = this.ticked + this.slept;
    return clock === realTime ? jobEpochNanoseconds + elapsed : elapsed + 1_000_000_000n;
  }

  /** Fills memory by a linear congruential generator (Knuth's MMIX constants), which has to be repeatable, not good. */
  private fillRandom(start: number, length: number): number {
    const bytes = this.bytes().subarray(start, start + length);
    for (let index = 0; index < bytes.length; index++) {
      this.random =
        (this.random * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n) & 0xffff_ffff_ffff_ffffn;
      bytes[index] = Number(this.random >> 33n) & 255;
    }
    return errno.ok;
  }

  /** Serves `time.sleep`: moves the virtual clock and returns at once. */
  private sleep(subscriptions: number, events: number, count: number, happened: number): number {
    const clockEvent = 0;
    let fired = 0;
    for (let index = 0; index < Math.min(count, maxVectors); index++) {
      const at = subscriptions + subscriptionBytes * index;
      if (this.view().getUint8(at + 8) !== clockEvent) continue;
      const timeout = this.view().getBigUint64(at + 24, true);
      const absolute = (this.view().getUint16(at + 40, true) & 1) === 1;
      const wait = absolute ? timeout - this.now(this.view().getUint32(at + 16, true)) : timeout;
      if (wait > 0n) this.slept += wait;
      if (this.slept > sleepLimitNanoseconds) throw new SleptTooLong();
      const event = events + eventBytes * fired++;
      this.bytes().fill(0, event, event + eventBytes);
      this.bytes().copyWithin(event, at, at + 8);
    }
    this.view().setUint32(happened, fired, true);
    return errno.ok;
  }
}
