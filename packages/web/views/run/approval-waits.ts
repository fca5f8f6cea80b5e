// When calls of a run waited for a person.
import type { ApiApproval, ApiCall } from '@subluminal/contracts';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { asked } from '../../api/ledger.ts';
import { tellsOf, useLiveSignal } from '../../api/live-signal.ts';
import type { TimeSpan } from './time-axis.ts';

const APPROVALS_MAX = 1_000;

/** By the id of the call. Asked for only where a call needed a person, or has no decision yet. */
export function useApprovalWaits(
  runId: string,
  calls: readonly ApiCall[],
  nowMs: number,
): ReadonlyMap<string, TimeSpan> {
  const isAsked = useMemo(() => calls.some(mayHaveWaited), [calls]);
  const { data, refetch } = useQuery({
    ...asked('approvals', { query: { limit: APPROVALS_MAX } }),
    enabled: isAsked,
  });
  useLiveSignal((signal) => {
    if (isAsked && tellsOf(signal, 'approval')) void refetch();
  });
  const own = useMemo(
    () => (data?.rows ?? []).filter(({ request }) => request.call.run_id === runId),
    [data, runId],
  );
  const isWaiting = own.some(({ outcome }) => outcome === null);
  // Only a call that still waits needs the time.
  const untilMs = isWaiting ? nowMs : 0;
  return useMemo(
    () => new Map(own.map((one) => [one.request.call.call_id, waitSpan(one, untilMs)])),
    [own, untilMs],
  );
}

function mayHaveWaited({ approved_by, reason_code, decision, status }: ApiCall): boolean {
  const isUndecided = decision === null && status === null;
  return isUndecided || approved_by.length > 0 || (reason_code?.includes('APPROVAL') ?? false);
}

function waitSpan({ request, outcome }: ApiApproval, nowMs: number): TimeSpan {
  const fromMs = Date.parse(request.created_at);
  return { fromMs, toMs: Math.max(fromMs, outcome === null ? nowMs : Date.parse(outcome.at)) };
}
