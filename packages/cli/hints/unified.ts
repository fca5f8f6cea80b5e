// A change of one place in a text, as a unified diff.

const CONTEXT_LINES = 3;

export function unifiedDiff(name: string, before: string, after: string): readonly string[] {
  const [old, next] = [before.split('\n'), after.split('\n')];
  const same = sameStart(old, next);
  const room = Math.min(old.length, next.length) - same;
  const tail = Math.min(room, sameStart(old.toReversed(), next.toReversed()));
  const from = Math.max(0, same - CONTEXT_LINES);
  const oldEnd = old.length - tail;
  const nextEnd = next.length - tail;
  const closing = old.slice(oldEnd, oldEnd + CONTEXT_LINES);
  // The last line end is no line.
  if (oldEnd + closing.length === old.length && closing.at(-1) === '') closing.pop();
  const context = same - from + closing.length;
  const [oldCount, nextCount] = [oldEnd - same + context, nextEnd - same + context];
  return [
    `--- ${name}`,
    `+++ ${name}`,
    `@@ -${from + 1},${oldCount} +${from + 1},${nextCount} @@`,
    ...old.slice(from, same).map((line) => ` ${line}`),
    ...old.slice(same, oldEnd).map((line) => `-${line}`),
    ...next.slice(same, nextEnd).map((line) => `+${line}`),
    ...closing.map((line) => ` ${line}`),
  ];
}

function sameStart(one: readonly string[], other: readonly string[]): number {
  const differing = one.findIndex((line, at) => line !== other[at]);
  return differing < 0 ? Math.min(one.length, other.length) : differing;
}
