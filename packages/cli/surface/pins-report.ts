// Compares a server with its pins and renders the result. The server wrote every text in it.
import { isObject } from '@subluminal/contracts';
import {
  type Comparison,
  comparePins,
  type FieldChange,
  type Pin,
  type PinStore,
  pinOf,
  type ServerPins,
  type ToolChange,
} from '@subluminal/core/surface';
import { sha256 } from '@subluminal/plane/crypto';
import { listingOf, type ServerListing } from '@subluminal/plane/probe';
import type { Colors } from '../terminal/io.ts';
import { tableText } from '../terminal/table.ts';
import { harmless, shortened } from '../terminal/text.ts';

export interface PinsView {
  readonly known: ServerPins | undefined;
  readonly comparison: Comparison;
  /** The server has no pins yet. */
  readonly isFirstSight: boolean;
  readonly hasChanged: boolean;
}

export function viewPins(store: PinStore, server: string, seen: ServerListing): PinsView {
  const known = store.servers.get(server);
  const comparison = comparePins(known, listingOf(seen), sha256);
  const isFirstSight = known === undefined;
  const hasChanges = comparison.tools.some(({ kind }) => kind !== 'same');
  const hasChanged = !isFirstSight && (hasChanges || areOther(comparison.instructions));
  return { known, comparison, isFirstSight, hasChanged };
}

/** Instructions that are seen for the first time are no change. */
function areOther(instructions: Comparison['instructions']): boolean {
  return typeof instructions !== 'string' || instructions === 'unpinnable';
}

type Tool = { readonly [key: string]: unknown };

/** The first of that name. */
export function toolNamed(tools: readonly unknown[], name: string): Tool | undefined {
  return tools.find((tool): tool is Tool => isObject(tool) && tool['name'] === name);
}

export function hashOf(seen: ServerListing, name: string): string | null {
  const tool = toolNamed(seen.tools, name);
  if (tool === undefined) return null;
  const pinned = pinOf(tool, sha256, seen.toolTexts?.[seen.tools.indexOf(tool)]);
  return pinned.ok ? pinned.hash : null;
}

/** For programs. */
export function documentOf(
  server: string,
  { known, comparison, ...rest }: PinsView,
  seen: ServerListing,
) {
  const { tools, renamed, instructions } = comparison;
  return {
    server,
    changed: rest.hasChanged,
    first_sight: rest.isFirstSight,
    tools: tools.map((change) => ({
      name: change.name,
      kind: change.kind,
      pinned: known?.tools.get(change.name)?.hash ?? null,
      seen: hashOf(seen, change.name),
      diff: change.kind === 'changed' ? change.diff : [],
    })),
    renamed,
    instructions:
      typeof instructions === 'string'
        ? { kind: instructions, diff: [] }
        : { kind: 'changed', diff: instructions },
  };
}

export type { Comparison, ServerListing, ToolChange };

interface ChangeContext {
  readonly seen: Pick<ServerListing, 'tools' | 'instructions'>;
  readonly colors: Colors;
  /** Definitions in full, because they are to be accepted: nothing may hide behind a cut. */
  readonly isFull: boolean;
}

const NAME_LENGTH_MAX = 120;
const LINE_LENGTH_MAX = 400;

const named = (name: string): string => harmless(shortened(name, NAME_LENGTH_MAX));

/** One or more lines for one change; none for what is the same. */
function changeLines(change: ToolChange, shown: ChangeContext): readonly string[] {
  const { colors } = shown;
  const name = named(change.name);
  switch (change.kind) {
    case 'same':
      return [];
    case 'added':
      return [colors.green(`+ ${name}  new`), ...definitionLines(change.name, shown)];
    case 'removed':
      return [colors.red(`- ${name}  gone`)];
    case 'changed':
      return [
        colors.yellow(`~ ${name}  changed`),
        ...diffLines(change.diff, colors),
        ...(shown.isFull ? ['    as it is now:', ...definitionLines(change.name, shown)] : []),
      ];
    case 'ambiguous':
      return [colors.red(`! ${name}  is there twice, and the two differ`)];
    case 'unpinnable':
      return [colors.red(`! ${name}  is too large, too deep or one too many to be known`)];
  }
}

/** Field by field. */
function diffLines(diff: readonly FieldChange[], colors: Colors): readonly string[] {
  return diff.flatMap(({ kind, path, before, after }) => [
    `    ${harmless(path === '' ? '(all of it)' : path)}${kind === 'changed' ? '' : `  ${kind}`}`,
    ...(before === undefined ? [] : [colors.red(`      - ${harmless(before)}`)]),
    ...(after === undefined ? [] : [colors.green(`      + ${harmless(after)}`)]),
  ]);
}

function definitionLines(name: string, { seen, isFull }: ChangeContext): readonly string[] {
  const tool = toolNamed(seen.tools, name);
  if (!isFull) {
    const says: unknown = tool?.['description'];
    if (typeof says !== 'string' || says === '') return [];
    return [`    says: ${harmless(shortened(says, LINE_LENGTH_MAX))}`];
  }
  const lines = (JSON.stringify(tool, null, 2) ?? '').split('\n');
  return lines.map((line) => `    ${longLine(line)}`);
}

/** A long line is broken, never cut. */
function longLine(line: string): string {
  const parts = harmless(line).match(new RegExp(`.{1,${LINE_LENGTH_MAX}}`, 'gu')) ?? [];
  return parts.join('\n      ');
}

function instructionLines(
  change: Comparison['instructions'],
  { seen, colors, isFull }: ChangeContext,
): readonly string[] {
  if (change === 'unknown' || change === 'same') return [];
  if (change === 'unpinnable') return [colors.red('! instructions  too large to be known')];
  const text = seen.instructions ?? '(none)';
  const whole = text.split('\n').map((line) => `    ${longLine(line)}`);
  if (change !== 'added') {
    const now = isFull ? ['    as they are now:', ...whole] : [];
    return [colors.yellow('~ instructions  changed'), ...diffLines(change, colors), ...now];
  }
  const short = [`    ${harmless(shortened(text, LINE_LENGTH_MAX))}`];
  return [colors.green('+ instructions  not known yet'), ...(isFull ? whole : short)];
}

export function comparisonLines(comparison: Comparison, shown: ChangeContext): readonly string[] {
  const renames = comparison.renamed.map(
    ({ from, to }) => `> ${named(from)} → ${named(to)}  renamed: all but the name is the same`,
  );
  return [
    ...renames,
    ...comparison.tools.flatMap((change) => changeLines(change, shown)),
    ...instructionLines(comparison.instructions, shown),
  ];
}

/** Like `1 changed, 2 new`. */
export function pinCounts({ tools, instructions }: Comparison): string {
  const count = (...kinds: readonly ToolChange['kind'][]) =>
    tools.filter(({ kind }) => kinds.includes(kind)).length;
  const parts = [
    [count('changed'), 'changed'],
    [count('added'), 'new'],
    [count('removed'), 'gone'],
    [count('ambiguous', 'unpinnable'), 'unusable'],
  ] as const;
  const words = parts.flatMap(([number, word]) => (number === 0 ? [] : [`${number} ${word}`]));
  return [...words, ...(areOther(instructions) ? ['other instructions'] : [])].join(', ');
}

export type PinnedServers = readonly (readonly [string, ServerPins])[];

const HASH_SHOWN = 12;
const COLUMNS = [
  { title: 'SERVER', widthMin: 8 },
  { title: 'TOOL', widthMin: 16 },
  { title: 'HASH', dropped: 2 },
  { title: 'FIRST SEEN', dropped: 1 },
  'ACCEPTED',
];

export function pinsTable(servers: PinnedServers, width: number): string {
  const rows = servers.flatMap(([server, { instructions, tools }]) => [
    ...(instructions === undefined ? [] : [rowOf(server, '(instructions)', instructions)]),
    ...[...tools].map(([name, pin]) => rowOf(server, name, pin)),
  ]);
  return tableText(COLUMNS, rows, { width });
}

function rowOf(server: string, name: string, { hash, seenAtMs, acceptedAtMs }: Pin) {
  const accepted = acceptedAtMs === null ? null : dayOf(acceptedAtMs);
  return [server, name, hash.slice(0, HASH_SHOWN), dayOf(seenAtMs), accepted];
}

function dayOf(timeMs: number): string {
  return timeOf(timeMs).slice(0, 16).replace('T', ' ');
}

/** `unknown` for a time that no calendar has: sub never writes one, but a file may hold it. */
export function timeOf(timeMs: number): string {
  const date = new Date(timeMs);
  return Number.isNaN(date.getTime()) ? 'unknown' : date.toISOString();
}
