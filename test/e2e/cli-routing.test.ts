// `sub routing replay` on the records of a gateway.
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@subluminal/contracts';
import { chooseChain, type Endpoint, type Pool } from '@subluminal/core/routing';
import { openGatewayStore } from '@subluminal/gateway/store';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { sampleRecord, sampleRouting } from '../../packages/gateway/store/testing/sample-rows.ts';
import { verifies } from '../requirements.ts';
import { askSub } from './ask-sub.ts';
import { ensureBuilt } from './sub.ts';

const TRACE = '0198c1de-7a40-7c3e-8b7e-1f0a5d2c9b11';
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

let folder: string;
let env: { [name: string]: string };
beforeAll(() => ensureBuilt());
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sub-cli-routing-'));
  const home = join(folder, 'sub');
  env = { PATH: process.env['PATH'] ?? '', HOME: folder, SUB_HOME: home, SUB_RUN_ID: '' };
  mkdirSync(home, { recursive: true, mode: 0o700 });
  await askSub(['gateway', 'init', 'config'], { cwd: folder, env });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const replay = (...args: readonly string[]) => {
  return askSub(['routing', 'replay', TRACE, ...args], { cwd: folder, env });
};

/** A choice between two members, as a gateway records it. */
function recordedChoice(): JsonObject {
  const endpoint = (id: string): Endpoint => ({
    id,
    provider: 'openai_compat',
    url: `https://${id}.test/v1`,
    teamKeyRefs: {},
    dataResidency: 'eu',
    trustTier: 'vendor',
    supports: new Set(['tools']),
    deployments: [],
    concurrencyMax: 4,
  });
  const pool: Pool = {
    name: 'standard',
    members: ['one', 'two'].map((endpointId) => ({ endpointId, model: 'm', weight: 1 })),
    attemptsMax: 2,
    timeoutMs: 1_000,
    outputTokensMax: 100,
  };
  const { record } = chooseChain({
    pools: new Map([[pool.name, pool]]),
    endpoints: new Map(['one', 'two'].map((id) => [id, endpoint(id)])),
    pool: 'standard',
    constraints: { capabilities: [] },
    seedKey: 'session-1',
    isOpen: () => false,
    sha256,
  });
  return { ...record };
}

async function recordTurn(choice: JsonObject): Promise<void> {
  const store = await openGatewayStore({ database: join(folder, 'sub/gateway.db') });
  const routing = [sampleRouting({ traceId: TRACE, tenantId: 'default', attemptNo: 1, choice })];
  await store.records.write(sampleRecord({ routing }));
  await store.close();
}

test('a choice that is replayed comes out as it was recorded', async () => {
  verifies('R-13');
  await recordTurn(recordedChoice());
  const { code, stdout, stderr } = await replay('--config', 'config');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(
    /^Attempt 1: as recorded: (one:m \(standard\), then two|two:m \(standard\), then one):m \(standard\)\n1 choice replayed, all as recorded\.\n$/,
  );
  const json = await replay('--config', 'config', '--json');
  expect(JSON.parse(json.stdout)).toMatchObject({
    trace: TRACE,
    same: true,
    choices: [{ attempt: 1, kind: 'same' }],
  });
});

test('a record that somebody changed is told, with what differs', async () => {
  await recordTurn({ ...recordedChoice(), seed_key: 'session-2' });
  const { code, stdout } = await replay('--config', 'config');
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /^The seed of pool standard is [0-9a-f]{32}, and [0-9a-f]{32} was recorded\.$/m,
  );
  expect(stdout).toMatch(/1 choice replayed, 1 otherwise than recorded\.\n$/);
});

test('a record that is none is told', async () => {
  await recordTurn({ seed: 1 });
  expect(await replay('--config', 'config')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('the record cannot be read') as string,
  });
});

test('a turn that is not there is an error with a fix', async () => {
  await recordTurn(recordedChoice());
  const unknown = await askSub(['routing', 'replay', 'nothing', '--config', 'config'], {
    cwd: folder,
    env,
  });
  expect(unknown).toMatchObject({ code: 2, stdout: '' });
  expect(unknown.stderr).toContain('SUB_TRACE_UNKNOWN');
});
