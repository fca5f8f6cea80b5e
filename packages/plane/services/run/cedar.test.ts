import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Decision, type EvaluateRequest, isFailure } from '@subluminal/contracts';
import { compileBundle, sealSnapshot } from '@subluminal/core/policy';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sha256 } from '../../os/crypto/index.ts';
import { loadConfig } from '../../stores/config/index.ts';
import { createHubClient, type Judge, openHub } from '../hub/index.ts';
import { openRunCedar } from './cedar.ts';

const ALL = '@id("all") permit (principal, action, resource);';
const NO_PUSH = `${ALL}
@id("no-push")
@message("No pushes.")
@hint("Open a pull request.")
forbid (principal, action, resource == Tool::"git::push");`;

let home = '';
let said: string[] = [];
let heard: (() => void)[] = [];
const ends: (() => unknown)[] = [];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'sub-run-cedar-'));
  mkdirSync(join(home, 'cedar'));
  said = [];
  heard = [];
});
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
  rmSync(home, { recursive: true, force: true });
});

function put(text: string): void {
  writeFileSync(join(home, 'cedar', 'a.cedar'), text);
}

function tell(text: string): void {
  said.push(text);
  for (const hear of heard) hear();
}

/** Resolves when somebody has been told this. */
function toldOf(words: string): Promise<string> {
  return new Promise((resolve) => {
    const look = () => {
      const found = said.find((text) => text.includes(words));
      if (found !== undefined) resolve(found);
    };
    heard.push(look);
    look();
  });
}

async function opened(env: { readonly [name: string]: string } = {}) {
  const vars = { SUB_HOME: home, SUB_CEDAR_POLICIES: 'cedar', ...env };
  const loaded = await loadConfig({ env: vars, cwd: home });
  if (!loaded.ok) throw new Error('configuration');
  return openRunCedar({ config: loaded.config, tell });
}

let recorded: (readonly [string, string])[] = [];

async function judgeOf(env: { readonly [name: string]: string } = {}): Promise<Judge> {
  const cedar = await opened(env);
  if (cedar === undefined || 'kind' in cedar) throw new Error('no Cedar policies');
  ends.push(() => cedar.close());
  recorded = [];
  cedar.recordTo((...news) => recorded.push(news));
  return cedar.judge;
}

/** A hub with this judge on a socket, asked by a shim. */
async function asking(judge: Judge) {
  const bundle = { policy_id: 'p', version: '1', selectors: {}, rules: [] };
  const defaults = { decision_on_error: 'BLOCK' } as const;
  const snapshot = await compileBundle({ ...bundle, mode: 'control', defaults }, { sha256 });
  const path = join(home, 'hub.sock');
  const nowMs = () => Date.now();
  const hub = await openHub({
    runId: 'run-1',
    nowMs,
    sha256,
    judge,
    listen: { kind: 'unix', path },
  });
  if (isFailure(hub)) throw new Error(hub.message);
  ends.push(() => hub.close());
  const who = { runId: 'run-1', shimId: 's', serverId: 'git' };
  const counts = { calls_total: 0, calls_allowed: 0, calls_blocked: 0 };
  const summary = () => ({ ...counts, calls_throttled: 0, errors_total: 0 });
  const client = createHubClient({ endpoint: hub.endpoint, ...who, summary });
  if (isFailure(client)) throw new Error(client.message);
  ends.push(() => client.close());
  let calls = 0;
  return async (tool_name: string): Promise<Decision | undefined> => {
    const request: EvaluateRequest = {
      server_id: 'git',
      direction: 'agent_to_server',
      method: 'tools/call',
      params: { name: tool_name, arguments: {} },
      message_type: 'request',
      profile: 'production',
      run_id: 'run-1',
      identity: { agent_id: 'agent', client: 'custom', env: 'dev' },
      call_id: `call-${++calls}`,
      tool_name,
      args_hash: 'a'.repeat(64),
      policy_hash: snapshot.ref.policy_hash,
      bytes_in: 2,
    };
    const answer = await client.evaluate(request, () => sealSnapshot(snapshot));
    return answer.kind === 'answer' ? answer.response.call_decision : undefined;
  };
}

describe('the Cedar policies of a run', () => {
  test('decide at the hub, and follow their files until the new ones are broken', async () => {
    put(NO_PUSH);
    const ask = await asking(await judgeOf({ SUB_POLICY_RELOAD: 'any' }));
    expect(await ask('push')).toMatchObject({
      action: 'REJECT_WITH_HINT',
      rule_id: 'cedar:no-push',
      reason_code: 'CEDAR_DENIED',
      summary: 'No pushes.',
      hint: { hint_text: 'Open a pull request.' },
    });
    expect(await ask('pull')).toMatchObject({ action: 'ALLOW' });
    put('permit (oops');
    expect(await toldOf('stay in use')).toContain('the Cedar policies have changed and are broken');
    expect(said[0]).toMatch(/a\.cedar:1:\d+: error: .* \[SUB_CEDAR_SYNTAX\]$/);
    expect(recorded).toEqual([['degraded', expect.stringContaining('are broken')]]);
    expect(await ask('push')).toMatchObject({ rule_id: 'cedar:no-push' });
    put(ALL);
    await toldOf('from now on');
    expect(recorded.at(-1)).toEqual(['ok', expect.stringContaining('from now on')]);
    expect(await ask('push')).toMatchObject({ action: 'ALLOW' });
  });

  test('are not read again where only tightening changes are taken', async () => {
    put(NO_PUSH);
    const cedar = await opened({ SUB_POLICY_RELOAD: 'tighten' });
    if (cedar === undefined || 'kind' in cedar) throw new Error('no Cedar policies');
    const ask = await asking(cedar.judge);
    put(ALL);
    expect(await ask('push')).toMatchObject({ rule_id: 'cedar:no-push' });
    // Whoever is asked after the end says no.
    await cedar.close();
    expect(await ask('pull')).toMatchObject({ reason_code: 'CEDAR_UNAVAILABLE' });
  });

  test('that are broken keep the agent from starting in production only', async () => {
    put('permit (oops');
    expect(await opened()).toMatchObject({ kind: 'failure', code: 'SUB_CEDAR_FILES' });
    expect(said).toEqual([expect.stringMatching(/a\.cedar:1:\d+: error: /)]);
    expect(await opened({ SUB_PROFILE: 'development' })).toBeUndefined();
    expect(said.at(-1)).toContain('We go on without them.');
  });

  test('without a setting are none', async () => {
    expect(await opened({ SUB_CEDAR_POLICIES: '' })).toBeUndefined();
    expect(said).toEqual([]);
  });
});
