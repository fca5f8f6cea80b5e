// What the turns of a gateway cost, its budgets and its routing: each a part of the view with its own address.
import type { CostDimension } from '@subluminal/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type AddressChange, goTo, useAddress } from '../../address/address.ts';
import { askedGateway } from '../../api/gateway.ts';
import { useMay } from '../../api/session.ts';
import { Button, EmptyState } from '../../parts/buttons.tsx';
import { useNow } from '../../parts/clock.ts';
import { Value } from '../../parts/texts.tsx';
import { ViewHead } from '../../parts/view-head.tsx';
import { BudgetList } from './budget-list.tsx';
import { RoutingList } from './routing-list.tsx';
import {
  GATEWAY_GROUPS,
  gatewaySpending,
  groupOf,
  rangeOf,
  type SpendingLine,
  timesOf,
} from './spending.ts';
import { SpendingPage } from './spending-page.tsx';

const TABS = { spending: 'Spending', budgets: 'Budgets', routing: 'Routing' } as const;
const AGAIN_MS = 15_000;

export function GatewayCost() {
  const { params } = useAddress();
  const { tab = 'spending' } = params;
  return (
    <>
      <ViewHead
        title="Cost"
        tabs={Object.entries(TABS).map(([id, title]) => ({
          title,
          to: { path: ['cost'], params: id === 'spending' ? {} : { tab: id } },
          isHere: tab === id,
        }))}
      />
      {tab === 'budgets' ? (
        <BudgetList />
      ) : tab === 'routing' ? (
        <RoutingList />
      ) : (
        <GatewaySpending />
      )}
    </>
  );
}

/** What the address narrows the question to. */
const FILTERS = { team: 'Team', user: 'Person', repo: 'Repository' } as const;

function GatewaySpending() {
  const { params } = useAddress();
  const isAdmin = useMay('team_admin');
  // A developer sees their own alone, so that teams and persons tell nothing.
  const groups = isAdmin
    ? GATEWAY_GROUPS
    : GATEWAY_GROUPS.filter(({ id }) => id !== 'team' && id !== 'user');
  const { id: dim } = groupOf(groups, params['by']);
  const range = rangeOf(params['range']);
  const now = useNow();
  const times = useMemo(() => timesOf(range, now), [range, now]);
  const { data, error } = useQuery({
    ...askedGateway('costSummary', {
      query: {
        dim,
        group_by: range.bucket,
        from: new Date(times.fromMs).toISOString(),
        to: new Date(times.toMs).toISOString(),
        ...(params['team'] && { team_id: params['team'] }),
        ...(params['user'] && { user_id: params['user'] }),
        ...(params['repo'] && { repo_id: params['repo'] }),
      },
    }),
    placeholderData: keepPreviousData,
    refetchInterval: AGAIN_MS,
  });
  const { fromMs, toMs, bucketMs } = times;
  const spending = useMemo(
    () => data && gatewaySpending(data.rows, { fromMs, toMs, bucketMs }),
    [data, fromMs, toMs, bucketMs],
  );
  return (
    <SpendingPage
      groups={groups}
      spending={spending}
      error={error}
      leadsTo={(line) => narrowed(dim, line)}
      filters={<Filters />}
      empty={
        <EmptyState title="No turns in this time." command="sub env">
          Turns that clients send through this gateway are summed up here.
        </EmptyState>
      }
    />
  );
}

/** A team by its people, a person by their models, a repository by its people. */
function narrowed(dim: CostDimension, { name }: SpendingLine): AddressChange | undefined {
  if (name === null || name === '') return undefined;
  if (dim === 'team') return { params: { team: name, by: 'user' } };
  if (dim === 'user') return { params: { user: name, by: 'model' } };
  if (dim === 'repo') return { params: { repo: name, by: 'model' } };
  return undefined;
}

function Filters() {
  const { params } = useAddress();
  return Object.entries(FILTERS).map(([id, title]) => {
    const value = params[id];
    return value === undefined ? null : (
      <Button
        key={id}
        aria-label={`Remove the filter ${title}`}
        onClick={() => goTo({ params: { [id]: '' } })}
      >
        <span className="text-dim">{title}</span>
        <Value text={value} lengthMax={24} />
        <span aria-hidden="true">✕</span>
      </Button>
    );
  });
}
