// What differs between two configurations, value by value: a diff of lines can be so long, or so reordered, that nobody
// finds the one that matters.
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '@subluminal/contracts';

/** One line for each value that is set otherwise, comes or goes. */
export function changedValues(before: unknown, after: unknown, path = ''): readonly string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (Array.isArray(before) || Array.isArray(after)) {
    return changedItems(listOf(before), listOf(after), path);
  }
  if (isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap((name) =>
      changedValues(before[name], after[name], path === '' ? name : `${path}.${name}`),
    );
  }
  if (after === undefined) return [`${path} goes: ${JSON.stringify(before)}`];
  if (before === undefined) return [`${path} comes: ${JSON.stringify(after)}`];
  return [`${path}: ${JSON.stringify(after)}; until now ${JSON.stringify(before)}`];
}

function changedItems(
  before: readonly unknown[],
  after: readonly unknown[],
  path: string,
): readonly string[] {
  const without = (items: readonly unknown[], others: readonly unknown[]) =>
    items.filter((item) => !others.some((other) => isDeepStrictEqual(item, other)));
  const lines = [
    ...without(after, before).map((item) => `${path} comes: ${JSON.stringify(item)}`),
    ...without(before, after).map((item) => `${path} goes: ${JSON.stringify(item)}`),
  ];
  return lines.length > 0 ? lines : [`${path} has another order`];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}
