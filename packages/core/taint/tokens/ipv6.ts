// Addresses of version 6 in one form; those that stand for one of version 4 become that one.

const GROUPS = 8;

/** `[::ffff:c000:203]` → `192.0.2.3`; others in brackets get a name, the rest stays as it is. */
export function plainIpv6(text: string): string {
  const isBracketed = text.startsWith('[');
  const [bare = ''] = (isBracketed ? text.slice(1, -1) : text).split('%', 1);
  const groups = groupsOf(bare);
  if (groups === undefined) return text;
  const v4 = ipv4In(groups);
  if (v4 !== undefined) return v4;
  // The name that systems without colons in names use for it.
  const name = groups.map((group) => group.toString(16)).join('-');
  return isBracketed ? `${name}.ipv6-literal.net` : text;
}

function groupsOf(text: string): readonly number[] | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map(partsOf);
  if (head === undefined) return undefined;
  if (halves.length === 1) return head.length === GROUPS ? head : undefined;
  if (tail === undefined || head.length + tail.length >= GROUPS) return undefined;
  const zeros = Array.from({ length: GROUPS - head.length - tail.length }, () => 0);
  return [...head, ...zeros, ...tail];
}

function partsOf(text: string): readonly number[] | undefined {
  if (text === '') return [];
  const groups: number[] = [];
  for (const part of text.split(':')) {
    const bytes = /^\d{1,3}(?:\.\d{1,3}){3}$/.test(part) ? part.split('.').map(Number) : undefined;
    const [a = 0, b = 0, c = 0, d = 0] = bytes ?? [];
    if (bytes !== undefined) groups.push(a * 256 + b, c * 256 + d);
    else if (/^[0-9a-f]{1,4}$/i.test(part)) groups.push(Number.parseInt(part, 16));
    else return undefined;
  }
  return groups;
}

/** Mapped, compatible, translated, and what goes through 6to4. */
function ipv4In(groups: readonly number[]): string | undefined {
  const starts = (...first: readonly number[]) => first.every((one, at) => groups[at] === one);
  const isLast = starts(0, 0, 0, 0, 0, 0xffff) || starts(0, 0, 0, 0, 0xffff, 0);
  const isOther = starts(0x64, 0xff9b, 0, 0, 0, 0) || starts(0, 0, 0, 0, 0, 0);
  if (starts(0x2002)) return dotted(groups[1], groups[2]);
  // `::1` is a place of its own.
  if (!isLast && (!isOther || groups[6] === 0)) return undefined;
  return dotted(groups[6], groups[7]);
}

function dotted(high = 0, low = 0): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
