// What is known about one call, over the API: a real ledger, and answers of the shape of the contract.
import type { ApiCallRecord } from '@subluminal/contracts';
import { expect, it } from 'vitest';
import { Shim } from '../../plane/stores/ledger/testing/events.ts';
import { pageHome } from './page-home.test-support.ts';

const BLOCK = { action: 'BLOCK', rule_id: 'no-env', summary: 'Not that file' } as const;
const WOULD = {
  would: { action: 'BLOCK', rule_id: 'gate:pins', reason_code: 'PIN_CHANGED', summary: 'Changed.' },
} as const;

it('tells why each call was decided as it was, with rules, gates, approvals and events', async () => {
  const { live, get } = await pageHome();
  const shim = new Shim('s', { run: 'run-1', tool: 'read' });
  const trace = [
    { rule_id: 'no-env', kind: 'deny', outcome: 'decided', tally: null, note: null },
  ] as const;
  const secret = {
    action: 'block',
    findings: ['secret:aws-access-key', 'taint:recipient'],
  } as const;
  const asks = { rule_id: 'ask', by: 'ada', channel: 'web' } as const;
  await live.ingest(
    shim.runStart(),
    ...shim.callWith('plain', { path: '/a' }),
    shim.start('blocked'),
    shim.decision('blocked', BLOCK, { trace: [...trace] }),
    shim.start('leak'),
    shim.decision('leak', { ...BLOCK, rule_id: 'gate:content' }, { content: secret }),
    shim.start('approved'),
    shim.approval('approved', { rule_id: 'ask', state: 'asked', id: 'q' }),
    shim.approval('approved', { ...asks, state: 'approved', waited_ms: 5 }),
    shim.decision('approved'),
    shim.start('waits'),
    shim.approval('waits', { rule_id: 'ask', state: 'asked', id: 'r' }),
    shim.start('spared'),
    shim.decision('spared', WOULD),
    shim.start('young'),
  );
  const record = async (id: string) =>
    (await get('record', `calls/run-1/${id}/record`)) as ApiCallRecord;
  expect(await record('plain')).toMatchObject({
    call: { call_id: 'plain', tool_name: 'read' },
    run: { run_id: 'run-1', calls: { total: 7 } },
    why: 'Allowed: No rule decided.',
    arguments: { path: '/a' },
    not_whole: { arguments: null, result: null },
    decision: { action: 'ALLOW' },
    trace: null,
    gates: [],
    approvals: [],
    asked_by: null,
    events: [{ event: { type: 'tool_call_start' } }, {}, { event: { type: 'tool_call_end' } }],
    has_more_events: false,
  });
  expect(await record('blocked')).toMatchObject({
    why: 'Blocked by rule no-env: Not that file.',
    trace,
    not_whole: { result: 'none: the call was refused' },
  });
  expect(await record('leak')).toMatchObject({
    why: 'Blocked by the gate content: Not that file.',
    gates: [
      { gate: 'taint', about: 'arguments', outcome: 'stopped', findings: ['taint:recipient'] },
      { gate: 'content', about: 'arguments', findings: ['secret:aws-access-key'] },
    ],
  });
  expect(await record('approved')).toMatchObject({
    why: 'Allowed, because ada approved it, as rule ask asks.',
    approvals: [{ state: 'asked' }, { state: 'approved', by: 'ada', waited_ms: 5 }],
  });
  expect((await record('waits')).why).toBe('Waits for a person: rule ask asks for an approval.');
  expect(await record('spared')).toMatchObject({
    why: 'Allowed, because the policy only observes: enforced, it would be blocked by the gate pins: Changed.',
    gates: [{ gate: 'pins', about: 'call', outcome: 'would_stop', findings: [] }],
  });
  expect((await record('young')).why).toBe('Nothing is decided yet.');
  await get('record', 'calls/run-1/nothing/record', 404);
});
