// From events to rows. Pure.
import { type Event, parseEventLine } from '@subluminal/contracts';
import { withoutNul } from '../chain/event-line.ts';
import { OWN_PRODUCER, type PolicyRecord, readPolicy } from '../chain/ledger-events.ts';
import type { EventRow } from '../store/engine.ts';
import { addPolicy, type EventPlace, type Projection, runDelta } from '../store/projection.ts';
import { eventMember } from './registry.ts';

/** Goes up when the same events make other rows than before; ledgers are then rebuilt. */
export const PROJECTION_VERSION = '3';

export function projectEvent(into: Projection, event: Event, place: EventPlace): void {
  const run = runDelta(into, event, place.atMs);
  eventMember(event.type).project?.(into, event, { ...place, run });
}

/** Adds an event as it is stored; what is pruned or of an unknown type changes nothing. */
export function projectRow(into: Projection, { line, seq, producer }: EventRow): void {
  if (line === null) return;
  if (producer === OWN_PRODUCER) {
    const policy = readPolicy(line);
    if (policy !== undefined) projectPolicy(into, policy);
    return;
  }
  const parsed = parseEventLine(withoutNul(line));
  if (parsed.ok) projectEvent(into, parsed.event, { seq, atMs: Date.parse(parsed.event.ts) });
}

/** Adds a policy that the ledger itself recorded. */
export function projectPolicy(into: Projection, policy: PolicyRecord): void {
  const { policy_id, version, rules_hash, mode, rules_json, created_at_ms: created_at } = policy;
  const ref = { policy_id, policy_version: version, policy_hash: rules_hash };
  addPolicy(into, ref, { mode, rules_json, created_at });
}
