// Hints over the API: a real home with a policy, a ledger and a queue of approvals.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ApiHints, type ApiPromoted, isFailure } from '@subluminal/contracts';
import { openDesk } from '@subluminal/plane/approvals';
import { thisSystem } from '@subluminal/plane/os';
import { describe, expect, it } from 'vitest';
import { question } from '../../plane/stores/approvals/testing/bench.ts';
import { Shim } from '../../plane/stores/ledger/testing/events.ts';
import { type PageHome, pageHome } from './page-home.test-support.ts';

const POLICY = `policy_id: p
version: "1"
mode: control
defaults: { decision_on_error: BLOCK }
selectors: {}
rules:
  - rule_id: no-delete
    kind: deny
    enabled: true
    match: { tool_name: { glob: ["delete"] } }
    effect: { action: BLOCK, hint: { hint_text: "Ask." } }
    severity: warn
`;
const HINTED = {
  action: 'REJECT_WITH_HINT',
  rule_id: 'no-delete',
  hint: {
    hint_text: 'Ask <b>first</b>.\u001b[2J',
    suggested_args: null,
    retry_advice: null,
    hint_kind: 'OTHER',
  },
} as const;

/** Two refused calls, the second of a run in a project. */
async function refused(): Promise<PageHome & { readonly project: string; readonly shim: Shim }> {
  const page = await pageHome();
  const project = join(page.folder, 'project');
  mkdirSync(project);
  const files = { server: 'files', tool: 'delete' };
  const shim = new Shim('a', { ...files, run: 'run-1' }, Date.now());
  const other = new Shim('b', { ...files, run: 'run-2', folder: project }, Date.now() + 100);
  await page.live.ingest(
    shim.runStart(),
    shim.start('call-1'),
    shim.decision('call-1', HINTED),
    other.runStart(),
    other.start('call-2'),
    other.decision('call-2', HINTED),
    other.runEnd(),
  );
  return { ...page, project, shim };
}

const promoteOf = (run: string, call: string) => `hints/${run}/${call}/promote`;

describe('the hints of the API', () => {
  it('are listed newest first, page by page, as they were given', async () => {
    const { get } = await refused();
    const first = (await get('hints', 'hints?limit=1')) as ApiHints;
    expect(first.rows).toMatchObject([
      { run_id: 'run-2', call_id: 'call-2', run_ended: true, rule_id: 'no-delete' },
    ]);
    const next = (await get('hints', `hints?limit=1&cursor=${first.next}`)) as ApiHints;
    expect(next.rows).toMatchObject([
      { run_id: 'run-1', run_ended: false, hint: { hint_text: HINTED.hint.hint_text } },
    ]);
    expect(await get('hints', 'hints?run_id=run-1')).toMatchObject({
      rows: [{ call_id: 'call-1' }],
    });
    expect(await get('hints', 'hints?server_name=none')).toEqual({ rows: [], next: null });
  });

  it('become a rule in the policy that refused, over the file that was shown', async () => {
    const page = await refused();
    const { post, home } = page;
    const path = promoteOf('run-1', 'call-1');
    const promote = (body: object, status = 200) => post('promoteHint', path, { body, status });
    await promote({ to: 'policy', dry_run: true }, 409);
    const policy = join(home, 'policy.yaml');
    writeFileSync(policy, POLICY, { mode: 0o600 });
    const shown = (await promote({ to: 'policy', dry_run: true })) as ApiPromoted;
    expect(shown).toMatchObject({
      changed: false,
      grant: null,
      policy: { path: policy, diff: expect.stringContaining('+    kind: allow') as unknown },
    });
    expect(readFileSync(policy, 'utf8')).toBe(POLICY);
    // Without what was shown, or over another file, nothing is written.
    await promote({ to: 'policy' }, 400);
    await promote({ to: 'policy', base_sha256: 'a'.repeat(64) }, 409);
    await promote({ to: 'policy', like: { path: '*' }, dry_run: true }, 400);
    expect(readFileSync(policy, 'utf8')).toBe(POLICY);
    const base_sha256 = shown.policy?.base_sha256;
    expect(await promote({ to: 'policy', base_sha256 })).toMatchObject({ changed: true });
    expect(readFileSync(policy, 'utf8')).toContain('kind: allow');
    await promote({ to: 'policy', base_sha256 }, 409);
    await post('promoteHint', promoteOf('run-1', 'none'), { body: { to: 'policy' }, status: 404 });
  });

  it('become a rule in the policy of the project of the run, when that has refused', async () => {
    const { post, home, project } = await refused();
    writeFileSync(join(home, 'policy.yaml'), POLICY.replace('no-delete', 'other'), { mode: 0o600 });
    mkdirSync(join(project, '.subluminal'));
    const path = join(project, '.subluminal', 'policy.yaml');
    writeFileSync(path, POLICY);
    const body = { to: 'policy', dry_run: true };
    const found = await post('promoteHint', promoteOf('run-2', 'call-2'), { body });
    expect(found).toMatchObject({ policy: { path } });
    // The run has ended.
    const late = { ...body, this_run_only: true };
    await post('promoteHint', promoteOf('run-2', 'call-2'), { body: late, status: 409 });
  });

  it('become a grant for the rest of the run, when the rule asks for approval', async () => {
    const { post, home, live, shim } = await refused();
    const path = promoteOf('run-1', 'call-1');
    const asking = { body: { to: 'session', dry_run: true } };
    const nobody = await post('promoteHint', path, { ...asking, status: 409 });
    expect(nobody).toMatchObject({ error: { code: 'SUB_HINT_PROMOTE' } });
    const ports = { nowMs: Date.now, uuid: () => thisSystem().uuidByTime(), warn: () => undefined };
    const desk = openDesk({ home, ports });
    if (isFailure(desk)) throw new Error(desk.message);
    const { args_hash } = shim.ref('call-1');
    const call = { server: 'files', tool: 'delete', rule_id: 'no-delete', args_hash };
    const asked = desk.queue.ask(question({ wait: 'hint' }, call));
    if (asked.kind !== 'asked') throw new Error(JSON.stringify(asked));
    const { id } = asked;
    await live.ingest(shim.approval('call-1', { id, rule_id: 'no-delete', state: 'asked' }));
    const shown = (await post('promoteHint', path, asking)) as ApiPromoted;
    expect(shown).toMatchObject({ changed: false, grant: { grant: { kind: 'run' } } });
    expect(desk.grants.list()).toMatchObject({ found: [] });
    const both = { to: 'session', any_args: true, free: ['x'] };
    await post('promoteHint', path, { body: both, status: 400 });
    const given = (await post('promoteHint', path, { body: { to: 'session' } })) as ApiPromoted;
    expect(given).toMatchObject({ changed: true, policy: null });
    expect(desk.grants.list()).toMatchObject({
      found: [
        {
          state: 'active',
          grant: { id: given.grant?.id, channel: 'web', note: 'promoted from a hint' },
        },
      ],
    });
  });
});
