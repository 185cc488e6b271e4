// The part of the WebAssembly JavaScript interface that the grader uses. TypeScript has it only in its browser library,
// and Node's own types only name the module. Source: WebAssembly JavaScript Interface 2.0.
declare namespace WebAssembly {
  type Imports = Record<string, Record<string, (...values: never[]) => number>>;

  class Instance {
    constructor(module: Module, imports: Imports);
    readonly exports: Readonly<Record<string, unknown>>;
  }

  interface Memory {
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }

  interface Table {
    get(index: number): unknown;
  }

  class RuntimeError extends Error {}

  function compile(bytes: Uint8Array<ArrayBuffer>): Promise<Module>;
}
