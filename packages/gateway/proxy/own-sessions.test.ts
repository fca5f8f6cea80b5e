import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { loadConfig } from '@subluminal/plane/config';
import { ensurePrivateFolder } from '@subluminal/plane/os';
import { offSink } from '@subluminal/plane/sink';
import { expect, onTestFinished, test } from 'vitest';
import { ownUpstreams } from '../local/upstreams.ts';
import { coreWires, type TurnRequest } from '../turns/index.ts';
import { OwnSessions } from './own-sessions.ts';
import { RepoReader } from './repo-facts.ts';
import { SessionRuns } from './session-runs.ts';

const PRODUCER = {
  run_id: 'proxy',
  agent_id: 'proxy',
  client: 'unknown',
  env: 'dev',
  source: { host_id: 'h', proc_id: 'p', shim_id: 's' },
} as const;
const PEER = {
  uid: undefined,
  pid: undefined,
  start: undefined,
  cwd: undefined,
  hostRun: undefined,
};

function turn(): TurnRequest {
  const wire = 'anthropic_messages';
  const body = Buffer.from('{"model":"m","messages":[{"role":"user","content":"Hello?"}]}');
  const outline = coreWires.outline(wire, body);
  if (isFailure(outline)) throw new Error(outline.message);
  const { signal } = new AbortController();
  const headers = { 'x-api-key': 'sk-ant-mine', 'session-id': 's-1' };
  const rest = { traceId: 't', kind: 'answer', path: '/anthropic/v1/messages' } as const;
  return { ...rest, wire, headers, body, outline, receivedMs: 0, signal };
}

test('a session that could not be opened is opened by its next turn', async () => {
  const home = mkdtempSync(join(tmpdir(), 'sub-own-sessions-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const env = { SUB_HOME: home, HOME: home };
  const loaded = await loadConfig({ env, cwd: home });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const { config, paths } = loaded;
  ensurePrivateFolder(paths.run);
  const upstreams = ownUpstreams({}, undefined);
  if (isFailure(upstreams)) throw new Error(upstreams.message);
  let isFull = true;
  const write = () => {
    if (isFull) throw new Error('the disk is full');
  };
  const sink = { ...offSink(), write };
  const log: string[] = [];
  const tell = (line: string) => log.push(line);
  const runs = new SessionRuns({ producer: PRODUCER, sink, runDir: paths.run, warn: tell });
  onTestFinished(() => runs.close());
  const repos = new RepoReader();
  const settings = { config, paths, prices: [], hasChannel: false, tell, userHome: home };
  const sessions = new OwnSessions({ ...settings, runs, repos, upstreams, judge: undefined });
  const governor = sessions.governor(PEER);
  expect(await governor.begin(turn())).toMatchObject({ refusal: { kind: 'unavailable' } });
  expect(log.join('\n')).toContain('the disk is full');
  isFull = false;
  expect(await governor.begin(turn())).toMatchObject({ kind: 'send' });
  expect(runs.list()).toMatchObject([{ session_id: 's-1', turns: 1 }]);
});
