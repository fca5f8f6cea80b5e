// The ledger itself: whether its chain holds, how much is in it, and what may go.
import type { ApiLedger } from '@subluminal/contracts';
import { useQuery } from '@tanstack/react-query';
import { asked } from '../../api/ledger.ts';
import { bytesText, countText } from '../../parts/amounts.ts';
import { FailureText } from '../../parts/failure-text.tsx';
import { Ago, Fact, FactList, Value } from '../../parts/texts.tsx';
import { ViewHead } from '../../parts/view-head.tsx';
import { PruneSection } from './prune-section.tsx';
import { VerifySection } from './verify-section.tsx';

const AGAIN_MS = 5_000;
const JOB_AGAIN_MS = 300;

export function LedgerView() {
  const { data, error, refetch } = useQuery({
    ...asked('ledger'),
    // A job that runs is looked at more often.
    refetchInterval: ({ state }) => (isBusy(state.data) ? JOB_AGAIN_MS : AGAIN_MS),
  });
  const again = () => void refetch();
  return (
    <>
      <ViewHead title="Ledger" command="sub ledger verify" />
      <div className="min-h-0 flex-1 overflow-auto p-3">
        {error !== null && <FailureText cause={error} />}
        {data !== undefined && (
          <div className="grid max-w-[1100px] gap-6 lg:grid-cols-2">
            <Contents ledger={data} />
            <div className="flex min-w-0 flex-col gap-6">
              <VerifySection job={data.verify} onChange={again} />
              <PruneSection job={data.prune} retention={data.retention} onChange={again} />
            </div>
          </div>
        )}
      </div>
    </>
  );
}

function isBusy(ledger: ApiLedger | undefined): boolean {
  return ledger?.verify?.state === 'running' || ledger?.prune?.state === 'running';
}

function Contents({ ledger }: { readonly ledger: ApiLedger }) {
  const { head, tip } = ledger;
  return (
    <section className="min-w-0">
      <h2 className="text-14">Contents</h2>
      <FactList>
        <Fact label="Events">
          {countText(ledger.events)}
          {ledger.pruned > 0 && (
            <span className="text-dim"> · {countText(ledger.pruned)} pruned</span>
          )}
        </Fact>
        <Fact label="Runs">{countText(ledger.runs)}</Fact>
        <Fact label="Calls and turns">{countText(ledger.calls)}</Fact>
        {ledger.rejected > 0 && <Fact label="Set aside">{countText(ledger.rejected)} lines</Fact>}
        <Fact label="From">
          {ledger.oldest_ms === null ? '—' : <Ago atMs={ledger.oldest_ms} />}
        </Fact>
        <Fact label="To">{ledger.newest_ms === null ? '—' : <Ago atMs={ledger.newest_ms} />}</Fact>
        <Fact label="Size">{ledger.size_bytes === null ? '—' : bytesText(ledger.size_bytes)}</Fact>
        {ledger.file !== null && (
          <Fact label="File">
            <Value text={ledger.file} />
          </Fact>
        )}
        <Fact label="Ledger">
          <Value text={ledger.ledger_id} />
        </Fact>
      </FactList>
      <h2 className="mt-6 text-14">Chain</h2>
      <FactList>
        <Fact label="Last event">
          {countText(tip.seq)} <Value text={tip.hash} lengthMax={24} />
        </Fact>
        <Fact label="Last signature">
          {head === null ? (
            <span className="text-dim">none yet</span>
          ) : (
            <>
              covers {countText(head.seq)} of {countText(tip.seq)},{' '}
              <Ago atMs={head.created_at_ms} />
            </>
          )}
        </Fact>
        {head !== null && (
          <Fact label="Signed by">
            <Value text={head.key_id} lengthMax={32} />
          </Fact>
        )}
      </FactList>
    </section>
  );
}
