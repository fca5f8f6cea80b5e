// Keywords as one table (Aho-Corasick): one look-up for each unit of a text finds all of them in one pass.
// Units are folded to one byte and lower case: a keyword that was found is a candidate, never a proof.
import type { Rule } from '../types.ts';

/** What is looked for, of a rule. */
export type Keywords = Pick<Rule, 'name' | 'keywords' | 'anyCase' | 'edge'>;

export interface Keyword {
  /** The index of its rule. */
  readonly rule: number;
  readonly text: string;
  readonly anyCase: boolean;
  /** Inside of a word it is none, unless an escape stands before it. */
  readonly edge: boolean;
}

export interface KeywordTable {
  /** The class of each unit, by its lower byte. Rare units share one. */
  readonly classes: Uint8Array;
  /**
   * The next state, at `((state & ~1) << 5) + class`; odd where keywords end. Loops over units write it out: a
   * function of another script of the product is read anew each time.
   */
  readonly next: Uint16Array | Int32Array;
  /** The keywords that end in a state, the longest first. */
  readonly ending: ReadonlyMap<number, readonly Keyword[]>;
}

const BYTE = 0xff;
/** A power of two, so that a row is found without a multiplication. */
const CLASSES = 64;
/** Class 0 is all that stands in no keyword; behind these, classes are shared. */
const OWN_CLASSES = 60;
/** So many nodes can be numbered in 16 bits, one of which says that keywords end. */
const SMALL_NODES = 1 << 15;

export function keywordTable(rules: readonly Keywords[]): KeywordTable {
  const classes = classesOf(rules);
  const trie = trieOf(rules, classes);
  linkStates(trie);
  // What lies behind was never written, so it takes no memory.
  const next = trie.rows.subarray(0, trie.count * CLASSES);
  return { classes, next, ending: trie.ending };
}

/** Where a keyword begins that ends before a place; -1 where the folding only made it look so. */
export function keywordStart(text: string, end: number, keyword: Keyword): number {
  const start = end - keyword.text.length;
  if (keyword.edge && isInWord(text, start)) return -1;
  return isWritten(text, start, keyword) ? start : -1;
}

function isWritten(text: string, start: number, { text: keyword, anyCase }: Keyword): boolean {
  // Most are written as they are looked for.
  if (text.startsWith(keyword, start)) return true;
  if (!anyCase) return false;
  for (let at = 0; at < keyword.length; at++) {
    if (foldUnit(text.charCodeAt(start + at)) !== foldUnit(keyword.charCodeAt(at))) return false;
  }
  return true;
}

function foldUnit(unit: number): number {
  const low = unit & BYTE;
  return low >= 0x41 && low <= 0x5a ? low + 0x20 : low;
}

/** Numbers the units of keywords, those first that stand in most; all others are class 0. */
function classesOf(rules: readonly Keywords[]): Uint8Array {
  const counts = new Uint32Array(BYTE + 1);
  for (const { keywords } of rules) {
    for (const keyword of keywords) {
      for (let at = 0; at < keyword.length; at++) {
        const unit = keyword.charCodeAt(at) & BYTE;
        counts[unit] = (counts[unit] ?? 0) + 1;
      }
    }
  }
  for (let unit = 0x41; unit <= 0x5a; unit++) {
    counts[unit + 0x20] = (counts[unit + 0x20] ?? 0) + (counts[unit] ?? 0);
    counts[unit] = 0;
  }
  const units = Array.from(counts.keys()).filter((unit) => counts[unit] !== 0);
  units.sort((left, right) => (counts[right] ?? 0) - (counts[left] ?? 0));
  const classes = new Uint8Array(BYTE + 1);
  const shared = CLASSES - OWN_CLASSES - 1;
  for (const [index, unit] of units.entries()) {
    classes[unit] = 1 + (index < OWN_CLASSES ? index : OWN_CLASSES + (index % shared));
  }
  for (let unit = 0x41; unit <= 0x5a; unit++) classes[unit] = classes[unit + 0x20] ?? 0;
  return classes;
}

/** Nodes in the order in which they were added; 0 is the root, and no child of any. */
interface Trie {
  /** The children of each node, by class; once they are linked, the next states. */
  readonly rows: Uint16Array | Int32Array;
  readonly firstChild: Int32Array;
  readonly nextSibling: Int32Array;
  /** The class that leads to a node. */
  readonly classAt: Uint8Array;
  /** 1 where keywords end; most nodes are not looked up in the map. */
  readonly isEnd: Uint8Array;
  /** By their states, as in the table. */
  readonly ending: Map<number, Keyword[]>;
  readonly count: number;
}

function endState(node: number): number {
  return (node << 1) | 1;
}

function trieOf(rules: readonly Keywords[], classes: Uint8Array): Trie {
  let nodesMax = 1;
  for (const { keywords } of rules) for (const text of keywords) nodesMax += text.length;
  const rows = new (nodesMax < SMALL_NODES ? Uint16Array : Int32Array)(nodesMax * CLASSES);
  const firstChild = new Int32Array(nodesMax);
  const nextSibling = new Int32Array(nodesMax);
  const classAt = new Uint8Array(nodesMax);
  const isEnd = new Uint8Array(nodesMax);
  const ending = new Map<number, Keyword[]>();
  let count = 1;
  for (const [rule, { name, keywords, anyCase, edge = false }] of rules.entries()) {
    for (const text of keywords) {
      if (text === '') throw new Error(`the rule ${name} has an empty keyword`);
      let node = 0;
      for (let at = 0; at < text.length; at++) {
        const own = classes[text.charCodeAt(at) & BYTE] ?? 0;
        let child = rows[node * CLASSES + own] ?? 0;
        if (child === 0) {
          child = count++;
          rows[node * CLASSES + own] = child;
          classAt[child] = own;
          nextSibling[child] = firstChild[node] ?? 0;
          firstChild[node] = child;
        }
        node = child;
      }
      const keyword = { rule, text, anyCase, edge };
      if (isEnd[node] === 1) ending.get(endState(node))?.push(keyword);
      else ending.set(endState(node), [keyword]);
      isEnd[node] = 1;
    }
  }
  return { rows, firstChild, nextSibling, classAt, isEnd, ending, count };
}

/** Makes states of nodes, breadth first, so that the row of a node's fallback is complete before its own. */
function linkStates(trie: Trie): void {
  const { rows, firstChild, nextSibling, classAt, isEnd, ending, count } = trie;
  const fallback = new Int32Array(count);
  const queue = new Int32Array(count);
  let queued = 1;
  for (let done = 0; done < queued; done++) {
    const node = queue[done] ?? 0;
    const row = node * CLASSES;
    const back = (fallback[node] ?? 0) * CLASSES;
    if (node !== 0) rows.copyWithin(row, back, back + CLASSES);
    for (let child = firstChild[node] ?? 0; child !== 0; child = nextSibling[child] ?? 0) {
      const cell = row + (classAt[child] ?? 0);
      const shorter = node === 0 ? 0 : (rows[cell] ?? 0) >> 1;
      fallback[child] = shorter;
      if (isEnd[shorter] === 1) {
        const own = ending.get(endState(child)) ?? [];
        ending.set(endState(child), [...own, ...(ending.get(endState(shorter)) ?? [])]);
        isEnd[child] = 1;
      }
      rows[cell] = (child << 1) | (isEnd[child] ?? 0);
      queue[queued++] = child;
    }
  }
}

/** Whether a letter or a digit stands before, and no escape or colour that this could be the end of. */
function isInWord(text: string, at: number): boolean {
  if (at === 0) return false;
  const before = text.charCodeAt(at - 1);
  const low = foldUnit(before);
  const isWord = before < 0x80 && ((low >= 0x61 && low <= 0x7a) || (low >= 0x30 && low <= 0x39));
  if (!isWord || (before === 0x6d && endsColour(text.charCodeAt(at - 2)))) return false;
  return text[at - 2] !== '\\' && text[at - 3] !== '%' && text[at - 6] !== '\\';
}

/** The unit before the `m` of a colour, as in `[0m`, `[1;31m` and `[m`. */
export function endsColour(unit: number): boolean {
  return (unit >= 0x30 && unit <= 0x39) || unit === 0x5b;
}
