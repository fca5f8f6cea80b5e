// A bundle as it was read: plain JSON values that remember where they stood.
import type { Path } from './finding.ts';

export type Style = 'plain' | 'single' | 'double' | 'literal' | 'folded';

export interface ScalarTree {
  readonly kind: 'scalar';
  readonly offset: number;
  readonly value: string | number | boolean | null;
  /** As written, quotes and all. */
  readonly raw: string;
  readonly style: Style;
}
interface ListTree {
  readonly kind: 'list';
  readonly offset: number;
  readonly items: readonly Tree[];
}
export interface MapTree {
  readonly kind: 'map';
  readonly offset: number;
  readonly entries: ReadonlyMap<string, Entry>;
  /** Written with braces. */
  readonly flow: boolean;
}
export interface Entry {
  readonly keyOffset: number;
  readonly value: Tree;
}
export type Tree = ScalarTree | ListTree | MapTree;

/** The plain value of a tree. */
export function valueOf(tree: Tree): unknown {
  if (tree.kind === 'scalar') return tree.value;
  if (tree.kind === 'list') return tree.items.map(valueOf);
  const object: Record<string, unknown> = {};
  for (const [key, entry] of tree.entries) {
    const value = valueOf(entry.value);
    // Assigning to `__proto__` would change what the object inherits; it is a key like any other.
    if (key !== '__proto__') object[key] = value;
    else {
      const rest = { enumerable: true, writable: true, configurable: true };
      Object.defineProperty(object, key, { value, ...rest });
    }
  }
  return object;
}

interface Found {
  /** The value at the path, or the deepest one on the way that exists. */
  readonly tree: Tree;
  /** Where its key stands, if it has one. */
  readonly keyOffset: number;
  readonly whole: boolean;
}

/** Follows a path as far as the tree goes. */
export function follow(root: Tree, path: Path): Found {
  let tree = root;
  let keyOffset = root.offset;
  for (const step of path) {
    if (tree.kind === 'list' && typeof step === 'number') {
      const item = tree.items[step];
      if (item === undefined) return { tree, keyOffset, whole: false };
      tree = item;
      keyOffset = item.offset;
    } else {
      const entry = tree.kind === 'map' ? tree.entries.get(String(step)) : undefined;
      if (entry === undefined) return { tree, keyOffset, whole: false };
      tree = entry.value;
      keyOffset = entry.keyOffset;
    }
  }
  return { tree, keyOffset, whole: true };
}
