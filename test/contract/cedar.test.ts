// Cedar policies over the calls of a run: the built `sub run`, a real hub, shims and servers.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt, runSub } from '../e2e/sub.ts';
import { hangUp, QUICK, startServed } from './driver.ts';
import { type Answer, eventually, type Home, homeOf, reasonOf } from './gated.ts';
import { nextJson } from './lines.ts';
import { answer, bundle, call } from './messages.ts';
import { until } from './proc.ts';
import { type Run, startRun } from './running.ts';

beforeAll(ensureBuilt);

const ALL = '@id("everyone")\npermit (principal, action, resource);\n';
const NO_PUSH = `@id("no-push")
@reason_code("NO_PUSH")
@message("Pushing is not allowed.")
@hint("Open a pull request.")
forbid (principal, action, resource == Tool::"git::push");
`;
const NO_DELETE = `@id("no-delete")
@message("Deleting is not allowed.")
forbid (principal, action, resource == Tool::"git::delete");
`;
const SERVERS = { git: { push: 'pushed', pull: 'pulled', delete: 'deleted' } };

/** Policies in a folder `cedar` beside the home. */
function cedarIn(home: Home): { readonly folder: string; write(text: string): void } {
  const folder = join(home.folder, 'cedar');
  mkdirSync(folder);
  return { folder, write: (text) => writeFileSync(join(folder, 'a.cedar'), text) };
}

async function runWith(text: string, flags: readonly string[] = [], reload = 'tighten') {
  const home = homeOf();
  const cedar = cedarIn(home);
  cedar.write(text);
  const all = ['--cedar', cedar.folder, ...flags];
  const env = { SUB_POLICY_RELOAD: reload };
  return { home, cedar, run: await startRun({ home, servers: SERVERS, flags: all, env }) };
}

const passes = (run: Run, tool: string) => run.call('git', tool).then(({ ok }) => ok || undefined);
const healthOf = (run: Run) =>
  run.events().flatMap((event) => (event.type === 'shim_health' ? [event.health] : []));
const refuses = (run: Run, tool: string) => run.call('git', tool).then(({ rule_id }) => rule_id);

describe('sub run --cedar', () => {
  it('stops what is forbidden with the words of the policy, and lets pass what is permitted', async () => {
    const { run, home, cedar } = await runWith(ALL + NO_PUSH);
    expect(await run.call('git', 'pull')).toMatchObject({ ok: true, text: 'pulled' });
    const refused = await run.call('git', 'push');
    expect(refused).toMatchObject({
      ok: false,
      action: 'REJECT_WITH_HINT',
      rule_id: 'cedar:no-push',
      reason_code: 'NO_PUSH',
    });
    expect(refused.message).toContain('Pushing is not allowed.');
    expect(refused.message).toContain('Open a pull request.');
    expect(run.asked('git')).toEqual([{ name: 'pull', args: {} }]);
    await run.end();
    const decided = run.events().flatMap((event) => {
      return event.type === 'tool_call_decision' ? [event.decision] : [];
    });
    expect(decided).toMatchObject([
      { action: 'ALLOW' },
      { action: 'REJECT_WITH_HINT', rule_id: 'cedar:no-push' },
    ]);

    writeFileSync(join(home.folder, 'policy.yaml'), bundle(' []\n'));
    const words = ['policy', 'explain', 'policy.yaml', '--cedar', cedar.folder];
    const asked = [...words, '--server', 'git', '--tool', 'push'];
    const env = { HOME: home.folder, ...home.env };
    const explained = await runSub(asked, { cwd: home.folder, env });
    expect(explained).toMatchObject({ code: 1 });
    expect(explained.stdout).toContain('REJECT_WITH_HINT by cedar:no-push');
    expect(explained.stdout).toMatch(/cedar no-push {2}forbid {2}.*a\.cedar:3/);
  });

  it('denies what nothing permits', async () => {
    const { run } = await runWith(NO_PUSH);
    const refused = await run.call('git', 'pull');
    expect(refused).toMatchObject({ ok: false, action: 'BLOCK', reason_code: 'CEDAR_DENIED' });
    expect(run.asked('git')).toEqual([]);
  });

  it('takes a good change while it runs; a broken one is told and changes nothing', async () => {
    const { run, cedar } = await runWith(ALL + NO_PUSH, [], 'any');
    expect(await refuses(run, 'push')).toBe('cedar:no-push');
    cedar.write(ALL + NO_DELETE);
    await eventually(() => passes(run, 'push'), 'the change');
    expect(await refuses(run, 'delete')).toBe('cedar:no-delete');
    cedar.write(`${ALL}forbi\n`);
    await until(
      () => /a\.cedar:3:\d+: error: .*SUB_CEDAR_SYNTAX/.exec(run.stderr()) ?? undefined,
      'the broken change to be told',
    );
    await until(
      () => healthOf(run).find(({ status }) => status === 'degraded'),
      'the broken change to be recorded',
    );
    expect(await refuses(run, 'delete')).toBe('cedar:no-delete');
    expect(await passes(run, 'push')).toBe(true);
    cedar.write(ALL);
    await eventually(() => passes(run, 'delete'), 'the mended change');
  });

  it('releases nothing that a rule refuses, and in development only tells', async () => {
    const home = homeOf();
    const cedar = cedarIn(home);
    cedar.write(ALL + NO_PUSH);
    const rule = `
  - rule_id: no-pull
    kind: deny
    enabled: true
    severity: warn
    match: { tool_name: { glob: ["pull"] } }
    effect: { action: BLOCK, message: No pulling. }
`;
    const flags = ['--cedar', cedar.folder, '--policy', home.write('policy.yaml', bundle(rule))];
    const strict = await startRun({ home, servers: SERVERS, flags });
    expect(await refuses(strict, 'pull')).toBe('no-pull');
    await strict.end();
    const dev = { home, servers: SERVERS, flags: [...flags, '--profile', 'development'] };
    const free = await startRun(dev);
    expect(await passes(free, 'push')).toBe(true);
    await free.end();
    const told = free.events().flatMap((event) => {
      return event.type === 'tool_call_decision' ? [event.decision.would?.rule_id] : [];
    });
    expect(told).toContain('cedar:no-push');
  });
});

describe('a shim without a hub, where policies are configured', () => {
  it('denies in production, and passes in development and says so', async () => {
    const home = homeOf();
    cedarIn(home).write(ALL);
    home.write('config.toml', `[cedar]\npolicies = "${join(home.folder, 'cedar')}"\n`);
    const env = { ...QUICK, ...home.env };
    const firm = await startServed({ env });
    firm.say(call(1, 'pull'));
    expect(reasonOf((await nextJson(firm.heard)) as Answer)).toBe('HUB_UNAVAILABLE');
    await hangUp(firm);
    expect(await firm.server.heard.rest()).toEqual([]);

    const free = await startServed({ env, profile: 'development' });
    free.say(call(1, 'pull'));
    await free.server.heard.next();
    await free.server.write(answer(1));
    await free.heard.next();
    await hangUp(free);
    expect(free.stderr()).toContain('WOULD_BLOCK');
    const decided = free.events().find(({ type }) => type === 'tool_call_decision');
    expect(decided).toMatchObject({
      decision: { action: 'ALLOW', would: { reason_code: 'HUB_UNAVAILABLE' } },
    });
  });
});
