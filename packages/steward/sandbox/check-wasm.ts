// What a module of WebAssembly wants, read from its bytes: V8 tells the names of imports, but neither how much memory
// a module begins with nor that it brings one of its own, which nobody could bound.

export interface WasmNeeds {
  readonly initialPages: number;
  readonly maximumPages: number;
}

const PAGE_BYTES = 65_536;
const MAGIC = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0] as const;
const SECTION = { imports: 2, tables: 4, memories: 5 } as const;
const KIND = { function: 0, table: 1, memory: 2 } as const;
const TABLE_ENTRIES_MAX = 65_536;
const HOST_FUNCTIONS: ReadonlySet<string> = new Set(['host.log', 'host.ask', 'host.answer']);

class NotAllowed extends Error {
  override readonly name = 'NotAllowed';
}

/** A text says why it is not run. */
export function checkWasm(bytes: Uint8Array, memoryBytes: number): WasmNeeds | string {
  try {
    return needsOf(new Reader(bytes), Math.floor(memoryBytes / PAGE_BYTES));
  } catch (cause) {
    return cause instanceof NotAllowed ? cause.message : 'It is no module of WebAssembly.';
  }
}

function needsOf(reader: Reader, pagesMax: number): WasmNeeds {
  if (MAGIC.some((expected) => reader.byte() !== expected)) throw new RangeError('no module');
  let memory: Limits | undefined;
  while (!reader.isAtEnd) {
    const id = reader.byte();
    const section = reader.part(reader.number());
    if (id === SECTION.imports) memory = readImports(section);
    else if (id === SECTION.tables) readTables(section);
    else if (id === SECTION.memories && section.number() > 0) {
      throw new NotAllowed('It brings a memory of its own. It must import env.memory.');
    }
  }
  if (memory === undefined) throw new NotAllowed('It must import env.memory.');
  const maximumPages = Math.min(pagesMax, memory.max ?? pagesMax);
  if (memory.min > maximumPages) throw new NotAllowed('It wants more memory than its limit.');
  return { initialPages: memory.min, maximumPages };
}

function readImports(section: Reader): Limits | undefined {
  let memory: Limits | undefined;
  for (let left = section.number(); left > 0; left--) {
    const name = `${section.name()}.${section.name()}`;
    const kind = section.byte();
    if (kind === KIND.function && HOST_FUNCTIONS.has(name)) section.number();
    else if (kind === KIND.memory && name === 'env.memory' && memory === undefined) {
      memory = section.limits();
    } else throw new NotAllowed(`It imports ${name.slice(0, 100)}, which there is not.`);
  }
  return memory;
}

function readTables(section: Reader): void {
  for (let left = section.number(); left > 0; left--) {
    section.byte();
    const { max } = section.limits();
    if (max === undefined || max > TABLE_ENTRIES_MAX) {
      throw new NotAllowed('It has a table without a limit, or with one that is too large.');
    }
  }
}

interface Limits {
  readonly min: number;
  readonly max: number | undefined;
}

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw new RangeError('the end');
    return byte;
  }

  /** An unsigned number of at most 32 bits, in LEB128. */
  number(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new RangeError('a number without an end');
  }

  part(length: number): Reader {
    if (this.#at + length > this.#bytes.length) throw new RangeError('the end');
    const part = new Reader(this.#bytes.subarray(this.#at, this.#at + length));
    this.#at += length;
    return part;
  }

  name(): string {
    const length = this.number();
    const part = this.#bytes.subarray(this.#at, this.#at + length);
    this.part(length);
    return Buffer.from(part).toString();
  }

  limits(): Limits {
    const flags = this.byte();
    // Neither shared nor of 64 bits.
    if (flags > 1) throw new NotAllowed('Its memory or table is of a kind that is not run.');
    const min = this.number();
    return { min, max: flags === 1 ? this.number() : undefined };
  }
}
