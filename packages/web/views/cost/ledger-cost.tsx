// What the recorded turns of this machine cost.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type AddressChange, useAddress } from '../../address/address.ts';
import { asked } from '../../api/ledger.ts';
import { EmptyState } from '../../parts/buttons.tsx';
import { useNow } from '../../parts/clock.ts';
import { ViewHead } from '../../parts/view-head.tsx';
import {
  groupOf,
  LEDGER_GROUPS,
  ledgerSpending,
  rangeOf,
  type SpendingLine,
  timesOf,
} from './spending.ts';
import { SpendingPage } from './spending-page.tsx';

const AGAIN_MS = 15_000;

export function LedgerCost() {
  const { params } = useAddress();
  const { id: by } = groupOf(LEDGER_GROUPS, params['by']);
  const range = rangeOf(params['range']);
  const { fromMs, toMs } = timesOf(range, useNow());
  const { data, error } = useQuery({
    ...asked('cost', { query: { by, bucket: range.bucket, from_ms: fromMs, to_ms: toMs } }),
    placeholderData: keepPreviousData,
    refetchInterval: AGAIN_MS,
  });
  const spending = useMemo(() => (data === undefined ? undefined : ledgerSpending(data)), [data]);
  return (
    <>
      <ViewHead title="Cost" />
      <SpendingPage
        groups={LEDGER_GROUPS}
        spending={spending}
        error={error}
        leadsTo={(line) => callsOf(by, line)}
        empty={
          <EmptyState title="No turns in this time." command="sub run --models -- claude">
            Model calls of agents that run with --models are recorded here with their tokens and
            their cost.
          </EmptyState>
        }
      />
    </>
  );
}

function callsOf(by: string, { name }: SpendingLine): AddressChange | undefined {
  return by === 'run' && name !== null && name !== '' ? { path: ['runs', name] } : undefined;
}
