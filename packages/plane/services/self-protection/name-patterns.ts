// Names with parts that only a shell fills in, `pol*.yaml` or `$DIR/policy.yaml`, compared with the names
// of what is protected.
import { UNKNOWN } from '@subluminal/core/shell';
import { isAnything, isPattern, nameMatcher } from '../../os/index.ts';

export function pathParts(path: string): readonly string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}

/** The folder before the first part that is a pattern, and the parts from there on. */
export function splitPattern(name: string): {
  readonly folder: string;
  readonly rest: readonly string[];
} {
  const parts = name.split('/');
  const first = parts.findIndex(isPattern);
  const folder = parts.slice(0, first).join('/');
  const isRoot = folder === '' && name.startsWith('/');
  return { folder: isRoot ? '/' : folder, rest: pathParts(parts.slice(first).join('/')) };
}

/** Whether a part that stands for anything can be filled in to become a name. */
export type CanFill = (part: string, name: string) => boolean;

/** Whether a pattern names a path, or something in it; both by their parts from the same folder. */
export function matchesParts(
  pattern: readonly string[],
  path: readonly string[],
  canFill: CanFill,
): boolean {
  const [first, ...rest] = pattern;
  const [name, ...below] = path;
  // All of the path is named; what is left of the pattern is in it.
  if (name === undefined) return true;
  if (first === undefined) return false;
  if (first === '**') {
    const isBelow = below.length > 0 && matchesParts(pattern, below, canFill);
    return isBelow || matchesParts(rest, path, canFill);
  }
  if (below.length === 0 && isAnything(first)) return canFill(first, name);
  return nameMatcher(first)(name) && matchesParts(rest, below, canFill);
}

/** Whether a pattern in an unknown folder may name a path: by the names at its end. */
export function matchesEnd(
  pattern: readonly string[],
  path: readonly string[],
  /** `isOpen`: the folder that the pattern starts in is not known, either. */
  { canFill, isOpen }: { readonly canFill: CanFill; readonly isOpen: boolean },
): boolean {
  const isEndFilled = canFill(pattern.at(-1) ?? '', path.at(-1) ?? '');
  const folders = isEndFilled ? pattern.slice(0, -1) : pattern;
  const unknown = folders.findLastIndex((part) => {
    return isAnything(part) && (isOpen || part.includes(UNKNOWN));
  });
  const known = pattern.slice(unknown + 1);
  if (known.length === 0 || known.length === pattern.length) return false;
  return path.some((_, from) => {
    return path.length - from <= known.length && matchesParts(known, path.slice(from), canFill);
  });
}

/** A part with more holes than this may become any name. */
const HOLES_MAX = 16;

/** Whether the words of the same call can fill the holes of a part: `a=(policy); rm $a.yaml`. */
export function fillerOf(names: readonly string[]): CanFill {
  let words: ReadonlySet<string> | undefined;
  return (part, name) => {
    if (!part.includes(UNKNOWN)) return false;
    // The names themselves, and the parts of them that a shell may take out.
    words ??= new Set(
      names.flatMap((one) => {
        const lower = one.toLowerCase();
        return [lower, ...lower.split(/[^\w.-]+/), ...lower.split(/[^a-z0-9]+/)];
      }),
    );
    return canBecome(part.toLowerCase(), name.toLowerCase(), words);
  };
}

/** Goes along the part with every place in the name that its beginning may end at. */
function canBecome(part: string, name: string, words: ReadonlySet<string>): boolean {
  if (part.split(UNKNOWN).length > HOLES_MAX) return true;
  let ends: ReadonlySet<number> = new Set([0]);
  for (const sign of part) {
    const next = new Set<number>();
    for (const end of ends) {
      if (sign !== UNKNOWN && sign !== '*') {
        if (name[end] === sign) next.add(end + 1);
        continue;
      }
      for (let to = end; to <= name.length; to++) {
        // A hole may be empty, or one of the words.
        if (sign === '*' || to === end || words.has(name.slice(end, to))) next.add(to);
      }
    }
    ends = next;
  }
  return ends.has(name.length);
}
