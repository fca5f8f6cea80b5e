// From events to rows. Pure.
import { type Event, parseEventLine } from '@subluminal/contracts';
import { withoutNul } from '../chain/event-line.ts';
import { OWN_PRODUCER, type PolicyRecord, readPolicy } from '../chain/ledger-events.ts';
import {
  addPolicy,
  type EventPlace,
  emptyProjection,
  type Projection,
  runDelta,
} from '../store/projection.ts';
import type { EventRow } from '../store/stored-rows.ts';
import { eventMember } from './registry.ts';

/** Goes up when the same events make other rows than before; ledgers are then rebuilt. */
export const PROJECTION_VERSION = '6';

export function projectEvent(into: Projection, event: Event, place: EventPlace): void {
  const run = runDelta(into, event, place.atMs);
  eventMember(event.type).project?.(into, event, { ...place, run });
}

/** What stored events make; an event that is pruned or of an unknown type makes nothing. */
export function projectRows(rows: readonly EventRow[]): Projection {
  const into = emptyProjection();
  for (const { line, seq, producer } of rows) {
    if (line === null) continue;
    if (producer === OWN_PRODUCER) {
      const policy = readPolicy(line);
      if (policy !== undefined) projectPolicy(into, policy);
      continue;
    }
    const parsed = parseEventLine(withoutNul(line));
    if (parsed.ok) projectEvent(into, parsed.event, { seq, atMs: Date.parse(parsed.event.ts) });
  }
  return into;
}

/** Adds a policy that the ledger itself recorded. */
export function projectPolicy(into: Projection, policy: PolicyRecord): void {
  const { policy_id, version, rules_hash, mode, rules_json, created_at_ms: created_at } = policy;
  const ref = { policy_id, policy_version: version, policy_hash: rules_hash };
  addPolicy(into, ref, { mode, rules_json, created_at });
}
