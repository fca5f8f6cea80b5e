// What an operator can see: the metrics of the hub, and the log of the shim.
import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../e2e/sub.ts';
import { verifies } from '../requirements.ts';
import { hangUp, QUICK, type Rig, startRig, startServed } from './driver.ts';
import { realHub } from './hubs.ts';
import { jsonOf, nextJson } from './lines.ts';
import { answer, call, DENIES, initialize, initialized, notification, ping } from './messages.ts';

beforeAll(ensureBuilt);

const BROKEN = '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}\n';

/** The JSON lines on stderr. */
function logOf(rig: Rig): readonly { readonly [name: string]: unknown }[] {
  const lines = rig.stderr().split('\n');
  return lines
    .filter((line) => line.startsWith('{'))
    .map((line) => jsonOf(line) as { readonly [name: string]: unknown });
}

/** One message of each kind, and what is refused. */
async function converse(rig: Awaited<ReturnType<typeof startServed>>): Promise<void> {
  const { server, heard } = rig;
  rig.say(initialize(1, '2025-06-18'));
  await server.heard.next();
  await server.write(answer(1, initialized('2025-06-18')));
  await heard.next();
  rig.say(notification('notifications/initialized') + notification('x/hunter2'));
  await server.heard.next();
  await server.heard.next();
  rig.say(call(2, 'read') + call(3, 'denied_tool'));
  expect(String(await server.heard.next())).toBe(call(2, 'read'));
  await server.write(answer(2));
  expect(await heard.next()).toBeDefined();
  expect(await heard.next()).toBeDefined();
}

describe('the metrics of a hub', () => {
  it('tell what has passed through its shims, also of one that has left', async () => {
    verifies('NFR-002.1', 'NFR-002');
    const { env, metrics, joined } = await realHub();
    const rig = await startServed({ policy: DENIES, env: { ...QUICK, ...env } });
    await converse(rig);
    rig.say(BROKEN);
    await rig.told(/duplicate_key/);
    await joined();
    const before = await metrics();
    expect(before).toContain('thoughtgate_stdio_active_servers 1\n');
    expect(before).toContain('server_state{server_id="puppet",state="running"} 1\n');
    await hangUp(rig);
    const lines = (await metrics()).split('\n');
    const up = 'messages_total{server_id="puppet",direction="agent_to_server",method=';
    const down = 'messages_total{server_id="puppet",direction="server_to_agent",method=';
    const decided = 'governance_decisions_total{server_id="puppet",profile="production",decision=';
    const wanted = [
      `${up}"initialize"} 1`,
      `${up}"notifications/initialized"} 1`,
      `${up}"tools/call"} 2`,
      `${up}"other"} 1`,
      `${up}"invalid"} 1`,
      `${down}"response"} 2`,
      `${decided}"forward"} 1`,
      `${decided}"deny"} 1`,
      'framing_errors_total{server_id="puppet",error_type="duplicate_key"} 1',
      'server_state{server_id="puppet",state="stopped"} 1',
      'approval_latency_seconds_count{server_id="puppet"} 0',
      'active_servers 0',
    ];
    for (const prefix of ['subluminal_', 'thoughtgate_stdio_']) {
      expect(lines).toEqual(expect.arrayContaining(wanted.map((line) => `${prefix}${line}`)));
    }
    expect(lines.join('\n')).not.toMatch(/hunter2|denied_tool/);
  });

  it('tell what development has let pass', async () => {
    verifies('NFR-002.1', 'F-023');
    const { env, metrics } = await realHub();
    const rig = await startServed({
      policy: DENIES,
      env: { ...QUICK, ...env },
      profile: 'development',
    });
    rig.say(call(1, 'denied_tool'));
    await rig.server.heard.next();
    await rig.server.write(answer(1));
    await rig.heard.next();
    await hangUp(rig);
    expect(await metrics()).toContain(
      'governance_decisions_total{server_id="puppet",profile="development",decision="WOULD_BLOCK"} 1\n',
    );
  });

  it('tell of a server that never started', async () => {
    const { env, metrics, joined } = await realHub();
    const rig = await startRig({ env: { ...QUICK, ...env }, command: ['/nonexistent/server'] });
    await rig.told(/could not be started/);
    await joined();
    await expect
      .poll(metrics, { timeout: 10_000 })
      .toContain('subluminal_server_state{server_id="puppet",state="failed"} 1\n');
    await hangUp(rig);
  });
});

describe('the log of a shim', () => {
  const INFO = { SUB_LOG_LEVEL: 'info' };

  it('has a line for each decided call when asked for', async () => {
    verifies('NFR-002.2', 'NFR-002', 'F-024');
    const rig = await startServed({ policy: DENIES, env: INFO });
    await converse(rig);
    await hangUp(rig);
    const common = {
      level: 'info',
      component: 'shim',
      server_id: 'puppet',
      profile: 'production',
      direction: 'agent_to_server',
      method: 'tools/call',
    };
    const [first, second, ...others] = logOf(rig);
    expect(others).toEqual([]);
    expect(first).toMatchObject({
      ...common,
      tool: 'read',
      message_id: '2',
      governance_decision: 'forward',
      forwarded: true,
    });
    expect(second).toMatchObject({
      ...common,
      tool: 'denied_tool',
      message_id: '3',
      governance_decision: 'deny',
      policy_reason: 'Denied by the test.',
      forwarded: false,
    });
    for (const line of [first, second]) {
      expect(new Date(String(line?.['timestamp'])).toISOString()).toBe(line?.['timestamp']);
      expect(Number(line?.['latency_us'])).toBeGreaterThan(0);
    }
  });

  it('says in development what would have been blocked, why, and that it passed', async () => {
    verifies('NFR-002.3', 'F-023', 'F-024');
    const rig = await startServed({ policy: DENIES, profile: 'development' });
    rig.say(call('"req-43"', 'denied_tool') + call(2, 'read'));
    await rig.server.heard.next();
    await rig.server.heard.next();
    // A fault of framing passes as well, and is told of in the same way.
    rig.say(BROKEN);
    expect(String(await rig.server.heard.next())).toBe(BROKEN);
    await rig.told(/WOULD_REJECT|WOULD_DROP/);
    await hangUp(rig);
    const [blocked, framing, ...others] = logOf(rig);
    expect(others).toEqual([]);
    expect(blocked).toMatchObject({
      level: 'warn',
      component: 'shim',
      server_id: 'puppet',
      tool: 'denied_tool',
      message_id: '"req-43"',
      governance_decision: 'WOULD_BLOCK',
      profile: 'development',
      policy_reason: 'Denied by the test.',
      forwarded: true,
    });
    expect(framing).toMatchObject({ level: 'warn', profile: 'development', from: 'agent' });
    expect(String(framing?.['what'])).toMatch(/^WOULD_/);
  });

  it('says nothing of calls unless asked, and nothing at all but errors when told so', async () => {
    const quiet = await startServed({ policy: DENIES });
    await converse(quiet);
    await hangUp(quiet);
    expect(quiet.stderr()).toBe('');
    const silent = await startServed({ env: { SUB_LOG_LEVEL: 'error' } });
    silent.say(BROKEN + ping(5));
    expect(String(await silent.server.heard.next())).toBe(ping(5));
    await silent.server.write(answer(5));
    await hangUp(silent);
    expect(silent.stderr()).toBe('');
  });

  it('has a line for each message with --verbose', async () => {
    const rig = await startServed({ flags: ['--verbose'] });
    rig.say(ping(1));
    await rig.server.heard.next();
    await rig.server.write(answer(1));
    await rig.heard.next();
    await hangUp(rig);
    expect(logOf(rig)).toMatchObject([
      { level: 'debug', direction: 'agent_to_server', method: 'ping' },
      { level: 'debug', direction: 'server_to_agent', method: 'response' },
    ]);
  });

  it('shows no secret and no escape, wherever an agent puts them', async () => {
    const token = `ghp_${'aB3'.repeat(12)}`;
    const rig = await startServed({ policy: DENIES, env: { SUB_LOG_LEVEL: 'debug' } });
    rig.say(call(`"${token}"`, 'denied\\u001b[31m', `{"token":"${token}"}`));
    expect(await nextJson(rig.heard)).toMatchObject({ error: {} });
    rig.say(call(2, `denied${token}`) + notification(`x/${token}`));
    await rig.heard.next();
    await rig.server.heard.next();
    await hangUp(rig);
    expect(logOf(rig)).toHaveLength(5);
    expect(rig.stderr()).not.toContain(token);
    expect(rig.stderr()).not.toContain('\u001b');
  });

  it('has no level but those that there are', async () => {
    const rig = await startRig({ flags: ['--log-level', 'loud'] });
    expect((await rig.exit).code).toBe(2);
    await rig.silent;
    expect(rig.stderr()).toContain('log.level');
  });
});
