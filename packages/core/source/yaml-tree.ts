// A YAML document → a tree. What YAML has beyond JSON is refused here, or bounded.
import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Pair,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { nearest } from '../text/nearest.ts';
import { quote } from '../text/visible.ts';
import { type BundleCode, type Fault, PROBLEMS_MAX } from './problem.ts';
import type { MapTree, ScalarTree, Style, Tree, TreeEntry } from './tree.ts';
import { CHARS_MAX, DEPTH_MAX, excessFault, NODES_MAX, unquotedStar } from './yaml-document.ts';

/** What an anchor stands for, with what repeating it costs. */
interface Anchored {
  readonly tree: Tree;
  readonly nodes: number;
  readonly chars: number;
  readonly depth: number;
}

interface TreeBuilding {
  readonly text: string;
  readonly faults: Fault[];
  /** `open` while the anchored value itself is being read. */
  readonly anchors: Map<string, Anchored | 'open'>;
  nodes: number;
  /** In all strings and keys, each use of an alias counted. */
  chars: number;
  /** The deepest list or object since it was last reset. */
  depth: number;
}

const ANCHORS_TRIED_MAX = 100;
const CORE_TAGS = new Set(
  ['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`),
);
const STYLES: { readonly [type: string]: Style } = {
  QUOTE_SINGLE: 'single',
  QUOTE_DOUBLE: 'double',
  BLOCK_LITERAL: 'literal',
  BLOCK_FOLDED: 'folded',
};

/** Builds the tree; it is whole only if there are no faults. */
export function buildTree(root: unknown, text: string): { tree: Tree; faults: readonly Fault[] } {
  const building: TreeBuilding = {
    text,
    faults: [],
    anchors: new Map(),
    nodes: 0,
    chars: 0,
    depth: 0,
  };
  const tree = build(root, { building, level: 1, parentOffset: 0 });
  return { tree, faults: building.faults };
}

interface NodePlace {
  readonly building: TreeBuilding;
  readonly level: number;
  readonly parentOffset: number;
}

function build(node: unknown, place: NodePlace): Tree {
  const { building, level, parentOffset } = place;
  const offset = offsetOf(node) ?? parentOffset;
  building.nodes++;
  if (building.nodes > NODES_MAX) return fault(building, excessFault('nodes', offset));
  if (isAlias(node)) return resolveAlias(node, place);
  if (!isScalar(node) && !isMap(node) && !isSeq(node)) return nothing(offset);
  if (node.tag !== undefined && !CORE_TAGS.has(node.tag)) {
    const message = `the tag ${quote(node.tag)} is not supported`;
    return fault(building, { code: 'SUB_BUNDLE_SYNTAX', offset, message, fix: 'Remove the tag.' });
  }
  const { anchor } = node;
  if (anchor === undefined) return buildValue(node, place, offset);
  building.anchors.set(anchor, 'open');
  const before = { nodes: building.nodes, chars: building.chars, depth: building.depth };
  // A scalar is no level of its own.
  building.depth = level - 1;
  const tree = buildValue(node, place, offset);
  const nodes = building.nodes - before.nodes;
  const chars = building.chars - before.chars;
  building.anchors.set(anchor, { tree, nodes, chars, depth: building.depth - level });
  building.depth = Math.max(before.depth, building.depth);
  return tree;
}

function buildValue(node: Scalar | YAMLMap | YAMLSeq, place: NodePlace, offset: number): Tree {
  const { building, level } = place;
  if (isScalar(node)) return buildScalar(node, building, offset);
  building.depth = Math.max(building.depth, level);
  if (level > DEPTH_MAX) return fault(building, excessFault('depth', offset));
  if (isMap(node)) return buildMap(node, place, offset);
  const items: Tree[] = [];
  for (const item of node.items) {
    items.push(build(item, { building, level: level + 1, parentOffset: offset }));
    if (isFull(building)) break;
  }
  return { kind: 'list', offset, items };
}

function buildMap(node: YAMLMap, place: NodePlace, offset: number): MapTree {
  const { building } = place;
  const entries = new Map<string, TreeEntry>();
  for (const pair of node.items) {
    const key = keyOf(pair, building, offset);
    const keyOffset = offsetOf(pair.key) ?? offset;
    const value = build(pair.value, { building, level: place.level + 1, parentOffset: keyOffset });
    if (isFull(building)) break;
    if (key === undefined) continue;
    if (!entries.has(key)) entries.set(key, { keyOffset, value });
    else {
      const message = `the key ${quote(key)} is given twice`;
      const fix = 'Remove one of the two.';
      fault(building, { code: 'SUB_BUNDLE_DUPLICATE_KEY', offset: keyOffset, message, fix });
    }
  }
  return { kind: 'map', offset, entries, flow: node.flow === true };
}

const PLAIN_KEY = 'Write a plain name before the `:`.';

/** Keys are strings that stand there in full, so that what a reader sees is what holds. */
function keyOf(pair: Pair, building: TreeBuilding, parentOffset: number): string | undefined {
  const { key } = pair;
  const offset = offsetOf(key) ?? parentOffset;
  const wrong = (message: string, fix: string, code: BundleCode = 'SUB_BUNDLE_SYNTAX') => {
    fault(building, { code, offset, message, fix });
    return undefined;
  };
  if (isAlias(key)) return wrong('a key cannot be an alias', 'Write the key out.');
  if (!isScalar(key)) return wrong('a key must be a string', PLAIN_KEY, 'SUB_BUNDLE_TYPE');
  if (key.tag !== undefined && !CORE_TAGS.has(key.tag)) {
    return wrong(`the tag ${quote(key.tag)} is not supported`, 'Remove the tag.');
  }
  if (key.anchor !== undefined) return wrong('a key cannot be an anchor', 'Remove the anchor.');
  const read = buildScalar(key, building, offset);
  const { value } = read;
  if (typeof value !== 'string') {
    const shown = read.raw === '' ? 'an empty key' : `the key ${quote(read.raw)}`;
    return wrong(`${shown} is no string`, 'Put quotes around it.', 'SUB_BUNDLE_TYPE');
  }
  if (value === '<<' && read.style === 'plain') {
    return wrong('merge keys (`<<`) are not supported', 'Write the fields out.');
  }
  return value;
}

function buildScalar(node: Scalar, building: TreeBuilding, offset: number): ScalarTree {
  const { text } = building;
  const [start, end] = node.range ?? [offset, offset];
  const raw = text.slice(start, end);
  const style = STYLES[node.type ?? ''] ?? 'plain';
  const tree = (value: ScalarTree['value']): ScalarTree => {
    return { kind: 'scalar', offset, value, raw, style };
  };
  const { value } = node;
  if (typeof value === 'bigint' || typeof value === 'number') {
    const number = Number(value);
    const exact = Number.isInteger(number) ? Number.isSafeInteger(number) : Number.isFinite(number);
    if (!exact) fault(building, numberFault(raw, number, offset));
    // Negative zero becomes zero.
    return tree(exact ? number + 0 : 0);
  }
  if (typeof value === 'string') {
    building.chars += value.length;
    if (/\p{Cs}/u.test(value)) {
      const message = 'half of a surrogate pair is no character';
      const fix = 'Write the whole character.';
      fault(building, { code: 'SUB_BUNDLE_ENCODING', offset, message, fix });
    }
    return tree(value);
  }
  return tree(typeof value === 'boolean' ? value : null);
}

function resolveAlias(node: Alias, { building, level, parentOffset }: NodePlace): Tree {
  const offset = offsetOf(node) ?? parentOffset;
  const anchored = building.anchors.get(node.source);
  if (anchored === undefined || anchored === 'open') {
    const words = danglingAlias(node.source, building);
    return fault(building, { code: 'SUB_BUNDLE_SYNTAX', offset, ...words });
  }
  building.nodes += anchored.nodes;
  building.chars += anchored.chars;
  building.depth = Math.max(building.depth, level + anchored.depth);
  if (building.nodes > NODES_MAX) return fault(building, excessFault('aliases', offset));
  if (building.chars > CHARS_MAX) return fault(building, excessFault('chars', offset));
  if (level + anchored.depth > DEPTH_MAX) return fault(building, excessFault('depth', offset));
  return anchored.tree;
}

/** An alias that stands for nothing is a mistake in a name, or a glob that lacks its quotes. */
function danglingAlias(
  name: string,
  { anchors, text, faults }: TreeBuilding,
): Pick<Fault, 'message' | 'fix'> {
  const alias = quote(`*${name}`);
  if (anchors.get(name) === 'open') {
    const message = `the alias ${alias} stands inside its own anchor`;
    return { message, fix: 'Write the value out.' };
  }
  const message = `the alias ${alias} has no anchor above it`;
  // Both searches are too dear to make for more than is reported.
  if (faults.length >= PROBLEMS_MAX) return { message, fix: '' };
  const meant = nearest(name, [...anchors.keys()].slice(0, ANCHORS_TRIED_MAX));
  if (meant !== undefined) return { message, fix: `Write ${quote(`*${meant}`)}.` };
  if (!text.includes(`&${name}`)) return unquotedStar(`*${name}`);
  const fix = `Write ${quote(`&${name}`)} before the value that is meant, above this line.`;
  return { message, fix };
}

/** The limit is reported, and the rest is not read. */
function isFull({ nodes, chars }: TreeBuilding): boolean {
  return nodes > NODES_MAX || chars > CHARS_MAX;
}

function fault(building: TreeBuilding, found: Fault): ScalarTree {
  if (building.faults.length < PROBLEMS_MAX) building.faults.push(found);
  return nothing(found.offset);
}

function nothing(offset: number): ScalarTree {
  return { kind: 'scalar', offset, value: null, raw: '', style: 'plain' };
}

function numberFault(raw: string, number: number, offset: number): Fault {
  const reason = Number.isFinite(number) ? 'is too large to be exact' : 'is no finite number';
  const message = `${quote(raw)} ${reason}`;
  return { code: 'SUB_BUNDLE_VALUE', offset, message, fix: 'Write it as a string, in quotes.' };
}

function offsetOf(node: unknown): number | undefined {
  if (!isScalar(node) && !isAlias(node) && !isMap(node) && !isSeq(node)) return undefined;
  return node.range?.[0];
}
