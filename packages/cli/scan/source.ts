// What is scanned: JSON where the file is JSON, else text.

import { type Failure, isFailure } from '@subluminal/contracts';
import { canonicalize } from '@subluminal/core/json';
import { readFileBytes } from '../input/read-file.ts';
import type { Io } from '../terminal/io.ts';

export interface Source {
  readonly kind: 'source';
  readonly name: string;
  readonly text: string;
  /** What the JSON holds; absent where it is no JSON. */
  readonly json?: { readonly value: unknown };
  /** Characters that stand for bytes which are no UTF-8. */
  readonly unreadable: number;
}

export const SOURCE_BYTES_MAX = 10_000_000;
const REPLACED = /\uFFFD/g;

export async function readSource(path: string, io: Io): Promise<Source | Failure> {
  const file = await readFileBytes(path, { io, bytesMax: SOURCE_BYTES_MAX });
  if (isFailure(file)) return file;
  const { text, unreadable } = decoded(file.bytes);
  const base = { kind: 'source', name: file.name, text, unreadable } as const;
  // JSON that names a member twice would hide one of both, hence it is looked at as text.
  if (unreadable > 0 || !canonicalize(text).ok) return base;
  const value: unknown = JSON.parse(text);
  return { ...base, json: { value } };
}

function decoded(bytes: Uint8Array): Pick<Source, 'text' | 'unreadable'> {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), unreadable: 0 };
  } catch {
    const text = new TextDecoder().decode(bytes);
    return { text, unreadable: text.match(REPLACED)?.length ?? 1 };
  }
}

/** Line and column of a place in a text, both from 1. */
export function placesIn(text: string): (offset: number) => { line: number; column: number } {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}
