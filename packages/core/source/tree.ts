// A bundle as it was read: plain JSON values that remember where they stood.
import type { Path } from './problem.ts';

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
  readonly entries: ReadonlyMap<string, TreeEntry>;
  /** Written with braces. */
  readonly flow: boolean;
}
export interface TreeEntry {
  readonly keyOffset: number;
  readonly value: Tree;
}
export type Tree = ScalarTree | ListTree | MapTree;

/** The plain value of a tree. */
export function valueOf(tree: Tree): unknown {
  if (tree.kind === 'scalar') return tree.value;
  if (tree.kind === 'list') return tree.items.map(valueOf);
  // Entries become own properties: `__proto__` is a key like any other.
  return Object.fromEntries([...tree.entries].map(([key, { value }]) => [key, valueOf(value)]));
}

interface FoundNode {
  /** The value at the path, or the deepest one on the way that exists. */
  readonly tree: Tree;
  /** Where its key stands, if it has one. */
  readonly keyOffset: number;
  readonly whole: boolean;
}

/** Follows a path as far as the tree goes. */
export function follow(root: Tree, path: Path): FoundNode {
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

// Where the nth character of a string stands in the source, for errors inside patterns.

/** The offset in the source of a character of the value; the start of the value if unknowable. */
export function sourceOffset(tree: ScalarTree, inside: number): number {
  const { value, raw, style, offset } = tree;
  if (typeof value !== 'string' || inside < 0 || inside > value.length) return offset;
  if (style === 'literal') return offset + (literalOffset(value, raw, inside) ?? 0);
  // Folding joins lines, so that columns after the first break are not known.
  if (style === 'folded' || raw.includes('\n')) return offset;
  if (style === 'double') return offset + escapedOffset(raw, inside);
  if (style === 'plain') return offset + inside;
  return raw.includes("''") ? offset : offset + 1 + inside;
}

/** In `|` text, each line of the value is one line of the source behind the same indentation. */
function literalOffset(value: string, raw: string, inside: number): number | undefined {
  const before = value.slice(0, inside);
  const lineIndex = before.split('\n').length - 1;
  const column = inside - (before.lastIndexOf('\n') + 1);
  let start = raw.indexOf('\n') + 1;
  for (let line = 0; line < lineIndex; line++) start = raw.indexOf('\n', start) + 1;
  if (start === 0) return undefined;
  const end = raw.indexOf('\n', start);
  const source = raw.slice(start, end === -1 ? raw.length : end);
  const text = value.split('\n')[lineIndex] ?? '';
  const indent = source.indexOf(text);
  return indent === -1 ? undefined : start + indent + column;
}

const ESCAPE_LENGTHS: { readonly [letter: string]: number } = { x: 4, u: 6, U: 10 };

function escapedOffset(raw: string, inside: number): number {
  let at = 1;
  for (let unit = 0; unit < inside && at < raw.length - 1; unit++) {
    if (raw[at] === '\\') {
      const letter = raw[at + 1] ?? '';
      const length = ESCAPE_LENGTHS[letter] ?? 2;
      // Eight hex digits may spell a character of two units.
      if (letter === 'U' && Number.parseInt(raw.slice(at + 2, at + 10), 16) > 0xffff) unit++;
      at += length;
    } else at++;
  }
  return at;
}
