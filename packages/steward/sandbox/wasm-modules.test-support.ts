// Small modules of WebAssembly, byte by byte.

const I32 = 0x7f;
const I64 = 0x7e;
const text = (value: string) => [value.length, ...Buffer.from(value)];
const section = (id: number, items: readonly (readonly number[])[]) => {
  const body = [items.length, ...items.flat()];
  return [id, ...leb(body.length), ...body];
};
const leb = (value: number): number[] =>
  value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...leb(value >>> 7)];

/** Address and length of a text as one number. */
const pack = (address: readonly number[], length: readonly number[]) => [
  ...[...address, 0xad, 0x42, 0x20, 0x86],
  ...[...length, 0xad, 0x84],
];
const ADDRESS = [0x20, 0];
const LENGTH = [0x20, 1];
const ECHO = pack(ADDRESS, LENGTH);

interface ModuleParts {
  readonly run?: readonly number[];
  readonly imports?: readonly (readonly number[])[];
  readonly memory?: readonly number[];
  readonly sections?: readonly number[];
}

const memoryImport = (limits: readonly number[]) => [
  ...text('env'),
  ...text('memory'),
  2,
  ...limits,
];
export const functionImport = (module: string, name: string, type: number) => [
  ...text(module),
  ...text(name),
  0,
  type,
];

/** Types: 0 (i32) → i32, 1 (i32, i32) → i64, 2 (i32, i32) → i32, 3 (i32) → nothing. */
export function wasmModule(parts: ModuleParts = {}): Uint8Array {
  const { run = ECHO, imports = [], memory = memoryImport([0, 1]), sections = [] } = parts;
  const count = imports.length;
  const types = [
    [0x60, 1, I32, 1, I32],
    [0x60, 2, I32, I32, 1, I64],
    [0x60, 2, I32, I32, 1, I32],
    [0x60, 1, I32, 0],
  ];
  const alloc = [0, 0x41, ...[0x80, 0x08], 0x0b];
  const body = [0, ...run, 0x0b];
  const bytes = [
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, types),
    ...section(2, [...(memory.length > 0 ? [memory] : []), ...imports]),
    ...section(3, [[0], [1]]),
    ...sections,
    ...section(7, [
      [...text('alloc'), 0, count],
      [...text('run'), 0, count + 1],
    ]),
    ...section(
      10,
      [alloc, body].map((code) => [...leb(code.length), ...code]),
    ),
  ];
  return Uint8Array.from(bytes);
}

export const LOOP = [0x03, 0x40, 0x0c, 0, 0x0b, 0x42, 0];
/** Grows by 10,000 pages, and fails if it could. */
export const GROW = [
  ...[0x41, 0x90, 0xce, 0x00, 0x40, 0x00, 0x41, 0x7f, 0x47, 0x04, 0x40, 0x00, 0x0b],
  ...ECHO,
];
/** Asks the host what the input says, and gives its answer. */
export const ASK_IMPORTS = [functionImport('host', 'ask', 2), functionImport('host', 'answer', 3)];
export const ASK = [
  ...[0x20, 0, 0x20, 1, 0x10, 0, 0x21, 1],
  ...[0x41, 0x80, 0x20, 0x10, 1],
  ...pack([0x41, 0x80, 0x20], LENGTH),
];
/** A text far outside of the memory. */
export const OUTSIDE = pack([0x41, 0x7f], [0x41, 0x10]);
export const OWN_MEMORY = section(5, [[0, 1]]);
export const WIDE_TABLE = section(4, [[0x70, 0, 1]]);
export const largeMemory = memoryImport([0, ...leb(40_000)]);
export const sharedMemory = memoryImport([3, 1, 2]);
