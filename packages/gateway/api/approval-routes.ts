// Turns that wait for a person: who may see them, and who may decide.
import { GATEWAY_ENDPOINTS } from '@subluminal/contracts';
import type { Caller } from '@subluminal/core/routing';
import { isHttpFailure, NOT_FOUND } from '@subluminal/plane/api/http-failure';
import type { TurnApprovalRow } from '../store/types.ts';
import { ApprovalStreams } from './approval-streams.ts';
import { recordEvent } from './audit-log.ts';
import { approvalAnswer } from './record-answers.ts';
import type { CallerAsk, Routes } from './routes.ts';
import { maySee, roleFailure } from './scope.ts';
import type { GatewayApiOptions } from './types.ts';

/** Returns what ends all streams. */
export function addApprovalRoutes(
  routes: Routes,
  options: GatewayApiOptions,
): { close(): Promise<void> } {
  const { store } = options;
  const { approvals, approve, reject, approvalStream } = GATEWAY_ENDPOINTS;
  routes.add(approvals, async ({ caller, query }) => {
    const rows = await store.approvals.list(caller.tenantId, query.state ?? null);
    const seen = rows.filter((row) => maySeeApproval(caller, row));
    return { approvals: seen.map(approvalAnswer) };
  });
  routes.addInput(approve, (ask, { note = null }) =>
    resolve(options, ask, { state: 'approved', note }),
  );
  routes.addInput(reject, (ask, { note = null }) =>
    resolve(options, ask, { state: 'rejected', note }),
  );
  const streams = new ApprovalStreams(options);
  routes.add(approvalStream, async ({ caller, context }) => {
    const opened = streams.open(caller, context.req.raw.signal);
    return isHttpFailure(opened)
      ? opened
      : context.body(opened, 200, { 'content-type': 'text/event-stream; charset=utf-8' });
  });
  return streams;
}

function maySeeApproval(caller: Caller, row: TurnApprovalRow): boolean {
  return maySee(caller, { userId: row.requestor, teamId: row.teamId });
}

async function resolve(
  options: GatewayApiOptions,
  { caller, traceId, ids: { id = '' } }: CallerAsk<unknown>,
  answer: { readonly state: 'approved' | 'rejected'; readonly note: string | null },
) {
  const { store, nowMs, webhooks } = options;
  const { tenantId, userId } = caller;
  const found = await store.approvals.get(tenantId, id);
  if (found === undefined || !maySeeApproval(caller, found)) return NOT_FOUND;
  if (caller.role !== 'platform_admin' && found.requestor === userId) {
    return roleFailure('Somebody else has to decide about your own turn.');
  }
  const isLate = found.expiresMs <= nowMs();
  const verdict = { ...answer, tenantId, resolver: userId, nowMs: nowMs() };
  const changed = !isLate && (await store.approvals.resolve(id, verdict));
  const now = (await store.approvals.get(tenantId, id)) ?? found;
  if (changed) {
    const detail = { approval_id: id, state: answer.state, turn: found.traceId };
    await recordEvent(options, { traceId, caller, eventType: 'approval_resolved', detail });
    const data = { ...detail, requestor: found.requestor, resolver: userId };
    // It is decided, whether anybody can be told or not.
    await webhooks.emit('approval_resolved', data).catch(() => {
      options.onWarning?.(`No webhook was told that the approval ${id} has ended.`);
    });
  }
  return { changed, approval: approvalAnswer(now) };
}
