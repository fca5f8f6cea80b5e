// Looks through the whole memory for what should not be in it. What it finds leaves the searches and waits for the user.
import { allRows } from './all-rows.ts';
import { ordersIn } from './integrity/admit-text.ts';
import { KnownClaims } from './integrity/claims.ts';
import { entryOf, type RowSeals } from './sealed-rows.ts';
import type { MemoryRow, MemoryStore } from './store/types.ts';
import { isFromOutside } from './trust.ts';
import type { AuditFinding, AuditReport, MemoryEntry, MemoryState } from './types.ts';

export interface AuditParts {
  readonly store: MemoryStore;
  readonly seals: RowSeals;
  readonly nowMs: () => number;
  /** Writes a row unless it was changed meanwhile. */
  readonly replace: (row: MemoryRow, changes: Partial<MemoryRow>) => Promise<void>;
}

const LISTED_MAX = 1_000;
const HOUR_MS = 3_600_000;
/** So many entries of one source in one hour are no conversation. */
const FLOOD_MIN = 100;

export async function auditMemory(parts: AuditParts, signal?: AbortSignal): Promise<AuditReport> {
  const known = await knownIn(parts);
  const findings: AuditFinding[] = [];
  let unlisted = 0;
  let checked = 0;
  for (const row of await parts.store.core()) {
    checked += 1;
    if (parts.seals.isCoreGenuine(row)) continue;
    const detail = 'Somebody has changed this fact in the database: it is not used.';
    findings.push({ kind: 'tampered', id: `core:${row.key}`, detail });
  }
  for await (const row of allRows(parts.store)) {
    if (signal?.aborted === true) break;
    checked += 1;
    const found = await judged(parts, row, known);
    if (found === undefined) continue;
    await parts.replace(row, found.changes);
    if (findings.length < LISTED_MAX) findings.push({ ...found.finding, id: row.id });
    else unlisted += 1;
  }
  return { checked, findings, unlisted };
}

/** What the user has said, core facts included, and which sources have left too much at once. */
async function knownIn({ store, seals }: AuditParts): Promise<AuditKnowledge> {
  const claims = new KnownClaims();
  const counts = new Map<string, number>();
  for (const row of await store.core()) {
    if (seals.isCoreGenuine(row)) claims.add(`${row.key}: ${row.value}`);
  }
  for await (const row of allRows(store)) {
    const key = floodKey(row);
    counts.set(key, (counts.get(key) ?? 0) + 1);
    const isUsers = row.provenance === 'user_instruction' && row.state === 'active';
    if (isUsers && seals.isEntryGenuine(row)) claims.add(row.text);
  }
  const floods = [...counts].filter(([, count]) => count >= FLOOD_MIN).map(([key]) => key);
  return { claims, floods: new Set(floods) };
}

function floodKey({ provenance, source, createdMs }: MemoryRow): string {
  // A call is new each time.
  const from = source.replace(/"callId":"[^"]*",?/, '');
  return `${provenance}\n${from}\n${Math.floor(createdMs / HOUR_MS)}`;
}

interface AuditVerdict {
  readonly finding: Omit<AuditFinding, 'id'>;
  readonly changes: Partial<MemoryRow>;
}

interface AuditKnowledge {
  readonly claims: KnownClaims;
  readonly floods: ReadonlySet<string>;
}

async function judged(
  parts: AuditParts,
  row: MemoryRow,
  known: AuditKnowledge,
): Promise<AuditVerdict | undefined> {
  const entry = parts.seals.isEntryGenuine(row) ? entryOf(row, parts.nowMs()) : undefined;
  if (entry === undefined) {
    // It is signed anew, and therefore as something that nobody vouches for.
    const reset = { provenance: 'external_content', confirmedMs: null, source: '{}', tags: '[]' };
    return {
      finding: { kind: 'tampered', detail: 'Somebody has changed this entry in the database.' },
      changes: { ...reset, ...moved('quarantined', ['tampered']) },
    };
  }
  const isUsers = entry.provenance === 'user_instruction' || entry.confirmedMs !== null;
  if (isUsers || entry.state === 'quarantined') return undefined;
  return withOrders(entry) ?? (entry.state === 'active' ? disputed(entry, row, known) : undefined);
}

function withOrders({ text }: MemoryEntry): AuditVerdict | undefined {
  const orders = ordersIn(text);
  if (orders.length === 0) return undefined;
  return {
    finding: { kind: 'injected', detail: `It reads as an order: ${orders.join(', ')}.` },
    changes: moved('quarantined', orders),
  };
}

function disputed(
  entry: MemoryEntry,
  row: MemoryRow,
  { claims, floods }: AuditKnowledge,
): AuditVerdict | undefined {
  const said = claims.contradictedBy(entry.text);
  if (said !== undefined) {
    return {
      finding: { kind: 'contradiction', detail: `The user has said otherwise: ${said}` },
      changes: moved('review', ['contradicts-user']),
    };
  }
  if (!isFromOutside(entry.provenance) || !floods.has(floodKey(row))) return undefined;
  return {
    finding: { kind: 'flood', detail: `Its source left ${FLOOD_MIN} or more entries in one hour.` },
    changes: moved('review', ['flood']),
  };
}

function moved(state: MemoryState, reasons: readonly string[]): Partial<MemoryRow> {
  return { state, reasons: JSON.stringify(reasons) };
}
