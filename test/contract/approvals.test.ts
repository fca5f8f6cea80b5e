// Calls that wait for a person: the built shim holds them, the built `sub approvals` answers.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EventOf } from '@subluminal/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../e2e/sub.ts';
import { verifies } from '../requirements.ts';
import { approvingAt, asking } from './approving.ts';
import { expectNothingLeft, expectStillWorks, hangUp, type Rig, startServed } from './driver.ts';
import { nextJson } from './lines.ts';
import { answer, bundle, call, notification } from './messages.ts';
import { until } from './proc.ts';

beforeAll(ensureBuilt);

/** A rig whose call 1 waits for a person. */
async function startHeld(policy = asking()) {
  const rig = await startServed({ policy });
  const people = approvingAt(rig.folder);
  rig.say(call(1, 'pay', '{"sum":5}'));
  const { request } = await people.pending();
  return { rig, people, request, id: request.id };
}

function refusedAs(reason_code: string, id = 1) {
  return { id, error: { code: -32081, data: { subluminal: { reason_code } } } };
}

function approvalsOf(rig: Rig): readonly EventOf<'approval'>['approval'][] {
  return rig.events().flatMap((event) => (event.type === 'approval' ? [event.approval] : []));
}

describe('a held call', () => {
  it('passes unchanged when a person approves it, and both are on record', async () => {
    const { rig, people, request, id } = await startHeld();
    expect(request).toMatchObject({
      wait: 'hold',
      call: {
        server: 'puppet',
        tool: 'pay',
        rule_id: 'ask',
        args: { sum: 5 },
        args_complete: true,
        reason: 'Paying needs a person.',
      },
    });
    // Nothing of it has gone on, and others pass meanwhile.
    await expectStillWorks(rig);
    const said = await people.sub('approvals', 'approve', id);
    expect(said).toMatchObject({ code: 0, stderr: '' });
    expect(String(await rig.server.heard.next())).toBe(call(1, 'pay', '{"sum":5}'));
    await rig.server.write(answer(1));
    expect(String(await rig.heard.next())).toBe(answer(1));
    expect(await hangUp(rig)).toMatchObject({ rest: [] });
    expect(approvalsOf(rig)).toMatchObject([
      { id, rule_id: 'ask', state: 'asked' },
      { id, rule_id: 'ask', state: 'approved', channel: 'terminal' },
    ]);
    expect(approvalsOf(rig)[1]?.by).toBeTruthy();
    expect(rig.events().find(({ type }) => type === 'tool_call_decision')).toMatchObject({
      decision: { action: 'ALLOW' },
    });
  });

  it('is refused at once in a CI job where nobody is there, and says so', async () => {
    const rig = await startServed({
      policy: asking(),
      env: { SUB_ENV: 'ci' },
      hasNoTerminal: true,
    });
    rig.say(call(1, 'pay', '{"sum":5}'));
    const refused = await nextJson(rig.heard);
    expect(refused).toMatchObject({
      id: 1,
      error: { data: { subluminal: { reason_code: 'APPROVAL_UNAVAILABLE' } } },
    });
    expect(JSON.stringify(refused)).toContain('nobody is there');
    expect(JSON.stringify(refused)).toContain('Go on without this call');
    await expectStillWorks(rig);
    await hangUp(rig);
    expect(approvalsOf(rig)).toEqual([]);
  });

  it('waits in a CI job where a program may answer', async () => {
    const env = { SUB_ENV: 'ci', SUB_LEDGER_HTTP: '127.0.0.1:18790' };
    const rig = await startServed({ policy: asking(), env, hasNoTerminal: true });
    rig.say(call(1, 'pay', '{"sum":5}'));
    const { request } = await approvingAt(rig.folder).pending();
    expect(request).toMatchObject({ wait: 'hold' });
    await hangUp(rig);
  });

  it('is refused when a person rejects it', async () => {
    const { rig, people, id } = await startHeld();
    await people.sub('approvals', 'reject', id, '--note', 'not on Friday');
    const refused = await nextJson(rig.heard);
    expect(refused).toMatchObject(refusedAs('APPROVAL_REJECTED'));
    expect(JSON.stringify(refused)).toContain('In their words: \\"not on Friday\\"');
    expect((await people.sub('approvals', 'show', id)).stdout).not.toContain('and waits');
    await expectStillWorks(rig);
    await hangUp(rig);
    expect(approvalsOf(rig).map(({ state }) => state)).toEqual(['asked', 'rejected']);
  });

  it('is refused when its time is up, and cannot be approved afterwards', async () => {
    const { rig, people, id } = await startHeld(asking(300));
    expect(await nextJson(rig.heard)).toMatchObject(refusedAs('APPROVAL_TIMEOUT'));
    const { outcome } = await people.inState(id, 'expired');
    expect(outcome).toMatchObject({ by: 'time', channel: 'clock' });
    expect(await people.sub('approvals', 'approve', id)).toMatchObject({ code: 1 });
    await expectStillWorks(rig);
    await hangUp(rig);
    expect(approvalsOf(rig).map(({ state }) => state)).toEqual(['asked', 'expired']);
  });

  it('that the client cancels is withdrawn, and the server hears of the cancellation', async () => {
    verifies('EC-STDIO-031');
    const { rig, people, id } = await startHeld();
    const cancel = notification('notifications/cancelled', '{"requestId":1}');
    rig.say(cancel);
    expect(String(await rig.server.heard.next())).toBe(cancel);
    await people.inState(id, 'cancelled');
    expect(await people.sub('approvals', 'approve', id)).toMatchObject({ code: 1 });
    await expectStillWorks(rig);
    expect(await hangUp(rig)).toMatchObject({ rest: [] });
    expect(approvalsOf(rig).map(({ state }) => state)).toEqual(['asked', 'cancelled']);
  });

  it('ends with a clean answer when the agent says nothing more', async () => {
    const { rig, people, id } = await startHeld();
    const { rest } = await hangUp(rig);
    expect(rest.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      refusedAs('APPROVAL_CANCELLED'),
    ]);
    await people.inState(id, 'cancelled');
    await expectNothingLeft(rig);
  });

  it('is withdrawn by Ctrl+C, which ends the shim', async () => {
    verifies('EC-STDIO-022');
    const { rig, people, id } = await startHeld();
    rig.shim.kill('SIGINT');
    expect(await rig.exit).toEqual({ code: 130, signal: null });
    await people.inState(id, 'cancelled');
    await expectNothingLeft(rig);
  });

  it('of a shim that was killed never passes: its request runs out', async () => {
    const { rig, people, id } = await startHeld(asking(1_500));
    rig.shim.kill('SIGKILL');
    await rig.exit;
    const { outcome } = await people.inState(id, 'expired');
    expect(outcome).toBeNull();
    expect(await people.sub('approvals', 'approve', id)).toMatchObject({ code: 1 });
    const again = await startServed({ policy: asking(300), env: { SUB_HOME: people.home } });
    again.say(call(1, 'pay', '{"sum":5}'));
    expect(await nextJson(again.heard)).toMatchObject(refusedAs('APPROVAL_TIMEOUT'));
    await hangUp(again);
  });

  it('is answered once, however many people answer at once', async () => {
    const { rig, people, id } = await startHeld();
    const said = await Promise.all([
      people.sub('approvals', 'approve', id),
      people.sub('approvals', 'reject', id),
      people.sub('approvals', 'approve', id),
    ]);
    expect(said.filter(({ code }) => code === 0)).toHaveLength(1);
    expect(said.filter(({ code }) => code === 1)).toHaveLength(2);
    const entry = people.desk.queue.get(id);
    if (entry.kind !== 'request') throw new Error('the request is gone');
    const isApproved = entry.state === 'approved';
    const heard = isApproved ? [String(await rig.server.heard.next())] : [];
    expect(heard).toEqual(isApproved ? [call(1, 'pay', '{"sum":5}')] : []);
    if (isApproved) await rig.server.write(answer(1));
    const told = isApproved ? { id: 1, result: {} } : refusedAs('APPROVAL_REJECTED');
    expect(await nextJson(rig.heard)).toMatchObject(told);
    await expectStillWorks(rig);
    expect(await hangUp(rig)).toMatchObject({ rest: [] });
    expect(approvalsOf(rig).map(({ state }) => state)).toEqual(['asked', entry.state]);
  });

  it('does not land inside of a long message that the agent is sending', async () => {
    const { rig, people, id } = await startHeld();
    const padding = 'x'.repeat(2 * 1024 * 1024);
    const long = `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":"${padding}"}}\n`;
    rig.say(long.slice(0, -100));
    // Its head is on its way to the server by now, or will be before the approval is.
    await people.sub('approvals', 'approve', id);
    rig.say(long.slice(-100));
    const heard = new Set<string>();
    for (let lines = 0; lines < 2; lines++) heard.add(String(await rig.server.heard.next()));
    expect(heard.has(long)).toBe(true);
    expect(heard.has(call(1, 'pay', '{"sum":5}'))).toBe(true);
    rig.shim.kill('SIGKILL');
  });
});

describe('a call that may be tried again', () => {
  it('passes once it is approved, once', async () => {
    const rig = await startServed({ policy: asking() });
    const people = approvingAt(rig.folder);
    rig.say(call(1, 'hint_pay'));
    const hinted = await nextJson(rig.heard);
    const { request } = await people.pending();
    const short = request.id.slice(-8);
    expect(hinted).toMatchObject({ id: 1, error: { code: -32083 } });
    expect(JSON.stringify(hinted)).toContain('ask the user to run `sub approvals`');
    expect(JSON.stringify(hinted)).not.toContain(short);
    // Nobody is asked twice, and the agent hears of no id.
    rig.say(call(2, 'hint_pay'));
    expect(JSON.stringify(await nextJson(rig.heard))).not.toContain(short);
    expect(await people.sub('approvals', 'approve', short)).toMatchObject({ code: 0 });
    rig.say(call(3, 'hint_pay'));
    expect(String(await rig.server.heard.next())).toBe(call(3, 'hint_pay'));
    rig.say(call(4, 'hint_pay'));
    expect(await nextJson(rig.heard)).toMatchObject({ id: 4, error: { code: -32083 } });
    await rig.server.write(answer(3));
    await rig.heard.next();
    await hangUp(rig);
    const approved = approvalsOf(rig).filter(({ state }) => state === 'approved');
    expect(approved.length).toBeGreaterThan(0);
    expect(approved.at(-1)).toMatchObject({ id: request.id, channel: 'terminal' });
    expect(approved.at(-1)?.grant_id).toBeTruthy();
  });
});

describe('a grant', () => {
  it('for the run covers the same call, and no other', async () => {
    const { rig, people, id } = await startHeld();
    expect(await people.sub('approvals', 'approve', id, '--run')).toMatchObject({ code: 0 });
    await rig.server.heard.next();
    rig.say(call(2, 'pay', '{"sum":5}'));
    expect(String(await rig.server.heard.next())).toBe(call(2, 'pay', '{"sum":5}'));
    rig.say(call(3, 'pay', '{"sum":6}'));
    expect((await people.pending()).request.call.args).toEqual({ sum: 6 });
    const [grant] = grantsOf(people.desk);
    await people.sub('grants', 'revoke', grant?.grant.id ?? '');
    rig.say(call(4, 'pay', '{"sum":5}'));
    rig.say(call(5, 'free'));
    // Call 4 waits again: what came behind it overtakes it.
    expect(String(await rig.server.heard.next())).toBe(call(5, 'free'));
    rig.shim.kill('SIGKILL');
  });
});

function grantsOf({ grants }: ReturnType<typeof approvingAt>['desk']) {
  const all = grants.list();
  if ('kind' in all) throw new Error(all.message);
  return all.found;
}

describe('where nobody can be asked', () => {
  /** A file where the folder of the queue should be. */
  async function startUnusable(profile: 'production' | 'development') {
    const rig = await startServed({ policy: asking(), profile });
    const home = join(rig.folder, 'home');
    mkdirSync(home, { recursive: true, mode: 0o700 });
    writeFileSync(join(home, 'approvals'), '');
    return rig;
  }

  it('production refuses at once, and says why', async () => {
    verifies('EC-STDIO-021');
    const rig = await startUnusable('production');
    rig.say(call(1, 'pay') + call(2, 'hint_pay'));
    expect(await nextJson(rig.heard)).toMatchObject(refusedAs('APPROVAL_UNAVAILABLE'));
    expect(await nextJson(rig.heard)).toMatchObject(refusedAs('APPROVAL_UNAVAILABLE', 2));
    await rig.told(/nobody could be asked/);
    await expectStillWorks(rig);
    await hangUp(rig);
  });

  it('development approves by itself, and that is on record', async () => {
    verifies('EC-STDIO-021', 'F-023');
    const rig = await startUnusable('development');
    rig.say(call(1, 'pay'));
    expect(String(await rig.server.heard.next())).toBe(call(1, 'pay'));
    await rig.server.write(answer(1));
    await rig.heard.next();
    await hangUp(rig);
    expect(approvalsOf(rig)).toEqual([{ rule_id: 'ask', state: 'auto_approved' }]);
  });
});

it('a secret in the arguments is not in what people are shown, nor in any file of the home', async () => {
  const rig = await startServed({ policy: asking() });
  const people = approvingAt(rig.folder);
  const secret = `ghp_${'a1B2'.repeat(9)}`;
  rig.say(call(1, 'pay', `{"token":"${secret}","sum":5}`));
  const { request } = await people.pending();
  expect(request.call.args).toMatchObject({ sum: 5 });
  const shown = await people.sub('approvals', 'show', request.id);
  expect(shown.stdout + shown.stderr).not.toContain(secret);
  const files = readdirSync(people.home, { recursive: true, withFileTypes: true });
  for (const file of files.filter((one) => one.isFile())) {
    expect(readFileSync(join(file.parentPath, file.name), 'latin1')).not.toContain(secret);
  }
  // The server gets it as it was sent.
  await people.sub('approvals', 'approve', request.id);
  expect(String(await rig.server.heard.next())).toContain(secret);
  rig.shim.kill('SIGKILL');
});

it('a policy that begins to ask while it runs is obeyed', async () => {
  const rig = await startServed({ policy: bundle(' []\n') });
  const people = approvingAt(rig.folder);
  writeFileSync(rig.policyPath, asking());
  await expectEvent(rig, 'policy_loaded', 2);
  rig.say(call(1, 'pay'));
  const { request } = await people.pending();
  await people.sub('approvals', 'approve', request.id);
  expect(String(await rig.server.heard.next())).toBe(call(1, 'pay'));
  rig.shim.kill('SIGKILL');
});

async function expectEvent(rig: Rig, type: string, count: number): Promise<void> {
  const seen = () => rig.events().filter((event) => event.type === type).length;
  await until(() => (seen() >= count ? true : undefined), `${count} of ${type}`);
}
