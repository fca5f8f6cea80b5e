// Tools of several servers that can be taken for each other: an agent that means one may call the
// other. Reported, not decided: two honest servers may well share a name.
import { skeletonOf, variantOf } from './names/spelling.ts';

export interface Offered {
  readonly server: string;
  readonly tools: readonly string[];
}

export interface Named {
  readonly server: string;
  readonly tool: string;
}

export interface Collision {
  /**
   * The very same name on several servers, another spelling of case and separators, other characters
   * that look the same, or a name on another server that is a slip or two away.
   */
  readonly kind: 'same_name' | 'variant' | 'look_alike' | 'near';
  readonly names: readonly Named[];
}

export interface Collisions {
  readonly found: readonly Collision[];
  /** False when there were too many names to compare each with each. */
  readonly isComplete: boolean;
}

const NAMES_MAX = 5_000;
const COMPARED_MAX = 100_000;
const FOUND_MAX = 500;
const GROUP_MAX = 50;

/** Every group of names that collide; with the strongest kind that holds. */
export function findCollisions(servers: readonly Offered[]): Collisions {
  const all = servers.flatMap(({ server, tools }) =>
    [...new Set(tools)].map((tool) => ({ server, tool })),
  );
  const names = all.slice(0, NAMES_MAX);
  const groups = new Map<string, Named[]>();
  for (const name of names) {
    const skeleton = skeletonOf(name.tool);
    groups.set(skeleton, [...(groups.get(skeleton) ?? []), name]);
  }
  const found = [...groups.values()].flatMap(groupCollision);
  const near = nearPairs([...groups]);
  return {
    found: [...found, ...near.found].slice(0, FOUND_MAX),
    isComplete: near.isComplete && all.length <= NAMES_MAX,
  };
}

function groupCollision(group: readonly Named[]): readonly Collision[] {
  const [first] = group;
  if (first === undefined || group.length < 2) return [];
  const spellings = new Set(group.map(({ tool }) => tool));
  const variants = new Set(group.map(({ tool }) => variantOf(tool)));
  const kind = spellings.size === 1 ? 'same_name' : variants.size === 1 ? 'variant' : 'look_alike';
  // A character that cannot be seen is a disguise, not a spelling.
  const isHidden = [...spellings].some((tool) => /[^ -~]/.test(tool));
  const shownKind = kind === 'variant' && isHidden ? 'look_alike' : kind;
  return [{ kind: shownKind, names: group.slice(0, GROUP_MAX) }];
}

type Group = readonly [skeleton: string, names: readonly Named[]];

function nearPairs(groups: readonly Group[]): Collisions {
  const found: Collision[] = [];
  const byLength = groups
    .filter(([skeleton]) => slipsAllowed(skeleton.length) > 0)
    .toSorted(([a], [b]) => a.length - b.length);
  let compared = 0;
  for (const [index, [left, names]] of byLength.entries()) {
    const slipsMax = slipsAllowed(left.length);
    for (let other = index + 1; other < byLength.length; other++) {
      const [right, others] = byLength[other] ?? ['', []];
      if (right.length - left.length > slipsMax) break;
      compared++;
      if (compared > COMPARED_MAX || found.length >= FOUND_MAX) return { found, isComplete: false };
      if (!isNear(left, right, slipsMax)) continue;
      const pair = acrossServers(names, others);
      if (pair.length > 0) found.push({ kind: 'near', names: pair });
    }
  }
  return { found, isComplete: true };
}

/** In a short name every letter tells, in a long one two may slip. */
function slipsAllowed(length: number): number {
  if (length < 6) return 0;
  return length < 12 ? 1 : 2;
}

/** The names of both groups, unless a single server has them all: it names its own tools as it likes. */
function acrossServers(left: readonly Named[], right: readonly Named[]): readonly Named[] {
  const names = [...left, ...right].toSorted(
    (a, b) => order(a.server, b.server) || order(a.tool, b.tool),
  );
  const servers = new Set(names.map(({ server }) => server));
  return servers.size < 2 ? [] : names.slice(0, GROUP_MAX);
}

function order(left: string, right: string): number {
  return left < right ? -1 : Number(left > right);
}

/** Whether at most so many letters were added, left out or replaced. */
function isNear(left: string, right: string, slipsMax: number): boolean {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    let least = row;
    for (let column = 1; column <= right.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1);
      const moved = Math.min(previous[column] ?? 0, current[column - 1] ?? 0) + 1;
      const distance = Math.min(replaced, moved);
      current.push(distance);
      least = Math.min(least, distance);
    }
    if (least > slipsMax) return false;
    previous = current;
  }
  return (previous[right.length] ?? 0) <= slipsMax;
}
