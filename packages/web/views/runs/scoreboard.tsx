// All runs, the newest first: who did what, what was refused, and what it cost.
import type { ApiRun } from '@subluminal/contracts';
import { useState } from 'react';
import { decodePart, goTo, useAddress } from '../../address/address.ts';
import { Button, EmptyState } from '../../parts/buttons.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { useShortcut } from '../../parts/shortcuts.ts';
import { ViewHead } from '../../parts/view-head.tsx';
import { runColumns } from './columns.tsx';
import { RunsFilters, useRunsFilter } from './filters.tsx';
import { useRunRows } from './run-rows.ts';

const COMPARED = 2;

export function Scoreboard() {
  const { filter, spanMs, isFiltered, flags } = useRunsFilter();
  const { rows, activity, isLoading, cause, askMore } = useRunRows(filter, spanMs);
  const { chosen, toggle } = useChosen();
  const [reached, setReached] = useState<string>();
  useShortcut('x', () => {
    if (reached !== undefined) toggle(reached);
  });
  return (
    <>
      <ViewHead title="Runs" command={`sub query --runs${flags}`}>
        <div className="flex flex-wrap items-center gap-2 py-1">
          <RunsFilters />
          <CompareButton chosen={chosen} />
        </div>
      </ViewHead>
      {cause !== null && <FailureText cause={cause} />}
      <div className="min-h-0 flex-1">
        <DataTable
          label="Runs"
          columns={runColumns({ activity, chosen, toggle })}
          rows={rows}
          rowKey={runKey}
          onOpen={openRun}
          onReach={(run) => setReached(run.run_id)}
          onEnd={askMore}
          empty={isLoading || cause !== null ? null : <NoRuns isFiltered={isFiltered} />}
        />
      </div>
    </>
  );
}

const runKey = ({ run_id }: ApiRun) => run_id;
const openRun = ({ run_id }: ApiRun) => goTo({ path: ['runs', run_id] });

/** Up to two runs to compare, in the address; a third takes the place of the first. */
function useChosen() {
  const { params } = useAddress();
  const chosen = (params['compare'] ?? '').split(',').filter(Boolean).map(decodePart);
  const toggle = (runId: string) => {
    const next = chosen.includes(runId)
      ? chosen.filter((one) => one !== runId)
      : [...chosen, runId].slice(-COMPARED);
    goTo({ params: { compare: next.map(encodeURIComponent).join(',') } }, 'replace');
  };
  return { chosen, toggle };
}

function CompareButton({ chosen }: { readonly chosen: readonly string[] }) {
  const isReady = chosen.length === COMPARED;
  // The older one comes first: ids begin with the time.
  const compare = () => goTo({ path: ['runs', 'compare', ...chosen.toSorted()] });
  useShortcut('c', () => {
    if (isReady) compare();
  });
  return (
    <Button
      disabled={!isReady}
      look={isReady ? 'primary' : 'plain'}
      onClick={compare}
      title={isReady ? 'Compare the two runs (c)' : 'Choose two runs to compare them (x)'}
    >
      Compare{chosen.length > 0 && ` ${chosen.length} of ${COMPARED}`}
    </Button>
  );
}

function NoRuns({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered ? (
    <EmptyState title="No run fits the filter.">
      Take a part of it out, or ask for a longer time.
    </EmptyState>
  ) : (
    <EmptyState title="No runs yet." command="sub import --hooks">
      A run is one job of one agent, listed from its first call on. The command puts the servers and
      tools of your agents behind Subluminal; then work as before.
    </EmptyState>
  );
}
