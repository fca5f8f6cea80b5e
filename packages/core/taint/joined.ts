// Values that make sense only together: neighbours in a list or an object, put side by side.
import type { Leaf } from './leaves.ts';
import type { SinkKind } from './types.ts';

export interface Joined {
  readonly text: string;
  readonly sink: SinkKind;
  readonly parts: readonly Leaf[];
}

const GROUP_MAX = 16;
const GROUPS_MAX = 64;
/** A longer part is a text, not a piece of an address. */
const PART_LENGTH_MAX = 128;
const LENGTH_MAX = 512;

interface Way {
  readonly sign: string;
  readonly sink: SinkKind;
  /** A part with blanks in it is a sentence, not a piece. */
  readonly ofWords?: true;
}

const WAYS: readonly Way[] = [
  { sign: '', sink: 'recipient' },
  { sign: '', sink: 'url', ofWords: true },
  { sign: '@', sink: 'recipient', ofWords: true },
  { sign: '.', sink: 'url', ofWords: true },
  { sign: '/', sink: 'url', ofWords: true },
  { sign: '/', sink: 'path' },
  { sign: ' ', sink: 'command' },
];

/** Every group of neighbours, whole and in pairs, in the ways in which they may be put together. */
export function joinedOf(leaves: readonly Leaf[]): readonly Joined[] {
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
  return sets.flatMap((set) => WAYS.flatMap((way) => joinedBy(way, set)));
}

function joinedBy({ sign, sink, ofWords }: Way, set: readonly Leaf[]): readonly Joined[] {
  const parts = ofWords ? set.filter(({ text }) => !/\s/.test(text.trim())) : set;
  if (parts.length < 2) return [];
  const text = parts.map((part) => part.text.trim()).join(sign);
  return [{ text: text.slice(0, LENGTH_MAX), sink, parts }];
}
