import type { Event } from '@subluminal/contracts';
import { callArgsTest } from '@subluminal/plane/ledger';
import { expect, test } from 'vitest';
import { shownBy, type TailFilter } from './filter.ts';
import { CallFold } from './fold.ts';
import { blocked, end, localTs, runStart, start } from './recorded.test-support.ts';

const BOB = { run_id: 'run-2', agent_id: 'bob', principal: 'mia' };

const EVENTS: readonly Event[] = [
  runStart(),
  blocked({}, { call_id: 'blocked' }, { ts: localTs(1) }),
  blocked({ action: 'THROTTLE', backoff_ms: 1 }, { call_id: 'throttled' }, { ts: localTs(2) }),
  end({}, { call_id: 'unknown' }, { ts: localTs(3) }),
  end({}, { call_id: 'fetch', tool_name: 'fetch' }, { ts: localTs(4) }),
  end({}, { call_id: 'files', server_name: 'files' }, { ts: localTs(5) }),
  runStart({ run_id: 'run-2', principal: 'mia', ts: localTs(6) }),
  blocked({}, { call_id: 'other' }, { ...BOB, ts: localTs(7) }),
];

test.each<[string, TailFilter, readonly string[]]>([
  [
    'everything without a filter',
    {},
    ['run_start', 'blocked', 'throttled', 'unknown', 'fetch', 'files', 'run_start', 'other'],
  ],
  ['a run with its notices', { runId: 'run-2' }, ['run_start', 'other']],
  ['an agent', { agentId: 'bob' }, ['other']],
  ['a decision', { decision: 'THROTTLE' }, ['throttled']],
  ['every refusal', { decision: 'REFUSED' }, ['blocked', 'throttled', 'other']],
  ['a tool', { toolName: 'fetch' }, ['fetch']],
  ['a server', { serverName: 'files' }, ['files']],
  ['tools that a glob matches', { toolName: { glob: 'f?tch' } }, ['fetch']],
  ['a principal with its notices', { principal: { glob: 'm*' } }, ['run_start', 'other']],
  ['what fits all filters', { runId: 'run-1', decision: 'BLOCK' }, ['blocked']],
  ['what happened since', { fromMs: Date.parse(localTs(5)) }, ['files', 'run_start', 'other']],
])('the filter shows %s', (_, filter, wanted) => {
  const fold = new CallFold();
  const shown = EVENTS.flatMap((one) => fold.push(one)).filter(shownBy(filter));
  expect(shown.map((one) => (one.kind === 'call' ? one.call_id : one.event.type))).toEqual(wanted);
});

test('the filter shows calls whose arguments name a path or have a value', () => {
  const call = (call_id: string, args: object) =>
    start({ call_id, preview: { truncated: false, args_preview: JSON.stringify(args) } });
  const path = { paths: ['/app/src'], home: '/home/me', folder: '/app' };
  const ids = (filter: TailFilter) => {
    const fold = new CallFold({ fitsArgs: callArgsTest(filter) });
    const events = [
      runStart(),
      call('one', { path: 'src/x.ts' }),
      call('two', { command: 'rm /app/src/y.ts' }),
      call('three', { path: 'docs/x.md' }),
      start({ call_id: 'not-kept', preview: { truncated: true } }),
    ];
    const shown = [...events.flatMap((one) => fold.push(one)), ...fold.rest()];
    const kept = shown.filter(shownBy(filter));
    return kept.map((one) => (one.kind === 'call' ? one.call_id : one.event.type));
  };
  expect(ids({ path })).toEqual(['one', 'two']);
  expect(ids({ args: [{ name: 'path', glob: '*x*' }] })).toEqual(['one', 'three']);
  expect(ids({})).toEqual(['run_start', 'one', 'two', 'three', 'not-kept']);
});
