// Calls that were refused with advice, what the agent was told, and letting the like of one pass.
import type { ApiHintedCall } from '@subluminal/contracts';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { goTo, useAddress } from '../../address/address.ts';
import { ask, asked } from '../../api/ledger.ts';
import { tellsOf, useLiveSignal } from '../../api/live-signal.ts';
import { EmptyState } from '../../parts/buttons.tsx';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { foldedLine } from '../../parts/plain-text.ts';
import { useShortcut } from '../../parts/shortcuts.ts';
import { SplitView } from '../../parts/split-view.tsx';
import { Ago, Value } from '../../parts/texts.tsx';
import { ViewHead } from '../../parts/view-head.tsx';
import { HintDetail } from './hint-detail.tsx';

const PAGE = 100;
/** How many hints of one run are looked through for the one in the address. */
const RUN_PAGE = 200;
const AGAIN_MS = 15_000;
const HINT_SHOWN = 160;

export function HintsView() {
  const { path } = useAddress();
  const [, runId, callId] = path;
  const { rows, error, isLoaded, more } = useHints();
  const { chosen, isUnknown } = useHint({ runId, callId, rows, isLoaded });
  useShortcut('Escape', () => {
    if (chosen !== undefined) goTo({ path: ['hints'] });
  });
  return (
    <>
      <ViewHead title="Hints" command="sub hints list" />
      {error !== null && <FailureText cause={error} />}
      {isUnknown && (
        <p role="alert" className="border-b border-line px-3 py-1">
          This hint is not on record. What was pruned is gone.
        </p>
      )}
      <SplitView
        label="The hint"
        back={{ path: ['hints'] }}
        isListWide
        list={
          <DataTable
            label="Hints"
            columns={chosen === undefined ? WIDE_COLUMNS : COLUMNS}
            rows={rows}
            rowKey={keyOf}
            selected={chosen && keyOf(chosen)}
            onOpen={(row) => goTo({ path: ['hints', row.run_id, row.call_id] })}
            onEnd={more}
            empty={
              isLoaded && (
                <EmptyState title="No hints yet." command="sub init">
                  A rule with a hint refuses a call and tells the agent what to do instead. Such
                  calls are listed here. The policy that the command writes has some.
                </EmptyState>
              )
            }
          />
        }
        detail={chosen && <HintDetail key={keyOf(chosen)} call={chosen} />}
      />
    </>
  );
}

function keyOf({ run_id, call_id }: ApiHintedCall): string {
  return `${run_id}/${call_id}`;
}

function useHints() {
  const { data, error, refetch, hasNextPage, isFetching, fetchNextPage } = useInfiniteQuery({
    queryKey: ['hints', 'all'],
    queryFn: ({ pageParam, signal }) =>
      ask(
        'hints',
        { query: { limit: PAGE, ...(pageParam !== '' && { cursor: pageParam }) } },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: AGAIN_MS,
  });
  useLiveSignal((signal) => {
    if (tellsOf(signal, 'tool_call_decision')) void refetch();
  });
  return {
    rows: data?.pages.flatMap((page) => page.rows) ?? [],
    error,
    isLoaded: data !== undefined,
    more: () => {
      if (hasNextPage && !isFetching) void fetchNextPage();
    },
  };
}

interface HintAddress {
  readonly runId: string | undefined;
  readonly callId: string | undefined;
  readonly rows: readonly ApiHintedCall[];
  readonly isLoaded: boolean;
}

/** The hint of the address: of the list, or asked for when it is further down. */
function useHint({ runId, callId, rows, isLoaded }: HintAddress) {
  const isIt = (row: ApiHintedCall) => row.run_id === runId && row.call_id === callId;
  const listed = rows.find(isIt);
  const { data } = useQuery({
    ...asked('hints', { query: { run_id: runId ?? '', limit: RUN_PAGE } }),
    enabled: isLoaded && runId !== undefined && listed === undefined,
  });
  const chosen = listed ?? data?.rows.find(isIt);
  return { chosen, isUnknown: runId !== undefined && chosen === undefined && data !== undefined };
}

type HintColumn = TableColumn<ApiHintedCall>;

const CALL: HintColumn = {
  id: 'call',
  title: 'Call',
  width: 'minmax(96px, 1fr)',
  cell: ({ server_name, tool_name }) => (
    <Value text={`${server_name}/${tool_name}`} lengthMax={32} />
  ),
};
const RULE: HintColumn = {
  id: 'rule',
  title: 'Rule',
  width: 'minmax(72px, 0.7fr)',
  cell: ({ rule_id }) => <Value text={rule_id ?? ''} lengthMax={40} />,
};
const HINT: HintColumn = {
  id: 'hint',
  title: 'Hint',
  width: 'minmax(120px, 3fr)',
  hiddenBelow: 768,
  cell: ({ hint }) => foldedLine(hint.hint_text, HINT_SHOWN),
};
const AGENT: HintColumn = {
  id: 'agent',
  title: 'Agent',
  width: 'minmax(72px, 0.7fr)',
  hiddenBelow: 1_024,
  cell: ({ agent_id }) => <Value text={agent_id} lengthMax={24} />,
};
const WHEN: HintColumn = {
  id: 'at',
  title: 'When',
  width: '80px',
  align: 'right',
  cell: ({ hint }) => <Ago atMs={hint.created_at_ms} />,
};
const COLUMNS = [CALL, RULE, WHEN];
const WIDE_COLUMNS = [CALL, RULE, HINT, AGENT, WHEN];
