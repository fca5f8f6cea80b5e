// What changed in a definition, field by field, safe to print.
import { isObject } from '@subluminal/contracts';
import { visible } from '../../text/visible.ts';

export interface FieldChange {
  readonly kind: 'added' | 'removed' | 'changed';
  /** Like `inputSchema.properties.to.description`; empty for the whole. */
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

const CHANGES_MAX = 200;
const DEPTH_MAX = 128;
const SHOWN_MAX = 400;
const PATH_MAX = 200;
/** What is shown before the first difference of two long texts. */
const CONTEXT = 24;

/** The changes from one definition to another, in the order of the fields. */
export function diffDefinitions(before: unknown, after: unknown): readonly FieldChange[] {
  const found: FieldChange[] = [];
  compare({ found, path: '', depth: 0 }, before, after);
  return found;
}

interface At {
  readonly found: FieldChange[];
  readonly path: string;
  readonly depth: number;
}

function compare(at: At, before: unknown, after: unknown): void {
  const { found, path, depth } = at;
  if (found.length >= CHANGES_MAX || before === after) return;
  const isDeep = depth < DEPTH_MAX;
  if (isDeep && isObject(before) && isObject(after)) return compareMembers(at, before, after);
  if (isDeep && Array.isArray(before) && Array.isArray(after)) {
    return compareMembers(at, byIndex(before), byIndex(after));
  }
  const start = commonStart(before, after);
  const texts = { before: excerpt(before, start), after: excerpt(after, start) };
  found.push({ kind: 'changed', path, ...texts });
}

type Members = { readonly [name: string]: unknown };

function byIndex(items: readonly unknown[]): Members {
  return Object.fromEntries(items.map((item, index) => [`[${index}]`, item]));
}

function compareMembers({ found, path, depth }: At, before: Members, after: Members): void {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  for (const name of names) {
    if (found.length >= CHANGES_MAX) return;
    const step = name.startsWith('[') || path === '' ? name : `.${name}`;
    const inner = visible(`${path}${step}`, PATH_MAX);
    const wasThere = Object.hasOwn(before, name);
    if (wasThere && Object.hasOwn(after, name)) {
      compare({ found, path: inner, depth: depth + 1 }, before[name], after[name]);
    } else if (wasThere) {
      const was = excerpt(before[name], 0);
      found.push({ kind: 'removed', path: inner, before: was, after: undefined });
    } else {
      const is = excerpt(after[name], 0);
      found.push({ kind: 'added', path: inner, before: undefined, after: is });
    }
  }
}

/** A change at the end of a long text must not be cut off. */
function commonStart(before: unknown, after: unknown): number {
  if (typeof before !== 'string' || typeof after !== 'string') return 0;
  let index = 0;
  while (index < before.length && before[index] === after[index]) index++;
  return Math.max(0, index - CONTEXT);
}

function excerpt(value: unknown, start: number): string {
  if (typeof value !== 'string') return visible(JSON.stringify(value) ?? '', SHOWN_MAX);
  return `${start > 0 ? '…' : ''}${visible(value.slice(start), SHOWN_MAX)}`;
}
