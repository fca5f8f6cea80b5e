// TOML with positions: smol-toml says what the values are, our scanner where they stand, and what
// the two don't agree on is refused.

import { parse, TomlError } from 'smol-toml';
import { sameData } from './same.ts';
import { scanToml } from './toml-scan.ts';
import { LIMITS, type TextNode, Unreadable } from './tree.ts';

const OPTIONS = { integersAsBigInt: 'asNeeded', maxDepth: LIMITS.depthMax } as const;

/** Throws `Unreadable`. */
export function readToml(text: string): { root: TextNode; value: unknown } {
  // First, because it bounds the depth.
  const scanned = scanToml(text);
  if (scanned.kind === 'broken' && scanned.isLimit) throw scanned.cause;
  const value = parseToml(text);
  if (scanned.kind === 'broken') throw scanned.cause;
  if (!hasShape(scanned.root, value)) {
    throw new Unreadable('This TOML is written in a way that can not be edited safely.', 0);
  }
  return { root: scanned.root, value };
}

function parseToml(text: string): unknown {
  const shift = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  try {
    return parse(text.slice(shift), OPTIONS);
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    throw new Unreadable(complaintOf(cause), shift + offsetOf(text.slice(shift), cause));
  }
}

/** Without the lines of the file that the parser shows. */
function complaintOf(cause: TomlError): string {
  const first = cause.message.split('\n', 1)[0] ?? '';
  const words = first.replace(/^Invalid TOML document: /, '').replace(/\.$/, '');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

function offsetOf(text: string, cause: TomlError): number {
  let start = 0;
  for (let line = 1; line < cause.line; line += 1) {
    const end = text.indexOf('\n', start);
    if (end === -1) break;
    start = end + 1;
  }
  return start + cause.column - 1;
}

/** Whether the tree has the keys and lengths of the value; both are of bounded depth. */
function hasShape(node: TextNode, value: unknown): boolean {
  const isNested = typeof value === 'object' && value !== null && !(value instanceof Date);
  if (node.kind === 'scalar') return !isNested;
  if (!isNested) return false;
  if (node.kind === 'list') {
    if (!Array.isArray(value) || value.length !== node.items.length) return false;
    return node.items.every((item, index) => hasShape(item, value[index]));
  }
  if (Array.isArray(value)) return false;
  const entries = Object.entries(value);
  if (entries.length !== node.members.size) return false;
  return entries.every(([key, inner]) => {
    const member = node.members.get(key);
    return member !== undefined && hasShape(member.node, inner);
  });
}

/** Whether a piece of text, read alone, is this value. */
export function standsAlone(piece: string, value: unknown): boolean {
  try {
    const read = parse(`x = ${piece}`, OPTIONS);
    return Object.keys(read).length === 1 && sameData(read['x'], value);
  } catch (cause) {
    if (cause instanceof TomlError) return false;
    throw cause;
  }
}
