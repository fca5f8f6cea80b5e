// Approvals and grants, asked for again whenever one changes.
import type { ApiApprovalsQuery } from '@subluminal/contracts';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { asked } from '../../api/ledger.ts';
import { tellsOf, useLiveSignal } from '../../api/live-signal.ts';

/** A request may also end without an event, by the clock or with the process that asked. */
const AGAIN_MS = 5_000;

type ApprovalStateName = Required<ApiApprovalsQuery>['state'];

export function useApprovals(state?: ApprovalStateName) {
  const query = state === undefined ? {} : { state };
  return useLive(useQuery({ ...asked('approvals', { query }), ...KEPT }));
}

export function useApproval(id: string) {
  return useLive(useQuery({ ...asked('approval', { ids: { id } }), refetchInterval: AGAIN_MS }));
}

export function useGrants() {
  return useLive(useQuery({ ...asked('grants'), ...KEPT }));
}

const KEPT = { placeholderData: keepPreviousData, refetchInterval: AGAIN_MS } as const;

function useLive<Q extends { refetch(): unknown }>(query: Q): Q {
  useLiveSignal((signal) => {
    if (tellsOf(signal, 'approval')) void query.refetch();
  });
  return query;
}

/** Asks for all of them again, after something was decided here. */
export function useAskAgain(): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    await Promise.all(
      ['approvals', 'approval', 'grants'].map((name) =>
        client.invalidateQueries({ queryKey: [name] }),
      ),
    );
  };
}
