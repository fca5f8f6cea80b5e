// Values that make sense only together: neighbours in a list or an object, put side by side.
import type { Leaf, LeafPath } from './leaves.ts';
import type { SinkKind } from './types.ts';

interface Joined {
  readonly text: string;
  readonly sink: SinkKind;
  /** The list or object. */
  readonly path: LeafPath;
  readonly parts: readonly LeafPath[];
}

const GROUP_MAX = 16;
const GROUPS_MAX = 64;
/** A longer part is a text, not a piece of an address. */
const PART_LENGTH_MAX = 128;
const LENGTH_MAX = 512;

const WAYS: readonly { readonly sign: string; readonly sink: SinkKind }[] = [
  { sign: '', sink: 'recipient' },
  { sign: '', sink: 'url' },
  { sign: '@', sink: 'recipient' },
  { sign: '.', sink: 'url' },
  { sign: '/', sink: 'url' },
  { sign: '/', sink: 'path' },
  { sign: ' ', sink: 'command' },
];

/** Every group of neighbours, whole and in pairs, in the ways in which they may be put together. */
function joinedOf(leaves: readonly Leaf[]): readonly Joined[] {
  const groups = new Map<string, Leaf[]>();
  for (const leaf of leaves) {
    if (leaf.isKey || leaf.path.length === 0 || leaf.text.length > PART_LENGTH_MAX) continue;
    const parent = JSON.stringify(leaf.path.slice(0, -1));
    const group = groups.get(parent);
    if (group !== undefined) group.push(leaf);
    else if (groups.size < GROUPS_MAX) groups.set(parent, [leaf]);
  }
  return [...groups.values()].flatMap((group) => joinedIn(group.slice(0, GROUP_MAX)));
}

function joinedIn(group: readonly Leaf[]): readonly Joined[] {
  if (group.length < 2) return [];
  const path = group[0]?.path.slice(0, -1) ?? [];
  const pairs = group.flatMap((one, index) => {
    const next = group[index + 1];
    return next === undefined || group.length === 2
      ? []
      : [
          [one, next],
          [next, one],
        ];
  });
  const sets = [group, ...(group.length === 2 ? [group.toReversed()] : pairs)];
  return sets.flatMap((set) => {
    const parts = set.map((leaf) => leaf.path);
    return WAYS.map(({ sign, sink }) => {
      const text = set
        .map((leaf) => leaf.text.trim())
        .join(sign)
        .slice(0, LENGTH_MAX);
      return { text, sink, path, parts };
    });
  });
}

export { joinedOf };
