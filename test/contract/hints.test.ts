// Hints that become rules: listed, shown, and taken up by a session that goes on.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ensureBuilt, runSub } from '../e2e/sub.ts';
import { verifies } from '../requirements.ts';
import { approvingAt, asking } from './approving.ts';
import { hangUp, type ServedRig, startServed } from './driver.ts';
import { nextJson } from './lines.ts';
import { answer, call, ping } from './messages.ts';
import { endBearing } from './proc.ts';

beforeAll(ensureBuilt);

const POLICY = asking(
  600_000,
  `
  # Nothing is dropped here.
  - rule_id: no-drop
    kind: deny
    enabled: true
    severity: warn
    match: { tool_name: { glob: ["drop"] } } # all of them
    effect: { action: BLOCK, message: No., hint: { hint_text: "Archive it\\u001b[2J instead." } }
`,
);
const HINTED = (id: number) => ({ id, error: { code: -32083 } });

/** A session whose call 1 was refused with a hint, on record in a ledger. */
async function hinted(tool: string) {
  const env = { SUB_POLICY_RELOAD: 'any' };
  const rig = await startServed({ policy: POLICY, flags: ['--events', 'ledger'], env });
  const people = approvingAt(rig.folder);
  rig.say(call(1, tool, '{"sum":5}'));
  expect(await nextJson(rig.heard)).toMatchObject(HINTED(1));
  onTestFinished(() => {
    // The daemon that the shim has started.
    endBearing([people.home]);
  });
  const hint = await firstHint(people);
  return { rig, people, id: hint.id, hint };
}

/** The hint, as soon as it has reached the ledger. */
async function firstHint(people: ReturnType<typeof approvingAt>): Promise<{ readonly id: string }> {
  for (;;) {
    const { stdout } = await people.sub('hints', '--json');
    const { hints = [] } = JSON.parse(stdout) as { readonly hints?: readonly { id: string }[] };
    const [hint] = hints;
    if (hint !== undefined) return hint;
  }
}

/** Whether this call passes. The server hears the call, or what is said behind it. */
async function passes(rig: ServedRig, id: number, line: string): Promise<boolean> {
  rig.say(line + ping(id + 1_000));
  const heard = String(await rig.server.heard.next());
  const isPassed = heard === line;
  if (isPassed) await rig.server.heard.next();
  const told = isPassed ? HINTED(id) : await nextJson(rig.heard);
  expect(told).toMatchObject(HINTED(id));
  return isPassed;
}

describe('sub hints', () => {
  it('lists what agents were told, harmlessly', async () => {
    const { rig, people, id, hint } = await hinted('drop');
    expect(hint).toMatchObject({
      rule_id: 'no-drop',
      server_name: 'puppet',
      tool_name: 'drop',
      args_preview: '{"sum":5}',
      hint: { hint_text: 'Archive it\u001b[2J instead.' },
    });
    const { stdout } = await people.sub('hints', '--run', 'last');
    expect(stdout).toContain(`${id.slice(-8)}  `);
    expect(stdout).toMatch(/puppet\/drop\s+\S+\s+no-drop\s+Archive it/);
    expect(stdout.replaceAll('\n', '')).not.toMatch(/\p{C}/u);
    await hangUp(rig);
    await people.sub('ledgerd', '--stop');
  });
});

describe('a hint that is promoted', () => {
  it('to the session becomes a grant, and the same call passes from then on', async () => {
    verifies('SL-10.3');
    const { rig, people, id } = await hinted('hint_pay');
    const shown = await people.sub('hints', 'promote', id, '--session', '--dry-run');
    expect(shown.stdout).toContain('With exactly the arguments that were shown');
    expect((await people.sub('grants')).stdout).toBe('Nothing is granted.\n');
    const done = await people.sub('hints', 'promote', id.slice(-8), '--session', '--yes');
    expect(done).toMatchObject({ code: 0, stderr: '' });
    const words = (text: string) => text.split('\n').slice(1, 4);
    expect(words(done.stdout)).toEqual(words(shown.stdout));
    expect(words((await people.sub('grants')).stdout)).toEqual(words(shown.stdout));
    for (const next of [2, 3]) {
      expect(await passes(rig, next, call(next, 'hint_pay', '{"sum":5}'))).toBe(true);
    }
    expect(await passes(rig, 4, call(4, 'hint_pay', '{"sum":6}'))).toBe(false);
    await hangUp(rig);
    await people.sub('ledgerd', '--stop');
  });

  it('to the policy becomes a rule that was shown as a diff, and is taken up', async () => {
    verifies('SL-10.3');
    const { rig, people, id } = await hinted('drop');
    const promote = (...more: readonly string[]) =>
      people.sub('hints', 'promote', id, '--policy', rig.policyPath, ...more);
    const nobody = await promote();
    expect(nobody.code).toBe(2);
    expect(nobody.stderr).toContain('[SUB_USAGE]');
    const shown = await promote('--dry-run');
    expect(shown.code).toBe(0);
    expect(shown.stdout).not.toContain('not on record in full');
    expect(readFileSync(rig.policyPath, 'utf8')).toBe(POLICY);
    const done = await promote('--yes', '--session');
    expect(done).toMatchObject({ code: 0, stderr: '' });
    const after = readFileSync(rig.policyPath, 'utf8');
    const added = done.stdout.split('\n').filter((line) => /^\+(?!\+\+)/.test(line));
    expect(added).toHaveLength(11);
    // Without what was shown as added, it is the file that it was.
    const lines = added.map((line) => `${line.slice(1)}\n`).join('');
    expect(after).toContain(lines);
    expect(after.replace(lines, '')).toBe(POLICY);
    let next = 2;
    while (!(await passes(rig, next, call(next, 'drop', '{"sum":5}')))) next++;
    expect(await passes(rig, 900, call(900, 'drop', '{"sum":6}'))).toBe(false);
    await rig.server.write(answer(next));
    await hangUp(rig);
    await people.sub('ledgerd', '--stop');
  });

  it('is refused where nothing would come of it, and to an agent', async () => {
    const { rig, people, id } = await hinted('drop');
    const env = { HOME: rig.folder, SUB_HOME: people.home };
    const inside = { cwd: rig.folder, env: { ...env, SUB_RUN_ID: 'run' } };
    const agent = await runSub(['hints', 'promote', id, '--policy', '--yes'], inside);
    expect(agent).toMatchObject({ code: 2 });
    expect(agent.stderr).toContain('[SUB_INSIDE_RUN]');
    const refused = async (code: string, ...more: readonly string[]) => {
      const said = await people.sub('hints', 'promote', ...more);
      expect(said.code).toBe(2);
      expect(said.stderr).toContain(`[${code}]`);
    };
    await refused('SUB_HINT_PROMOTE', id, '--session', '--yes');
    await refused('SUB_HINT_UNKNOWN', 'ffffffff', '--session', '--yes');
    await refused('SUB_USAGE', id, '--yes');
    await refused('SUB_USAGE', id, '--policy', '--yes', '--like', 'a=b');
    await refused('SUB_FILE_READ', id, '--policy', join(rig.folder, 'none.yaml'), '--yes');
    await hangUp(rig);
    await refused('SUB_HINT_PROMOTE', id, '--session', '--policy', rig.policyPath, '--yes');
    expect(readFileSync(rig.policyPath, 'utf8')).toBe(POLICY);
    await people.sub('ledgerd', '--stop');
  });
});
