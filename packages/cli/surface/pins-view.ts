// What a server shows now, held against its pins.
import { isObject } from '@subluminal/contracts';
import {
  type Comparison,
  comparePins,
  type FieldChange,
  type PinStore,
  pinOf,
  type ServerPins,
  type ToolChange,
} from '@subluminal/core/surface';
import { sha256 } from '@subluminal/plane/crypto';
import { listingOf, type Seen } from '@subluminal/plane/probe';

export interface PinsView {
  readonly known: ServerPins | undefined;
  readonly comparison: Comparison;
  /** Not even one thing is known of it. */
  readonly isFirstSight: boolean;
  readonly hasChanged: boolean;
}

export function viewPins(store: PinStore, server: string, seen: Seen): PinsView {
  const known = store.servers.get(server);
  const comparison = comparePins(known, listingOf(seen), sha256);
  const isFirstSight = known === undefined;
  const hasChanges = comparison.tools.some(({ kind }) => kind !== 'same');
  const hasChanged = !isFirstSight && (hasChanges || areOther(comparison.instructions));
  return { known, comparison, isFirstSight, hasChanged };
}

/** Those that nobody has looked at yet are remembered on first sight; that is no change. */
export function areOther(instructions: Comparison['instructions']): boolean {
  return typeof instructions !== 'string' || instructions === 'unpinnable';
}

type Tool = { readonly [key: string]: unknown };

/** The first of that name. */
export function toolNamed(tools: readonly unknown[], name: string): Tool | undefined {
  return tools.find((tool): tool is Tool => isObject(tool) && tool['name'] === name);
}

export function hashOf(seen: Seen, name: string): string | null {
  const tool = toolNamed(seen.tools, name);
  if (tool === undefined) return null;
  const pinned = pinOf(tool, sha256, seen.toolTexts?.[seen.tools.indexOf(tool)]);
  return pinned.ok ? pinned.hash : null;
}

/** For programs. */
export function documentOf(server: string, { known, comparison, ...rest }: PinsView, seen: Seen) {
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

export type { Comparison, FieldChange, Seen, ToolChange };
