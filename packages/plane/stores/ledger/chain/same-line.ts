// Whether a line that comes under a number which the ledger has is the one that it has.
import { isObject } from '@subluminal/contracts';
import type { StoredLine } from '../store/engine.ts';
import { digestOf, sameBytes } from './hash-chain.ts';
import { previewHolder } from './read-line.ts';

/** Why a line was set aside whose number another line has. */
export const CONFLICT_REASON = 'SUB_EVENT_CONFLICT: another line came before under this number';

/**
 * A shim that sends again may have left out previews since, and so may the ledger by pruning: where
 * one of two lines says so, the rest decides.
 */
export function isSameLine(stored: StoredLine, line: string): boolean {
  if (stored.digest === null && stored.line === line) return true;
  if (stored.digest !== null && sameBytes(stored.digest, digestOf(line))) return true;
  if (stored.line === null) return false;
  const [ours, theirs] = [withoutPreview(stored.line), withoutPreview(line)];
  return (ours.isLean || theirs.isLean) && ours.text === theirs.text;
}

interface Stripped {
  readonly text: string;
  /** It says that its preview was left out. */
  readonly isLean: boolean;
}

function withoutPreview(line: string): Stripped {
  const value = parsed(line);
  if (value === undefined) return { text: line, isLean: false };
  const holder = previewHolder(value);
  if (holder === undefined || !isObject(holder['preview'])) return { text: line, isLean: false };
  const { previews_dropped, pruned } = holder['preview'];
  const isLean = previews_dropped === true || pruned === true;
  return { text: JSON.stringify({ ...value, ...withMark(value, holder) }), isLean };
}

/** The same event with nothing in place of its preview; the order of its fields stays. */
function withMark(
  value: { readonly [name: string]: unknown },
  holder: { readonly [name: string]: unknown },
): object {
  return holder === value ? { preview: null } : { call: { ...holder, preview: null } };
}

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
