// A policy that changes while a session runs.
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { POLICY_HELD_BACK } from '@subluminal/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../e2e/sub.ts';
import { verifies } from '../requirements.ts';
import { hangUp, type ServedRig, startServed } from './driver.ts';
import { nextJson } from './lines.ts';
import { answer, bundle, call, DENIES } from './messages.ts';
import { until } from './proc.ts';

beforeAll(() => ensureBuilt());

function denying(tool: string, version: string): string {
  const rule = `
  - rule_id: no-${tool}
    kind: deny
    enabled: true
    severity: warn
    match: { tool_name: { glob: ["${tool}"] } }
    effect: { action: BLOCK, message: Not this one. }
`;
  return bundle(rule, version);
}

/** What is not the default: a change that loosens is taken at once. */
const ANY = { SUB_POLICY_RELOAD: 'any' };

const BUDGET = (version: string) =>
  bundle(
    `
  - rule_id: two
    kind: budget
    enabled: true
    severity: warn
    match: { tool_name: { glob: ["*"] } }
    effect: { budget: { scope: run, limit_calls: 2, on_exceed: BLOCK } }
`,
    version,
  );

/** Resolves when the shim works by this version. */
async function loaded(rig: ServedRig, version: string): Promise<void> {
  await until(
    () =>
      rig
        .events()
        .find((event) => event.type === 'policy_loaded' && event.policy.policy_version === version),
    `version ${version} of the policy`,
  );
}

async function expectPasses(rig: ServedRig, id: number, tool: string): Promise<void> {
  rig.say(call(id, tool));
  expect(String(await rig.server.heard.next())).toBe(call(id, tool));
  await rig.server.write(answer(id));
  expect(String(await rig.heard.next())).toBe(answer(id));
}

async function expectRefused(rig: ServedRig, id: number, tool: string): Promise<unknown> {
  rig.say(call(id, tool));
  const told: unknown = await nextJson(rig.heard);
  expect(told).toMatchObject({ id, error: { code: -32081 } });
  return told;
}

describe('a policy file that changes', () => {
  it('holds from the next call on, without a restart', async () => {
    verifies('IP-2.6');
    const rig = await startServed({ policy: DENIES, env: ANY });
    await expectPasses(rig, 1, 'other');
    writeFileSync(rig.policyPath, denying('other', '2'));
    await loaded(rig, '2');
    expect(await expectRefused(rig, 2, 'other')).toMatchObject({
      error: { data: { subluminal: { rule_id: 'no-other', policy: { policy_version: '2' } } } },
    });
    await expectPasses(rig, 3, 'denied');
    expect((await hangUp(rig)).exit).toEqual({ code: 0, signal: null });
    const loads = rig.events().filter(({ type }) => type === 'policy_loaded');
    expect(loads).toMatchObject([
      { policy: { policy_version: '1' }, reload: false },
      { policy: { policy_version: '2' }, reload: true },
    ]);
  });

  it('may be replaced by a rename, as editors do', async () => {
    verifies('IP-2.6');
    const rig = await startServed({ policy: DENIES, env: ANY });
    await expectPasses(rig, 1, 'other');
    writeFileSync(`${rig.policyPath}.new`, denying('other', '2'));
    renameSync(`${rig.policyPath}.new`, rig.policyPath);
    await loaded(rig, '2');
    await expectRefused(rig, 2, 'other');
  });

  it('keeps the last good policy when it is broken, and says so', async () => {
    verifies('IP-2.6');
    const rig = await startServed({ policy: DENIES, env: ANY });
    await expectRefused(rig, 1, 'denied');
    writeFileSync(rig.policyPath, 'rules: [ this is no bundle\n');
    await rig.told(/"message":.*policy.*(?:SUB_BUNDLE|broken).*\}\n/);
    await expectRefused(rig, 2, 'denied');
    await expectPasses(rig, 3, 'other');
    writeFileSync(rig.policyPath, denying('other', '3'));
    await loaded(rig, '3');
    await expectRefused(rig, 4, 'other');
  });

  it('keeps the last good policy when it is gone, and says so', async () => {
    verifies('IP-2.6');
    const rig = await startServed({ policy: DENIES, env: ANY });
    rmSync(rig.policyPath);
    await rig.told(/does not exist/);
    await expectRefused(rig, 1, 'denied');
    writeFileSync(rig.policyPath, denying('other', '2'));
    await loaded(rig, '2');
    await expectPasses(rig, 2, 'denied');
  });

  it('keeps what was counted', async () => {
    verifies('IP-2.6');
    const rig = await startServed({ policy: BUDGET('1') });
    await expectPasses(rig, 1, 'a');
    writeFileSync(rig.policyPath, BUDGET('2'));
    await loaded(rig, '2');
    await expectPasses(rig, 2, 'a');
    await expectRefused(rig, 3, 'a');
  });

  it('lets nothing more pass, unless that was asked for', async () => {
    const rig = await startServed({ policy: DENIES });
    await expectRefused(rig, 1, 'denied');
    writeFileSync(rig.policyPath, bundle(' []\n', '2'));
    await rig.told(/would let more pass/);
    await expectRefused(rig, 2, 'denied');
    const [, rules = ''] = DENIES.split('rules:');
    const more = denying('other', '3').split('rules:')[1] ?? '';
    writeFileSync(rig.policyPath, bundle(`${rules.trimEnd()}${more}`, '3'));
    await loaded(rig, '3');
    await expectRefused(rig, 3, 'other');
    await expectRefused(rig, 4, 'denied');
    await hangUp(rig);
    const reasons = rig.events().flatMap((event) => {
      return event.type === 'shim_health' ? [event.health.reason] : [];
    });
    expect(reasons).toContain(POLICY_HELD_BACK);
  });
});
