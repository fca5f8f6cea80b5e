// Calls as they happen, and as they happened: search, range, the recorder above, the list below.
import { type ApiCallFilter, parseCallSearch } from '@subluminal/contracts';
import { type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import { goTo } from '../../address/address.ts';
import { openPanel, useOpenCall } from '../../address/panel-address.ts';
import { countText, momentText } from '../../parts/amounts.ts';
import { Button, EmptyState } from '../../parts/buttons.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { useShownFilter } from '../../search/filter-address.ts';
import type { ShownFilter } from '../../search/ranges.ts';
import { goToRange } from '../../search/time-range.tsx';
import { CALL_COLUMNS } from './call-columns.tsx';
import { useCallList } from './call-list.ts';
import { useHistogram } from './histogram.ts';
import { LiveBar } from './live-bar.tsx';
import { callKey, type LiveCall } from './live-call.ts';
import { usePlayer } from './player.ts';
import { Scrubber } from './scrubber.tsx';

export function LiveView() {
  const filter = useShownFilter();
  const search = useLastQuery(filter);
  const player = usePlayer();
  const { atMs } = player;
  const histogram = useHistogram(search, filter.range);
  const scroller = useRef<HTMLDivElement>(null);
  const isAtTop = useIsAtTop(scroller);
  const { range } = filter;
  const question = useMemo(() => ({ search, range, atMs }), [search, range, atMs]);
  const list = useCallList(question, player.isPaused || !isAtTop);
  const opened = useOpenCall();
  const bring = () => {
    scroller.current?.scrollTo({ top: 0 });
    list.release();
  };
  return (
    <div className="flex h-full min-h-0 flex-col">
      <h1 className="sr-only">Live</h1>
      <LiveBar filter={filter} player={player} />
      <Scrubber
        histogram={histogram}
        atMs={atMs}
        onScrub={player.scrub}
        onSelect={(from, to) => goToRange({ from, to })}
      />
      <div className="relative min-h-0 flex-1">
        <Pill waiting={list.waiting} onBring={bring} />
        {list.cause !== undefined && <FailureText cause={list.cause} />}
        <DataTable
          label="Calls"
          columns={CALL_COLUMNS}
          rows={list.rows}
          rowKey={rowKey}
          selected={opened && callKey(opened.runId, opened.callId)}
          onOpen={open}
          onEnd={list.more}
          scroller={scroller}
          empty={
            list.isLoaded && list.cause === undefined && <NoCalls filter={filter} atMs={atMs} />
          }
        />
      </div>
      {list.isCut && (
        <p className="border-t border-line px-3 py-1 text-12 text-dim">
          The list ends after {countText(list.rows.length)} calls: narrow the search or the range.
        </p>
      )}
    </div>
  );
}

function rowKey({ key }: LiveCall): string {
  return key;
}

function open({ runId, callId }: LiveCall): void {
  openPanel('call', runId, callId);
}

/** A search that is not understood leaves what is shown; at first, it means what of it is understood. */
function useLastQuery({ text, search }: ShownFilter): ApiCallFilter {
  const [last, setLast] = useState<ApiCallFilter>(() => {
    const parts = search.terms.map(({ from, to }) => text.slice(from, to));
    const readable = parseCallSearch(parts.join(' '), Date.now());
    return readable.kind === 'query' ? readable.query : {};
  });
  const query = search.kind === 'query' ? search.query : last;
  const isSame = JSON.stringify(query) === JSON.stringify(last);
  if (!isSame) setLast(query);
  return isSame ? last : query;
}

const TOP_PX = 4;

function useIsAtTop(scroller: RefObject<HTMLDivElement | null>): boolean {
  const [isAtTop, setAtTop] = useState(true);
  useEffect(() => {
    const element = scroller.current;
    const look = () => setAtTop((element?.scrollTop ?? 0) < TOP_PX);
    element?.addEventListener('scroll', look, { passive: true });
    return () => element?.removeEventListener('scroll', look);
  }, [scroller]);
  return isAtTop;
}

function Pill({ waiting, onBring }: { readonly waiting: number; readonly onBring: () => void }) {
  return (
    <div role="status" className="absolute top-8 left-1/2 z-20 -translate-x-1/2">
      {waiting > 0 && (
        <Button look="primary" onClick={onBring} className="shadow-panel">
          {countText(waiting)} new
        </Button>
      )}
    </div>
  );
}

function NoCalls({
  filter,
  atMs,
}: {
  readonly filter: ShownFilter;
  readonly atMs: number | undefined;
}) {
  const { text, range } = filter;
  const isAll = range.kind === 'since' && range.id === 'all';
  return (
    <>
      {text === '' && atMs === undefined ? (
        <EmptyState
          title={isAll ? 'No calls yet.' : 'No calls in this time.'}
          command="sub import --hooks"
        >
          Calls of tools and models appear here as they happen. The command puts the servers and
          tools of your agents behind Subluminal; then work as before.
        </EmptyState>
      ) : (
        <EmptyState title={atMs === undefined ? 'No call fits.' : 'No call up to this moment.'}>
          {atMs === undefined
            ? 'Calls that fit appear here as they happen.'
            : `The list shows what had begun by ${momentText(atMs).slice(0, 19)}.`}
        </EmptyState>
      )}
      <div className="flex justify-center gap-2">
        {text !== '' && (
          <Button onClick={() => goTo({ params: { q: '' } })}>Clear the search</Button>
        )}
        {!isAll && <Button onClick={() => goToRange({ since: 'all' })}>Show all time</Button>}
      </div>
    </>
  );
}
