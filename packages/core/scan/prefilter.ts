// Finds every keyword in one pass over the text (Aho-Corasick), so that clean text costs one table
// look-up per unit. Units are folded to one byte and lower case: a hit is a candidate, never a proof.
import type { Rule } from './types.ts';

interface Keyword {
  readonly rule: number;
  readonly length: number;
  /** Set where upper and lower case differ. */
  readonly exact?: string;
}

interface Prefilter {
  /** Calls `onHit` with the rule's index and the place where its keyword begins. */
  readonly scan: (text: string, onHit: (rule: number, at: number) => void) => void;
}

interface Trie {
  readonly children: Map<number, number>[];
  readonly keywords: Keyword[][];
}

const BYTE = 0xff;

function foldUnit(unit: number): number {
  const low = unit & BYTE;
  return low >= 0x41 && low <= 0x5a ? low + 0x20 : low;
}

function trieOf(rules: readonly Rule[]): Trie {
  const trie: Trie = { children: [new Map<number, number>()], keywords: [[]] };
  for (const [index, rule] of rules.entries()) {
    for (const keyword of rule.keywords) {
      if (keyword === '') throw new Error(`the rule ${rule.name} has an empty keyword`);
      const found = { rule: index, length: keyword.length };
      trie.keywords[insert(trie, keyword)]?.push(
        rule.anyCase ? found : { ...found, exact: keyword },
      );
    }
  }
  return trie;
}

function insert({ children, keywords }: Trie, keyword: string): number {
  let node = 0;
  for (let at = 0; at < keyword.length; at++) {
    const unit = foldUnit(keyword.charCodeAt(at));
    let next = children[node]?.get(unit);
    if (next === undefined) {
      next = children.push(new Map<number, number>()) - 1;
      keywords.push([]);
      children[node]?.set(unit, next);
    }
    node = next;
  }
  return node;
}

/** Numbers the units that occur in keywords; all others are class 0. */
function classesOf({ children }: Trie): { readonly of: Uint8Array; readonly count: number } {
  const of = new Uint8Array(BYTE + 1);
  let count = 1;
  for (const edges of children) {
    for (const unit of edges.keys()) if (of[unit] === 0) of[unit] = count++;
  }
  for (let unit = 0x41; unit <= 0x5a; unit++) of[unit] = of[unit + 0x20] ?? 0;
  return { of, count };
}

/** Fills the table breadth first, so that a node's fallback is complete before the node. */
function tableOf(trie: Trie, classes: { of: Uint8Array; count: number }): Int32Array {
  const { children, keywords } = trie;
  const { of, count } = classes;
  const table = new Int32Array(children.length * count);
  const fallback = new Int32Array(children.length);
  const queue: number[] = [0];
  for (const node of queue) {
    const back = fallback[node] ?? 0;
    if (node !== 0) {
      table.copyWithin(node * count, back * count, (back + 1) * count);
      keywords[node]?.push(...(keywords[back] ?? []));
    }
    for (const [unit, child] of children[node] ?? []) {
      const cell = node * count + (of[unit] ?? 0);
      fallback[child] = node === 0 ? 0 : (table[cell] ?? 0);
      table[cell] = child;
      queue.push(child);
    }
  }
  // From numbers of nodes to offsets of rows, the lowest bit saying that keywords end here.
  return table.map((node) => ((node * count) << 1) | (keywords[node]?.length === 0 ? 0 : 1));
}

function createPrefilter(rules: readonly Rule[]): Prefilter {
  const trie = trieOf(rules);
  const classes = classesOf(trie);
  const table = tableOf(trie, classes);
  const { of, count } = classes;

  return {
    scan(text, onHit) {
      let state = 0;
      for (let at = 0; at < text.length; at++) {
        state = table[(state >> 1) + (of[text.charCodeAt(at) & BYTE] ?? 0)] ?? 0;
        if ((state & 1) === 0) continue;
        for (const { rule, length, exact } of trie.keywords[(state >> 1) / count] ?? []) {
          const start = at + 1 - length;
          if (exact === undefined || text.startsWith(exact, start)) onHit(rule, start);
        }
      }
    },
  };
}

export type { Prefilter };
export { createPrefilter };
