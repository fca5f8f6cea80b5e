// What a server offers now, held against what is known of it.
import { isObject } from '@subluminal/contracts';
import type { Sha256 } from '../../ports.ts';
import { visible } from '../../text/visible.ts';
import { type Pinned, pinOf, type ServerPins } from './pin.ts';

export interface Listing {
  readonly tools: readonly unknown[];
  /**
   * The JSON of each tool, as the server wrote it; undefined for one whose text is not known: it
   * cannot be remembered. Absent when every tool is exactly what its value says.
   */
  readonly texts?: readonly (string | undefined)[] | undefined;
  /** Absent when it is not known, null when the server has none. */
  readonly instructions?: string | null;
  /** False while pages are missing: what is not there yet is not removed. */
  readonly isComplete: boolean;
}

export type ToolChange =
  | { readonly kind: 'same' | 'added' | 'removed'; readonly name: string }
  | { readonly kind: 'changed'; readonly name: string; readonly diff: readonly FieldChange[] }
  /** Two different definitions of one name. */
  | { readonly kind: 'ambiguous'; readonly name: string }
  /** Too large or too deep to be remembered. */
  | { readonly kind: 'unpinnable'; readonly name: string };

export interface RenameCandidate {
  readonly from: string;
  readonly to: string;
}

export interface Comparison {
  readonly tools: readonly ToolChange[];
  /** Tools that went while one of the same content came; a rename is new + removed. */
  readonly renamed: readonly RenameCandidate[];
  readonly instructions: 'unknown' | 'same' | 'added' | 'unpinnable' | readonly FieldChange[];
}

/** A tool as listed, with its pin. */
export interface SeenTool {
  readonly name: string;
  readonly tool: { readonly [key: string]: unknown };
  readonly pinned: Pinned;
}

/** Of one server; what goes beyond is never trusted, and never fills the store. */
const TOOLS_MAX = 1_000;
const LISTED_MAX = 10_000;
const NAME_LENGTH_MAX = 512;
const RENAMES_MAX = 100;

/** Compares a listing with the pins of its server; a server without pins is seen for the first time. */
export function comparePins(
  known: ServerPins | undefined,
  listing: Listing,
  sha256: Sha256,
): Comparison {
  const seen = seenTools(listing, sha256);
  const changes: ToolChange[] = [];
  for (const [name, tools] of seen) changes.push(changeOf(name, tools, known));
  const pinned = [...(known?.tools.keys() ?? [])];
  const gone = listing.isComplete ? pinned.filter((name) => !seen.has(name)) : [];
  for (const name of gone) changes.push({ kind: 'removed', name });
  const added = changes.filter(({ kind }) => kind === 'added').map(({ name }) => name);
  const before = gone.map((name) => ({ name, tool: known?.tools.get(name)?.definition }));
  const after = added.map((name) => ({ name, tool: seen.get(name)?.[0]?.tool }));
  return {
    tools: changes,
    renamed: renamesOf(before, after, sha256),
    instructions: instructionsChange(known, listing, sha256),
  };
}

const UNPINNABLE: Pinned = { ok: false };

/** The tools of a listing by name. What has no name cannot be called either. */
export function seenTools(
  { tools, texts }: Listing,
  sha256: Sha256,
): ReadonlyMap<string, readonly SeenTool[]> {
  const seen = new Map<string, SeenTool[]>();
  for (const [at, tool] of tools.slice(0, LISTED_MAX).entries()) {
    const name: unknown = isObject(tool) ? tool['name'] : undefined;
    if (!isObject(tool) || typeof name !== 'string') continue;
    const same = seen.get(name) ?? [];
    const fits = name.length <= NAME_LENGTH_MAX && (same.length > 0 || seen.size < TOOLS_MAX);
    const isKnown = texts === undefined || texts[at] !== undefined;
    const pinned = fits && isKnown ? pinOf(tool, sha256, texts?.[at]) : UNPINNABLE;
    same.push({ name, tool, pinned });
    seen.set(name, same);
  }
  return seen;
}

function changeOf(
  name: string,
  tools: readonly SeenTool[],
  known: ServerPins | undefined,
): ToolChange {
  const [first] = tools;
  if (first === undefined || tools.some(({ pinned }) => !pinned.ok))
    return { kind: 'unpinnable', name };
  const hashes = new Set(tools.map(({ pinned }) => (pinned.ok ? pinned.hash : '')));
  if (hashes.size > 1) return { kind: 'ambiguous', name };
  const pin = known?.tools.get(name);
  if (pin === undefined) {
    const isFull = (known?.tools.size ?? 0) >= TOOLS_MAX;
    return { kind: isFull ? 'unpinnable' : 'added', name };
  }
  if (hashes.has(pin.hash)) return { kind: 'same', name };
  return { kind: 'changed', name, diff: diffFrom(pin.definition, first.tool) };
}

function diffFrom(before: unknown, after: unknown): readonly FieldChange[] {
  if (before !== undefined) return diffDefinitions(before, after);
  const was = 'a definition that is known by its hash alone';
  return [{ kind: 'changed', path: '', before: was, after: undefined }];
}

type NamedTool = { readonly name: string; readonly tool: unknown };

/** Pairs that differ in nothing but the name. */
function renamesOf(
  gone: readonly NamedTool[],
  added: readonly NamedTool[],
  sha256: Sha256,
): readonly RenameCandidate[] {
  if (gone.length === 0) return [];
  const goneBy = new Map(gone.map(({ name, tool }) => [namelessHash(tool, sha256), name]));
  goneBy.delete(undefined);
  const renames = added.flatMap(({ name: to, tool }) => {
    const from = goneBy.get(namelessHash(tool, sha256));
    return from === undefined ? [] : [{ from, to }];
  });
  return renames.slice(0, RENAMES_MAX);
}

function namelessHash(tool: unknown, sha256: Sha256): string | undefined {
  if (!isObject(tool)) return undefined;
  const { name: _name, ...rest } = tool;
  const pinned = pinOf(rest, sha256);
  return pinned.ok ? pinned.hash : undefined;
}

function instructionsChange(
  known: ServerPins | undefined,
  { instructions }: Listing,
  sha256: Sha256,
): Comparison['instructions'] {
  if (instructions === undefined) return 'unknown';
  const pinned = pinOf(instructions, sha256);
  if (!pinned.ok) return 'unpinnable';
  const pin = known?.instructions;
  if (pin === undefined) return 'added';
  if (pin.hash === pinned.hash) return 'same';
  return diffFrom(pin.definition, instructions);
}

// What changed in a definition, field by field, safe to print.

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
function diffDefinitions(before: unknown, after: unknown): readonly FieldChange[] {
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
