// One call with all that is known about it, for the API.
import { tableFailure } from '@subluminal/contracts';
import type { RecordWorkbench } from '@subluminal/plane/api';
import type { WorkbenchHost } from '@subluminal/plane/daemon';
import { callRecord, recordDocument } from '../ledger/call-record.ts';

export function recordWorkbench({ ledger: { store } }: WorkbenchHost): RecordWorkbench {
  return {
    call: async (runId, callId) => {
      const call = await store.call(runId, callId);
      if (call === undefined) return tableFailure('SUB_API_NOT_FOUND');
      return recordDocument(await callRecord(store, call));
    },
  };
}
