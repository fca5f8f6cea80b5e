import type { CallDetail } from '@subluminal/plane/ledger';
import { expect, test } from 'vitest';
import { type CallRecord, whyNotWhole } from './call-record.ts';

const WHOLE = { args_preview: '{}', result_preview: 'x', redaction_flags: 0, decision: 'ALLOW' };

function record(parts: Partial<CallDetail>): CallRecord {
  const call = { ...WHOLE, status: 'OK', ...parts } as CallDetail;
  return {
    call,
    run: undefined,
    decision: undefined,
    approvals: [],
    turnEnd: undefined,
    askedCalls: [],
    askedBy: undefined,
    events: [],
    hasMore: false,
  };
}

const PREVIEWS_OFF = 'not kept: previews are off, or it is larger than limits.max_inspect_bytes';
const DROPPED = 'not kept: left out because too many events were waiting';
const CONTENT = { action: 'block', findings: ['secret:aws-access-key'] };

test.each<[Partial<CallDetail>, string | undefined]>([
  [{}, undefined],
  [{ redaction_flags: 1 }, 'cut: the rest was not kept'],
  [{ args_preview: null, redaction_flags: 1 }, PREVIEWS_OFF],
  [{ args_preview: null, redaction_flags: 5 }, DROPPED],
  [{ args_preview: null, redaction_flags: 17 }, 'not kept: pruned'],
  [
    { args_preview: null, redaction_flags: 1, args_content: CONTENT },
    'not kept because of what was found in it',
  ],
])('of arguments that the ledger has as %j is said: %s', (parts, words) => {
  expect(whyNotWhole(record(parts), 'args')).toBe(words);
});

test.each<[Partial<CallDetail>, string | undefined]>([
  [{}, undefined],
  [{ redaction_flags: 2 }, 'cut: the rest was not kept'],
  [{ result_preview: null, redaction_flags: 32 }, 'not kept: pruned'],
  [{ result_preview: null, redaction_flags: 8 }, DROPPED],
  [{ result_preview: null, decision: 'BLOCK' }, 'none: the call was refused'],
  [{ result_preview: null, status: null }, 'none: the call has no end on record'],
  [{ result_preview: null, result_content: CONTENT }, 'not kept because of what was found in it'],
  [{ result_preview: null }, 'none'],
])('of a result that the ledger has as %j is said: %s', (parts, words) => {
  expect(whyNotWhole(record(parts), 'result')).toBe(words);
});
