// What people do by the API is on record beside what their agents do.
import type { JsonObject } from '@subluminal/contracts';
import type { Caller } from '@subluminal/core/routing';
import type { GatewayApiOptions } from './types.ts';

interface AdminEvent {
  readonly traceId: string;
  readonly caller: Pick<Caller, 'tenantId' | 'userId' | 'teamId'>;
  readonly eventType: string;
  readonly detail: JsonObject;
  readonly repoId?: string;
}

/** Resolves when it is on record: nothing is answered before that. */
export async function recordEvent(
  { store, nowMs }: Pick<GatewayApiOptions, 'store' | 'nowMs'>,
  event: AdminEvent,
): Promise<void> {
  const { traceId, caller, eventType, detail, repoId = null } = event;
  const { tenantId, userId, teamId } = caller;
  const who = { traceId, sessionId: null, tenantId, userId, teamId, repoId };
  const nothing = { decision: null, requestSummary: null, routedTo: null, errorCode: null };
  const row = { eventMs: nowMs(), ...who, eventType, ruleIds: [], detail, ...nothing };
  const audit = [{ ...row, fallbackChain: null }];
  await store.records.write({ settlement: null, audit, costs: [], routing: [], raw: null });
}
