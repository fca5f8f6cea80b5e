// One run: its facts, what happened when, and every call.
import type { ApiRun } from '@subluminal/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { openPanel, useOpenCall } from '../../address/panel-address.ts';
import { asked } from '../../api/ledger.ts';
import { tellsOf, useLiveSignal } from '../../api/live-signal.ts';
import { EmptyState } from '../../parts/buttons.tsx';
import { useNow } from '../../parts/clock.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { runEndMs, runStartMs } from '../../parts/run-status.tsx';
import { shellWord } from '../../parts/shell-word.ts';
import { useApprovalWaits } from './approval-waits.ts';
import { callColumns } from './call-columns.tsx';
import { type CallBar, callLanes } from './lanes.ts';
import { RUN_CALLS_MAX, type RunCalls, useRunCalls } from './run-calls.ts';
import { RunHead } from './run-head.tsx';
import { timeAxis } from './time-axis.ts';
import { Timeline } from './timeline.tsx';

export function RunView({ runId }: { readonly runId: string }) {
  const run = useQuery({
    ...asked('run', { ids: { run_id: runId } }),
    placeholderData: keepPreviousData,
  });
  const calls = useRunCalls(runId);
  useLiveSignal((signal) => {
    const isOurs = signal.calls.some((call) => call.runId === runId);
    const isEdge = tellsOf(signal, 'run_start', 'run_end', 'shim_health');
    if (isOurs || isEdge) void run.refetch({ cancelRefetch: false });
  });
  const cause = run.error ?? calls.error;
  return (
    <>
      {run.data !== undefined && <RunHead run={run.data} />}
      {cause !== null && <FailureText cause={cause} />}
      {run.data !== undefined && calls.data !== undefined && (
        <RunBody run={run.data} known={calls.data} />
      )}
    </>
  );
}

/** The end of the run; while it goes on, now. */
function useEndMs(run: ApiRun): number {
  const nowMs = useNow();
  return runEndMs(run) ?? nowMs;
}

function RunBody({ run, known }: { readonly run: ApiRun; readonly known: RunCalls }) {
  const opened = useOpenCall();
  const selected = opened?.runId === run.run_id ? opened.callId : undefined;
  const [reached, setReached] = useState<string>();
  const [isFolding, setFolding] = useState(true);
  const endMs = useEndMs(run);
  const waits = useApprovalWaits(run.run_id, known.calls, endMs);
  const lanes = useMemo(
    () => callLanes({ calls: known.calls, waits, nowMs: endMs }),
    [known.calls, waits, endMs],
  );
  const startMs = Math.min(runStartMs(run), lanes.bars[0]?.fromMs ?? Number.POSITIVE_INFINITY);
  const axis = useMemo(() => {
    const toMs = lanes.bars.reduce((last, bar) => Math.max(last, bar.toMs), endMs);
    return timeAxis({ fromMs: startMs, toMs }, lanes.bars, isFolding);
  }, [lanes, startMs, endMs, isFolding]);
  const columns = useMemo(() => callColumns(startMs), [startMs]);
  const open = (callId: string) => openPanel('call', run.run_id, callId);
  if (lanes.bars.length === 0) return <NoCalls run={run} />;
  return (
    <>
      <Timeline
        {...{ lanes, axis, startMs, isFolding, reached, onOpen: open }}
        onFold={setFolding}
        selected={selected}
      />
      {known.isCut && (
        <p className="px-3 py-1 text-dim">
          The run has more calls: the last {RUN_CALLS_MAX.toLocaleString('en')} are shown.
        </p>
      )}
      <div className="min-h-40 flex-1">
        <DataTable
          label="Calls of the run"
          columns={columns}
          rows={lanes.bars}
          rowKey={barKey}
          selected={selected}
          onOpen={({ call }) => open(call.call_id)}
          onReach={({ call }) => setReached(call.call_id)}
        />
      </div>
    </>
  );
}

const barKey = ({ call }: CallBar) => call.call_id;

function NoCalls({ run }: { readonly run: ApiRun }) {
  return (
    <EmptyState
      title={run.status === null ? 'No calls yet.' : 'The run made no calls.'}
      command={`sub show ${shellWord(run.run_id, 'RUN')}`}
    >
      {run.status === null
        ? 'They stand here as soon as the agent makes one.'
        : 'It has ended, or its events were pruned.'}
    </EmptyState>
  );
}
