// The audit of a gateway: what happened, newest first, page by page. Filters stand in the address.
import type { GatewayAuditEvent } from '@subluminal/contracts';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useAddress } from '../../address/address.ts';
import { openPanel, panelParts } from '../../address/panel-address.ts';
import { askGateway } from '../../api/gateway.ts';
import { countText } from '../../parts/amounts.ts';
import { CommandLine, EmptyState } from '../../parts/buttons.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { ViewHead } from '../../parts/view-head.tsx';
import { AUDIT_COLUMNS } from './audit-columns.tsx';
import { AuditFilters } from './audit-filters.tsx';
import { auditCommand, auditQuery } from './audit-query.ts';

const PAGE_ROWS = 100;
/** Beyond it, a narrower question tells more. */
const PAGES_MAX = 100;

export function AuditView() {
  const { params } = useAddress();
  const query = auditQuery(params);
  const found = useInfiniteQuery({
    queryKey: ['gateway', 'auditSearch', query],
    queryFn: ({ pageParam, signal }) =>
      askGateway(
        'auditSearch',
        { query: { ...query, limit: PAGE_ROWS, ...(pageParam !== '' && { cursor: pageParam }) } },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }, pages) =>
      pages.length < PAGES_MAX ? next_cursor : undefined,
    placeholderData: keepPreviousData,
  });
  const { data, error, hasNextPage, isFetchingNextPage, isPlaceholderData } = found;
  const rows = data?.pages.flatMap(({ items }) => items) ?? [];
  const [kind, opened] = panelParts(params['panel']);
  return (
    <>
      <ViewHead title="Audit">
        <div className="ml-auto w-80 max-sm:hidden">
          <CommandLine command={auditCommand(globalThis.location.origin, query)} />
        </div>
      </ViewHead>
      <AuditFilters>
        <span className="ml-auto text-12 text-dim" role="status">
          {data !== undefined && `${countText(rows.length)}${hasNextPage ? '+' : ''} events`}
        </span>
      </AuditFilters>
      {error !== null && <FailureText cause={error} />}
      <div className="min-h-0 flex-1">
        <DataTable
          label="Events"
          columns={AUDIT_COLUMNS}
          rows={rows}
          rowKey={rowKey}
          selected={kind === 'trace' ? selectedKey(rows, opened) : undefined}
          onOpen={({ trace_id }) => openPanel('trace', trace_id)}
          onEnd={() => {
            const mayAsk = hasNextPage && !isFetchingNextPage && !isPlaceholderData;
            if (mayAsk && error === null) void found.fetchNextPage();
          }}
          empty={
            data !== undefined && (
              <EmptyState title="No such events.">
                Turns, approvals, logins, keys and changes of the configuration are recorded here.
                Remove a filter to see more.
              </EmptyState>
            )
          }
        />
      </div>
    </>
  );
}

const rowKey = ({ id }: GatewayAuditEvent) => String(id);

function selectedKey(rows: readonly GatewayAuditEvent[], traceId: string | undefined) {
  const row = rows.find(({ trace_id }) => trace_id === traceId);
  return row === undefined ? undefined : rowKey(row);
}
