// One call with all that is known about it, and the ledger itself, for the API.
import { type ApiLedger, tableFailure } from '@subluminal/contracts';
import type { RecordWorkbench } from '@subluminal/plane/api';
import { RETENTION_AT, type WorkbenchHost } from '@subluminal/plane/daemon';
import { callRecord, recordDocument } from '../ledger/call-record.ts';
import { PruneJobs } from './prune-jobs.ts';
import { VerifyJobs } from './verify-jobs.ts';

export function recordWorkbench(host: WorkbenchHost): RecordWorkbench {
  const { store } = host.ledger;
  const verifies = new VerifyJobs(host);
  const prunes = new PruneJobs(host);
  return {
    call: async (runId, callId) => {
      const call = await store.call(runId, callId);
      if (call === undefined) return tableFailure('SUB_API_NOT_FOUND');
      return recordDocument(await callRecord(store, call));
    },
    ledger: async () => ({
      ...(await ledgerState(host)),
      verify: verifies.last,
      prune: prunes.last,
    }),
    verify: (input) => verifies.start(input),
    prune: (input) => prunes.start(input),
  };
}

async function ledgerState({
  home: { file, config },
  ledger: { store },
}: WorkbenchHost): Promise<Omit<ApiLedger, 'verify' | 'prune'>> {
  const { seq, hash } = await store.tip();
  const head = await store.lastHead();
  const retainedAt = Number((await store.meta(RETENTION_AT)) ?? Number.NaN);
  return {
    ledger_id: await store.ledgerId(),
    file,
    ...(await store.size()),
    events: seq,
    tip: { seq, hash: Buffer.from(hash).toString('hex') },
    head:
      head === undefined
        ? null
        : { n: head.n, seq: head.seq, created_at_ms: head.createdAtMs, key_id: head.keyId },
    retention: {
      days: config['ledger.retention_days'],
      previews_days: config['ledger.retention_previews_days'],
      last_at_ms: Number.isSafeInteger(retainedAt) ? retainedAt : null,
    },
  };
}
