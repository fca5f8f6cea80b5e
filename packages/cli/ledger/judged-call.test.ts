// A call of an agent in this process, with its judgements, from the run to the ledger and to what is shown of it.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure, parseEventLine } from '@subluminal/contracts';
import { closed } from '@subluminal/contracts/shape';
import { compileBundle } from '@subluminal/core/policy';
import { ownTool } from '@subluminal/plane/agent-run';
import { startAgentRuns } from '@subluminal/plane/apps/agent-run';
import { loadConfig } from '@subluminal/plane/config';
import { sha256 } from '@subluminal/plane/crypto';
import { openSqliteReader } from '@subluminal/plane/ledger';
import picocolors from 'picocolors';
import { expect, onTestFinished, test } from 'vitest';
import { callRecord, findCall, recordDocument } from './call-record.ts';
import { callText } from './call-text.ts';
import { makeLedger } from './made.test-support.ts';

const ping = ownTool({
  name: 'ping',
  description: 'Answers.',
  input: closed({}),
  call: () => Promise.resolve({ text: 'pong' }),
});
const consents = { by: 'egress', verdict: 'ALLOW', reason: 'nothing leaves' } as const;
const refuses = {
  by: 'guardian',
  verdict: 'BLOCK',
  reason: 'nobody asked\nfor it',
  model: 'small',
} as const;

/** The events of a run with one judged call. */
async function recordedRun(folder: string) {
  const env = { HOME: folder, SUB_HOME: join(folder, '.subluminal') };
  const file = join(folder, 'events.jsonl');
  const loaded = await loadConfig({ env, cwd: folder, flags: { events: `file:${file}` } });
  if (!loaded.ok) throw new Error('no settings');
  const warn = (): void => {};
  const runs = await startAgentRuns({ loaded, env, cwd: folder, agentId: 'steward', warn });
  if (isFailure(runs)) throw new Error(runs.message);
  const policy = await compileBundle(
    {
      policy_id: 'agent',
      version: '1',
      mode: 'control',
      defaults: { decision_on_error: 'BLOCK' },
      selectors: {},
      rules: [],
    },
    { sha256 },
  );
  const servers = [{ name: 'own', tools: [ping] }];
  const run = runs.open({ policy, policyPaths: [], servers });
  const about = { reasoning: 'r', task: 't', channel: 'terminal' };
  const judgements = [consents, refuses];
  await run.call({ server: 'own', tool: 'ping', args: {}, key: 'k', judgements, about });
  await runs.close();
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((line) => {
    const parsed = parseEventLine(line);
    if (!parsed.ok) throw new Error(line);
    return parsed.event;
  });
}

test('`sub show` tells who judged a call, and how', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sub-judged-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'ledger.db');
  await makeLedger(file, await recordedRun(folder));
  const reader = await openSqliteReader({ file });
  onTestFinished(() => reader.close());
  const call = await findCall(reader, 'last', undefined);
  if (call === undefined || isFailure(call)) throw new Error('no call');
  const record = await callRecord(reader, call);
  const out = {
    columns: 200,
    colors: picocolors.createColors(false),
    write: () => {},
    isTerminal: false,
  };
  const text = callText(record, out);
  expect(text).toContain('BLOCK by gate:judgement, JUDGEMENT_BLOCKED');
  expect(text).toContain('judged     BLOCK by guardian (small): nobody asked\\u{a}for it');
  expect(text).toContain('judged     ALLOW by egress: nothing leaves');
  const { judgements, why, gates } = recordDocument(record);
  expect(judgements).toEqual([refuses, consents]);
  expect(why).toContain('judged');
  expect(gates).toMatchObject([{ gate: 'judgement', outcome: 'stopped' }]);
});
