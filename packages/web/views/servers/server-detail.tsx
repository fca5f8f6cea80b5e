// One server: its tools and what their calls came to, its latency and errors over time, and its pins.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useAddress } from '../../address/address.ts';
import { Link } from '../../address/link.tsx';
import { asked } from '../../api/ledger.ts';
import { tellsOf, useLiveSignal } from '../../api/live-signal.ts';
import { FailureText } from '../../parts/failure-text.tsx';
import { foldedLine } from '../../parts/plain-text.ts';
import { ViewHead } from '../../parts/view-head.tsx';
import { PinsTab } from './pins-tab.tsx';
import { TimeSpanSelect, useTimeSpan } from './time-span.tsx';
import { ToolsTab } from './tools-tab.tsx';

const AGAIN_MS = 15_000;
const NAME_SHOWN = 40;

export function ServerDetail({ name }: { readonly name: string }) {
  const { params } = useAddress();
  const isPins = params['tab'] === 'pins';
  const { data, error, refetch } = useQuery({
    ...asked('server', { ids: { server_name: name }, query: useTimeSpan() }),
    placeholderData: keepPreviousData,
    refetchInterval: AGAIN_MS,
  });
  useLiveSignal((signal) => {
    if (tellsOf(signal, 'surface', 'breaker_trip')) void refetch();
  });
  const tabs = [
    {
      title: 'Tools',
      to: { params: { tab: '' } },
      isHere: !isPins,
      count: data?.tools_total,
    },
    {
      title: 'Pins',
      to: { params: { tab: 'pins', tool: '' } },
      isHere: isPins,
      count: data === undefined || data.changes.length === 0 ? undefined : data.changes.length,
    },
  ];
  return (
    <>
      <ViewHead title={foldedLine(name, NAME_SHOWN)} tabs={tabs}>
        <Link
          to={{ path: ['servers'], params: { since: params['since'] ?? '' } }}
          className="order-first flex items-center text-accent hover:underline max-sm:h-11"
        >
          Servers ›
        </Link>
        {!isPins && <TimeSpanSelect />}
      </ViewHead>
      {error !== null && <FailureText cause={error} />}
      {data !== undefined && (isPins ? <PinsTab server={data} /> : <ToolsTab server={data} />)}
    </>
  );
}
