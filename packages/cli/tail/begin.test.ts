import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteReader, type StoreReader } from '@subluminal/plane/ledger';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeLedger } from '../ledger/made.test-support.ts';
import { beginningOf } from './begin.ts';
import type { TailFilter } from './filter.ts';
import { blocked, decision, end, localTs, runStart, start } from './recorded.test-support.ts';

let folder = '';
let reader: StoreReader;

/** Calls of three events each behind the start of the run: c1 is 2 to 4, c2 is 5 to 7, and so on. */
const CALLS = Array.from({ length: 20 }, (_, index) => {
  const call = { call_id: `c${index + 1}`, tool_name: index === 4 ? 'fetch' : 'push' };
  const at = { ts: localTs(index + 1) };
  const made = index % 10 === 9 ? blocked : decision;
  return [start({ ...call, seq: index + 1 }, at), made({}, call, at), end({}, call, at)];
});

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sub-begin-'));
  const file = join(folder, 'ledger.db');
  await makeLedger(file, [runStart(), ...CALLS.flat()]);
  reader = await openSqliteReader({ file });
});
afterAll(async () => {
  await reader.close();
  rmSync(folder, { recursive: true, force: true });
});

test.each<[string, TailFilter, number, number]>([
  ['at the end without a backlog', {}, 0, 61],
  ['before the last calls', {}, 3, 61 - 9],
  ['at the beginning when there are fewer', {}, 10_000, 1],
  ['before the last calls that fit', { toolName: 'fetch' }, 3, 13],
  ['before the last ones that were refused', { decision: 'REFUSED' }, 1, 58],
  ['at the end when none fits', { serverName: 'nobody' }, 3, 61],
  ['at a time', { fromMs: Date.parse(localTs(5)) }, 10, 13],
  ['at a time before all', { fromMs: 0 }, 10, 0],
  ['at a time after all', { fromMs: Date.parse(localTs(59)) }, 10, 61],
])('a tail begins %s', async (_, filter, backlog, afterSeq) => {
  expect(await beginningOf(reader, { filter, backlog })).toEqual({ afterSeq, tipSeq: 61 });
});
