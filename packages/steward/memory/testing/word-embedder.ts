// Vectors without a model: words that mean the same fall on the same places.
import type { Embedder } from '../embedders/types.ts';

const DIMENSIONS = 64;
const SAME: readonly (readonly string[])[] = [
  ['car', 'automobile', 'vehicle'],
  ['doctor', 'physician'],
  ['holiday', 'vacation'],
];

export function wordEmbedder(name = 'words'): Embedder & { readonly embedded: () => number } {
  let embedded = 0;
  return {
    name,
    dimensions: DIMENSIONS,
    embedded: () => embedded,
    embed: async (texts) => {
      embedded += texts.length;
      return texts.map(vectorOf);
    },
    close: async () => {},
  };
}

function vectorOf(text: string): Float32Array {
  const vector = new Float32Array(DIMENSIONS).fill(-0.05);
  for (const word of text.toLowerCase().match(/[a-z]{3,}/g) ?? []) {
    const group = SAME.findIndex((words) => words.includes(word));
    const place = group >= 0 ? group : 8 + (hash(word) % (DIMENSIONS - 8));
    vector[place] = (vector[place] ?? 0) + (group >= 0 ? 4 : 1);
  }
  return vector;
}

function hash(word: string): number {
  return [...word].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) >>> 0, 7);
}
