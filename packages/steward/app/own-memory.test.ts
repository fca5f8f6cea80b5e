import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openJournal } from '../journal/index.ts';
import { RecalledRuns } from '../loop/index.ts';
import { type Memory, openMemory } from '../memory/index.ts';
import { knowledge } from './knowledge.ts';
import { lastMemoryAudit, startMemoryAudit } from './open-own-memory.ts';

let home: string;
let memory: Memory;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'sub-own-memory-'));
  memory = await openMemory({ home });
});
afterEach(async () => {
  await memory.close();
  rmSync(home, { recursive: true });
});

test('what is recalled from outside taints the run, and what the agent saw itself does not', async () => {
  const outside = 'The dentist writes from ana@example.com.';
  await memory.add({ text: outside, provenance: 'external_content' });
  await memory.add({ text: 'The dentist is in Ghent.', provenance: 'agent_observation' });
  const tainted: string[] = [];
  const remember = async ({ text }: { readonly text: string }) => void tainted.push(text);
  const skills = { matching: () => '' };
  const recalled = new RecalledRuns();
  const known = knowledge({ identity: () => '', memory, skills, recalled });
  const text = await known.recall('dentist', { id: 'run-1', remember });
  expect(text).toContain('Ghent');
  expect([recalled.hasAny('run-1'), recalled.hasOutside('run-1')]).toEqual([true, true]);
  expect(tainted).toEqual([outside]);
});

test('the memory is audited once a day, over restarts', async () => {
  const journal = await openJournal(join(home, 'journal.db'), Date.now);
  if (isFailure(journal)) throw new Error(journal.message);
  let nowMs = Date.parse('2026-11-18T09:00:00Z');
  const parts = { memory, journal, nowMs: () => nowMs, log: () => undefined };
  const first = new Promise<void>((audited) => {
    const stop = journal.onChange(() => {
      stop();
      audited();
    });
  });
  const audit = startMemoryAudit(parts);
  await first;
  await audit.stop();
  expect(lastMemoryAudit(journal)).toEqual({ at_ms: nowMs, findings: 0 });
  nowMs += 3_600_000;
  await startMemoryAudit(parts).stop();
  expect(lastMemoryAudit(journal)).toEqual({ at_ms: nowMs - 3_600_000, findings: 0 });
  journal.close();
});
