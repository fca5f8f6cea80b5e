// The texts of a JSON value, with their places, as far as the limits go.
import { ROUNDED } from './tokens/number-keys.ts';

export type LeafPath = readonly (string | number)[];

export interface TaintLeaf {
  readonly path: LeafPath;
  readonly text: string;
  /** The text is a key of the object at the path. */
  readonly isKey: boolean;
}

export interface Leaves {
  readonly leaves: readonly TaintLeaf[];
  /** False when there was more than the limits allow. */
  readonly whole: boolean;
}

interface LeafLimits {
  readonly charsMax: number;
  readonly nodesMax: number;
}

const ROUNDED_MAX = 1e34;
const DEPTH_MAX = 64;

/** Strings, keys and numbers in the order in which they stand. Never throws on what JSON can hold. */
export function leavesOf(value: unknown, limits: LeafLimits): Leaves {
  const leaves: TaintLeaf[] = [];
  let { charsMax: charsLeft, nodesMax: nodesLeft } = limits;
  let whole = true;
  const add = (leaf: TaintLeaf) => {
    const text = leaf.text.slice(0, charsLeft);
    if (text.length < leaf.text.length) whole = false;
    charsLeft -= text.length;
    if (text !== '') leaves.push({ ...leaf, text });
  };
  const visit = (item: unknown, path: LeafPath) => {
    if (--nodesLeft < 0 || path.length > DEPTH_MAX) {
      whole = false;
      return;
    }
    if (typeof item === 'string') add({ path, text: item, isKey: false });
    else if (typeof item === 'number' || typeof item === 'bigint') {
      add({ path, text: numberText(item), isKey: false });
    } else if (Array.isArray(item)) {
      for (const [index, inner] of item.entries()) {
        if (nodesLeft < 0) break;
        visit(inner, [...path, index]);
      }
    } else if (typeof item === 'object' && item !== null) {
      for (const [key, inner] of Object.entries(item)) {
        if (nodesLeft < 0) break;
        add({ path, text: key, isKey: true });
        visit(inner, [...path, key]);
      }
    }
  };
  visit(value, []);
  return { leaves, whole };
}

/** Without an exponent: an account number is its digits, as far as they are known. */
function numberText(value: number | bigint): string {
  if (typeof value === 'bigint' || !Number.isInteger(value)) return String(value);
  if (Number.isSafeInteger(value)) return value.toFixed(0);
  return Math.abs(value) < ROUNDED_MAX ? ROUNDED + BigInt(Math.abs(value)) : String(value);
}
