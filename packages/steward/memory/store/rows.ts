// Rows of both engines as values. Somebody may have changed the database, so that each cell is read as a stranger's.
import type { CoreRow, MemoryRow, RequestRow, SearchGroup } from './types.ts';

type MemoryCells = { readonly [column: string]: unknown };

export const ENTRY_COLUMNS = `id, text, provenance, source, conversation, state, reasons, tags,
  created_ms, confirmed_ms, last_used_ms, hash, seal`;

export function memoryRow(cells: MemoryCells): MemoryRow {
  return {
    id: String(cells['id']),
    text: String(cells['text']),
    provenance: String(cells['provenance']),
    source: String(cells['source']),
    conversation: textOrNull(cells['conversation']),
    state: String(cells['state']),
    reasons: String(cells['reasons']),
    tags: String(cells['tags']),
    createdMs: Number(cells['created_ms']),
    confirmedMs: numberOrNull(cells['confirmed_ms']),
    lastUsedMs: numberOrNull(cells['last_used_ms']),
    hash: String(cells['hash']),
    seal: String(cells['seal']),
  };
}

/** In the order of `ENTRY_COLUMNS`. */
export function entryValues(row: MemoryRow) {
  return [
    row.id,
    row.text,
    row.provenance,
    row.source,
    row.conversation,
    row.state,
    row.reasons,
    row.tags,
    row.createdMs,
    row.confirmedMs,
    row.lastUsedMs,
    row.hash,
    row.seal,
  ] as const;
}

export function coreRow(cells: MemoryCells): CoreRow {
  const { key, value, set_ms: setMs, seal } = cells;
  return { key: String(key), value: String(value), setMs: Number(setMs), seal: String(seal) };
}

export function requestRow(cells: MemoryCells): RequestRow {
  const { id, body, reason, conversation, created_ms: createdMs } = cells;
  return {
    id: String(id),
    body: String(body),
    reason: String(reason),
    conversation: textOrNull(conversation),
    createdMs: Number(createdMs),
  };
}

/** An unknown provenance is from outside. */
export function groupOf(provenance: string): SearchGroup {
  const isOwn = provenance === 'user_instruction' || provenance === 'agent_observation';
  return isOwn ? 'own' : 'outside';
}

function textOrNull(cell: unknown): string | null {
  return typeof cell === 'string' ? cell : null;
}

function numberOrNull(cell: unknown): number | null {
  return cell === null || cell === undefined ? null : Number(cell);
}
