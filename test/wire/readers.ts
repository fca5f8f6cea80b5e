// Readers of different habits: what each of them takes from the same bytes.
import { type ParseOptions, parseTree, parseTreeAt, type Tree } from './json-tree.ts';

/** How a reader finds the member of an object that it knows by name. */
type Pick = (members: readonly (readonly [string, Tree])[], name: string) => Tree | undefined;

interface Message {
  readonly tree: Tree;
  /** What it was read from. */
  readonly text: string;
}

export interface Reader {
  readonly name: string;
  /** The messages that it finds in all that has arrived. */
  readonly messages: (bytes: Buffer) => readonly Message[];
  readonly pick: Pick;
  /** Values as its programs get to see them. */
  readonly plain: (tree: Tree) => unknown;
}

export interface ReadCall {
  readonly name: string;
  readonly args: unknown;
  readonly text: string;
}

export interface ReadDefinition {
  readonly name: unknown;
  readonly description: unknown;
}

/** What Python's `str.splitlines` splits at, and NUL, where readers in C end a text. */
const PYTHON_LINES = /[\n\r\v\f\u001c\u001d\u001e\u0085\u2028\u2029\0]/;

const last: Pick = (members, name) => members.findLast(([key]) => key === name)?.[1];
const first: Pick = (members, name) => members.find(([key]) => key === name)?.[1];
/** As Go's encoding/json fills a struct: each key in turn, exact or folded, and the last one stays. */
const folding: Pick = (members, name) => members.findLast(([key]) => foldsTo(key, name))?.[1];

const PATTERNS = new Map<string, RegExp>();

function foldsTo(key: string, name: string): boolean {
  // JavaScript's `iu` folds as Unicode's simple case folding does, and so as Go's does.
  const pattern = PATTERNS.get(name) ?? new RegExp(`^${name}$`, 'iu');
  PATTERNS.set(name, pattern);
  return pattern.test(key);
}

function lines(bytes: Buffer): readonly Message[] {
  return bytes
    .toString('utf8')
    .split('\n')
    .flatMap((text) => messageIn(text));
}

function splitlines(bytes: Buffer): readonly Message[] {
  return bytes
    .toString('utf8')
    .split(PYTHON_LINES)
    .flatMap((text) => messageIn(text));
}

function messageIn(text: string): readonly Message[] {
  const tree = parseTree(text);
  return tree === undefined ? [] : [{ tree, text }];
}

/** Decodes value by value, as `json.NewDecoder` does: newlines are white space, and a fault is the end. */
function valueByValue(options: ParseOptions): Reader['messages'] {
  return (bytes) => {
    const text = bytes.toString('utf8');
    const found: Message[] = [];
    let at = 0;
    for (;;) {
      const parsed = parseTreeAt(text, at, options);
      if (parsed === undefined) return found;
      found.push({ tree: parsed.tree, text: text.slice(at, parsed.end) });
      at = parsed.end;
    }
  };
}

const lastKept = (tree: Tree): unknown => plainOf(tree, (key) => key, 'last');
const firstKept = (tree: Tree): unknown => plainOf(tree, (key) => key, 'first');
const foldedKept = (tree: Tree): unknown => plainOf(tree, (key) => key.toLowerCase(), 'last');

/** A plain value; of members whose keys count as one, it keeps the first or the last, as it was spelled. */
function plainOf(tree: Tree, same: (key: string) => string, keep: 'first' | 'last'): unknown {
  if (tree.kind === 'scalar') return tree.value;
  if (tree.kind === 'array') return tree.items.map((item) => plainOf(item, same, keep));
  const kept = new Map<string, readonly [string, unknown]>();
  for (const [key, value] of tree.members) {
    const folded = same(key);
    if (keep === 'first' && kept.has(folded)) continue;
    kept.set(folded, [key, plainOf(value, same, keep)]);
  }
  return Object.fromEntries(kept.values());
}

function hasRepeatedKey(tree: Tree): boolean {
  if (tree.kind === 'scalar') return false;
  if (tree.kind === 'array') return tree.items.some(hasRepeatedKey);
  const keys = new Set(tree.members.map(([key]) => key));
  return keys.size < tree.members.length || tree.members.some(([, value]) => hasRepeatedKey(value));
}

const strictLines: Reader['messages'] = (bytes) =>
  lines(bytes).filter(({ tree }) => !hasRepeatedKey(tree));

const byLast = { pick: last, plain: lastKept };
const byFirst = { pick: first, plain: firstKept };
const byFold = { pick: folding, plain: foldedKept };
const stream = valueByValue({});
const looseStream = valueByValue({ rawControls: true });

export const READERS: readonly Reader[] = [
  { name: 'strict JSON', messages: strictLines, ...byLast },
  { name: 'last key wins', messages: lines, ...byLast },
  { name: 'first key wins', messages: lines, ...byFirst },
  { name: 'case-folding', messages: lines, ...byFold },
  { name: 'value by value', messages: stream, ...byLast },
  { name: 'value by value, first key wins', messages: stream, ...byFirst },
  { name: 'value by value, case-folding', messages: stream, ...byFold },
  { name: 'value by value, raw controls', messages: looseStream, ...byLast },
  { name: 'splitlines', messages: splitlines, ...byLast },
  { name: 'splitlines, case-folding', messages: splitlines, ...byFold },
];

function member(tree: Tree | undefined, pick: Pick, name: string): Tree | undefined {
  return tree?.kind === 'object' ? pick(tree.members, name) : undefined;
}

/** The tool calls that a reader would execute. */
export function callsReadBy({ messages, pick, plain }: Reader, bytes: Buffer): readonly ReadCall[] {
  return messages(bytes).flatMap(({ tree, text }) =>
    (tree.kind === 'array' ? tree.items : [tree]).flatMap((message) => {
      const method = member(message, pick, 'method');
      if (method?.kind !== 'scalar' || method.value !== 'tools/call') return [];
      const params = member(message, pick, 'params');
      const name = member(params, pick, 'name');
      if (name?.kind !== 'scalar' || typeof name.value !== 'string') return [];
      const args = member(params, pick, 'arguments');
      return [{ name: name.value, args: args === undefined ? {} : (plain(args) ?? {}), text }];
    }),
  );
}

/** The tool definitions that a reader would show to its model. */
export function definitionsReadBy(
  { messages, pick }: Reader,
  bytes: Buffer,
): readonly ReadDefinition[] {
  return messages(bytes).flatMap(({ tree }) =>
    (tree.kind === 'array' ? tree.items : [tree]).flatMap((message) => {
      const tools = member(member(message, pick, 'result'), pick, 'tools');
      if (tools?.kind !== 'array') return [];
      return tools.items.map((item) => {
        const [name, description] = ['name', 'description'].map((key) => {
          const value = member(item, pick, key);
          return value?.kind === 'scalar' ? value.value : undefined;
        });
        return { name, description };
      });
    }),
  );
}
