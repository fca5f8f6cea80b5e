// The views, at the left; on a phone at the bottom.
import { useQuery } from '@tanstack/react-query';
import { useAddress } from '../address/address.ts';
import { Link } from '../address/link.tsx';
import { askedGateway } from '../api/gateway.ts';
import { asked } from '../api/ledger.ts';
import { tellsOf, useLiveSignal } from '../api/live-signal.ts';
import { useSession } from '../api/session.ts';
import type { PageView } from './views.ts';

const AGAIN_MS = 10_000;

export function Rail({ views }: { readonly views: readonly PageView[] }) {
  const { path } = useAddress();
  const Waiting = useSession().plane === 'ledger' ? WaitingCalls : WaitingTurns;
  return (
    <nav
      aria-label="Views"
      className="relative flex w-40 shrink-0 flex-col gap-px border-r border-line bg-raised p-2 max-lg:w-12 max-sm:order-last max-sm:w-full max-sm:flex-row max-sm:overflow-x-auto max-sm:border-t max-sm:border-r-0 max-sm:p-0"
    >
      {views.map(({ id, title, icon: Icon }) => {
        const isHere = path[0] === id;
        return (
          <Link
            key={id}
            to={{ path: [id] }}
            aria-current={isHere ? 'page' : undefined}
            title={title}
            className={`flex h-8 items-center gap-2 rounded-4 px-2 max-sm:h-12 max-sm:min-w-16 max-sm:flex-col max-sm:justify-center max-sm:gap-0 max-sm:rounded-none ${isHere ? 'bg-selected' : 'text-dim hover:bg-hover hover:text-ink'}`}
          >
            <Icon />
            <span className="max-sm:text-12 sm:max-lg:sr-only">{title}</span>
            {id === 'approvals' && <Waiting />}
          </Link>
        );
      })}
    </nav>
  );
}

/** Calls that wait for a person. */
function WaitingCalls() {
  const { data, refetch } = useQuery({
    ...asked('approvals', { query: { state: 'pending' } }),
    refetchInterval: AGAIN_MS,
  });
  useLiveSignal((signal) => {
    if (tellsOf(signal, 'approval')) void refetch();
  });
  return <Count count={data?.rows.length ?? 0} />;
}

/** Turns that wait at a gateway, which has no stream of events. */
function WaitingTurns() {
  const { data } = useQuery({
    ...askedGateway('approvals', { query: { state: 'pending' } }),
    refetchInterval: AGAIN_MS,
  });
  return <Count count={data?.approvals.length ?? 0} />;
}

function Count({ count }: { readonly count: number }) {
  return count === 0 ? null : (
    <span
      className="ml-auto rounded-4 bg-accent px-1 text-12 text-on-accent max-lg:ml-0 max-sm:absolute max-sm:translate-x-4 max-sm:-translate-y-3"
      aria-label={`${count} waiting`}
    >
      {count}
    </span>
  );
}
