// ChaCha with 8 rounds and a key of 128 bits, as a source of numbers: the same seed always gives the same ones.

const CONSTANTS = [0x61707865, 0x3120646e, 0x79622d36, 0x6b206574] as const;
const WORDS = 16;
const DOUBLE_ROUNDS = 4;
/** The columns and then the diagonals of the state, four words each. */
const QUARTERS = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
] as const;

/** The block of the key stream with this number, as little-endian words; the nonce is zero. */
export function chacha8Block(key: Uint32Array, blockNo: number): Uint32Array {
  const start = new Uint32Array(WORDS);
  start.set(CONSTANTS);
  start.set(key, 4);
  start.set(key, 8);
  start[12] = blockNo;
  const state = start.slice();
  for (let round = 0; round < DOUBLE_ROUNDS; round += 1) {
    for (const places of QUARTERS) quarterRound(state, places);
  }
  for (let index = 0; index < WORDS; index += 1) {
    state[index] = word(state, index) + word(start, index);
  }
  return state;
}

function quarterRound(state: Uint32Array, places: (typeof QUARTERS)[number]): void {
  const a = places[0];
  const b = places[1];
  const c = places[2];
  const d = places[3];
  let first = word(state, a);
  let second = word(state, b);
  let third = word(state, c);
  let fourth = word(state, d);
  first = (first + second) | 0;
  fourth = turned(fourth ^ first, 16);
  third = (third + fourth) | 0;
  second = turned(second ^ third, 12);
  first = (first + second) | 0;
  fourth = turned(fourth ^ first, 8);
  third = (third + fourth) | 0;
  second = turned(second ^ third, 7);
  state[a] = first;
  state[b] = second;
  state[c] = third;
  state[d] = fourth;
}

function turned(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

function word(state: Uint32Array, index: number): number {
  return state[index] ?? 0;
}

/** Numbers from 0 up to but not 1, with 53 bits each, from a seed of 16 bytes in hex. */
export function seededNumbers(seed: string): () => number {
  const key = keyWords(seed);
  let block = chacha8Block(key, 0);
  let blockNo = 0;
  let used = 0;
  return () => {
    if (used === WORDS) {
      blockNo += 1;
      block = chacha8Block(key, blockNo);
      used = 0;
    }
    const low = word(block, used);
    const high = word(block, used + 1);
    used += 2;
    return (high * 2 ** 21 + (low >>> 11)) / 2 ** 53;
  };
}

function keyWords(seed: string): Uint32Array {
  if (!/^[0-9a-f]{32}$/.test(seed)) throw new Error('a seed is 16 bytes in lowercase hex');
  return Uint32Array.from({ length: 4 }, (_, index) => {
    const value = Number.parseInt(seed.slice(index * 8, index * 8 + 8), 16);
    // The words of a key are little-endian.
    return (value >>> 24) | ((value >>> 8) & 0xff00) | ((value << 8) & 0xff0000) | (value << 24);
  });
}
