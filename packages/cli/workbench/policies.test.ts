// Policies over the API: a real home with a policy, and a ledger with recorded calls.
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type {
  ApiPolicyActive,
  ApiPolicyDiff,
  ApiPolicyExplained,
  ApiPolicyLint,
  ApiPolicyReplay,
  ApiPolicySaved,
  ApiPolicySuggested,
  ApiPolicyTests,
} from '@subluminal/contracts';
import { sha256, sha256Bytes } from '@subluminal/plane/crypto';
import { trustPolicy } from '@subluminal/plane/policy';
import { describe, expect, it } from 'vitest';
import { Shim } from '../../plane/stores/ledger/testing/events.ts';
import { type PageHome, pageHome } from './page-home.test-support.ts';

const HEAD = 'policy_id: p\nversion: "1"\nmode: control\nhint_delivery: tool_result\nrules:\n';
const DENY = `  - rule_id: no-delete
    kind: deny
    match: { tool_name: { glob: ["delete"] } }
    effect: { action: BLOCK }
`;
const BUDGET = `  - rule_id: two-calls
    kind: budget
    match: {}
    effect: { budget: { scope: run, limit_calls: 2, on_exceed: BLOCK } }
`;
const POLICY = HEAD + DENY;
const LOOSE = HEAD.replace('rules:\n', 'rules: []\n');
const TESTS = `policy: policy.yaml
tests:
  - name: a delete is refused
    call: { server_name: files, tool_name: delete }
    expect: { decision: BLOCK, rule: no-delete }
  - name: a read is refused
    call: { server_name: files, tool_name: read }
    expect: { decision: BLOCK }
`;
const ARGS = '{"path":"/x"}';
const BLOCKED = { action: 'BLOCK', rule_id: 'no-delete' } as const;

interface PolicyHome extends PageHome {
  readonly file: string;
}

/** The user's policy, and a run with three calls, of which the last was refused. */
async function recorded(policy: string | null = POLICY): Promise<PolicyHome> {
  const page = await pageHome();
  const file = join(page.home, 'policy.yaml');
  if (policy !== null) writeFileSync(file, policy, { mode: 0o600 });
  const shim = new Shim('a', { server: 'files', tool: 'delete', run: 'run-1' }, Date.now());
  await page.live.ingest(
    shim.runStart(),
    ...['call-1', 'call-2'].flatMap((id) => [shim.start(id), shim.decision(id)]),
    shim.start('call-3', {
      args_hash: sha256(ARGS),
      preview: { truncated: false, args_preview: ARGS },
    }),
    shim.decision('call-3', BLOCKED),
    shim.runEnd(),
  );
  return { ...page, file };
}

const active = async ({ get }: PageHome, query = '') =>
  (await get('policyActive', `policy/active${query}`)) as ApiPolicyActive;

describe('the active policy', () => {
  it('is the one of the user, with its lines and the hits of its rules', async () => {
    const home = await recorded();
    writeFileSync(join(home.home, 'policy.test.yaml'), TESTS);
    const shown = await active(home);
    expect(shown).toMatchObject({
      path: home.file,
      role: 'user',
      trusted: true,
      editable: true,
      text: POLICY,
      sha256: sha256(POLICY),
      policy_id: 'p',
      mode: 'control',
      problems: [],
      sources: [{ path: home.file, role: 'user', exists: true }],
      tests: { text: TESTS },
    });
    expect(shown.rules).toMatchObject([
      { id: 'no-delete', kind: 'deny', effect: 'BLOCK', line: 6, hits: 1, would_hits: 0 },
    ]);
    const later = await active(home, `?from_ms=${Date.now() + 60_000}`);
    expect(later.rules).toMatchObject([{ hits: 0, last_hit_ms: null }]);
  });

  it('is the one of a project where the user has none', async () => {
    const { folder, home, get } = await recorded(null);
    const path = join(folder, 'project', '.subluminal', 'policy.yaml');
    mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
    writeFileSync(path, POLICY, { mode: 0o644 });
    await trustPolicy(home, { path, sha256: sha256(POLICY) }, Date.now());
    const shown = await get('policyActive', 'policy/active');
    expect(shown).toMatchObject({ path, role: 'trusted', text: POLICY, sources: [] });
  });

  it('may be missing or broken, and says so', async () => {
    const none = await recorded(null);
    expect(await active(none)).toMatchObject({
      path: none.file,
      role: null,
      editable: true,
      text: null,
      sha256: null,
      rules: [],
      sources: [],
    });
    const broken = await recorded('rules: [');
    const shown = await active(broken);
    expect(shown).toMatchObject({ text: 'rules: [', policy_id: null });
    expect(shown.problems[0]).toMatchObject({ severity: 'error', line: 1 });
  });

  it('is never another file than one that sub reads, and never a key', async () => {
    const { get, post, folder, home } = await recorded();
    const other = join(folder, 'other.yaml');
    writeFileSync(other, POLICY);
    for (const path of [other, join(home, '..', 'other.yaml'), '/etc/passwd']) {
      const asked = `policy/active?path=${encodeURIComponent(path)}`;
      expect(await get('policyActive', asked, 400)).toMatchObject({
        error: { code: 'SUB_API_REQUEST' },
      });
      const body = { text: POLICY, path, base_sha256: null };
      await post('policySave', 'policy/save', { body, status: 400 });
    }
    expect(readFileSync(other, 'utf8')).toBe(POLICY);
    const key = await recorded('-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----\n');
    expect(JSON.stringify(await active(key))).not.toContain('secret');
  });
});

describe('a text', () => {
  it('is linted with lines and columns', async () => {
    const { post } = await recorded();
    const lint = async (text: string) =>
      (await post('policyLint', 'policy/lint', { body: { text } })) as ApiPolicyLint;
    expect(await lint(POLICY)).toEqual({ ok: true, rules: 1, problems: [] });
    const { ok, problems } = await lint(POLICY.replace('BLOCK', 'BLOK'));
    expect(ok).toBe(false);
    expect(problems).toMatchObject([{ line: 9, severity: 'error', code: 'SUB_BUNDLE_VALUE' }]);
  });

  it('is tested by the tests that are given, or by those beside the file', async () => {
    const { post, home } = await recorded();
    const test = async (body: object, status = 200) =>
      (await post('policyTest', 'policy/test', { body, status })) as ApiPolicyTests;
    await test({ text: POLICY }, 404);
    const given = await test({ text: POLICY, tests: TESTS });
    expect(given).toMatchObject({ file: null, summary: { passed: 1, failed: 1 } });
    expect(given.tests).toMatchObject([{ passed: true }, { passed: false, line: 6 }]);
    writeFileSync(join(home, 'policy.test.yaml'), TESTS);
    expect(await test({ text: LOOSE })).toMatchObject({ summary: { passed: 0, failed: 2 } });
    await test({ text: POLICY, tests: 'tests: 1' }, 400);
    const many = TESTS.replace('tool_name: delete }', 'tool_name: delete, repeat: 5000 }');
    await test({ text: POLICY, tests: many }, 400);
  });

  it('is compared with the file', async () => {
    const { post } = await recorded();
    const diff = async (text: string) =>
      (await post('policyDiff', 'policy/diff', { body: { text } })) as ApiPolicyDiff;
    expect(await diff(POLICY)).toMatchObject({ same: true, changes: [] });
    expect(await diff(LOOSE)).toMatchObject({ same: false, summary: { critical: 1 } });
  });
});

describe('recorded calls', () => {
  it('are decided again by a text, run by run', async () => {
    const { post } = await recorded();
    const replay = async (body: object, status = 200) =>
      (await post('policyReplay', 'policy/replay', { body, status })) as ApiPolicyReplay;
    const all = await replay({ text: POLICY });
    expect(all).toMatchObject({ cut: null, calls_left_out: 0, summary: { calls: 3, runs: 1 } });
    expect(all.calls).toMatchObject([
      { call_id: 'call-1', verdict: 'stricter' },
      { call_id: 'call-2', verdict: 'stricter' },
    ]);
    const one = await replay({ text: LOOSE, run_ids: ['run-1'], limit: 1 });
    expect(one.calls).toMatchObject([{ call_id: 'call-3', verdict: 'looser' }]);
    expect(await replay({ text: POLICY, since_ms: Date.now() + 60_000 })).toMatchObject({
      summary: { calls: 0 },
    });
    await replay({ text: POLICY, run_ids: ['run-2'] }, 404);
    await replay({ text: 'rules: [' }, 400);
  });

  it('are decided again for one who asks at a time, while others are answered', async () => {
    const { post, get, live } = await recorded();
    const shim = new Shim('b', { run: 'run-2' }, Date.now());
    const calls = Array.from({ length: 2_000 }, (_, n) => shim.call(`call-${n}`)).flat();
    await live.ingest(shim.runStart(), ...calls);
    const done: string[] = [];
    const replay = async () => {
      await post('policyReplay', 'policy/replay', { body: { text: POLICY } });
      done.push('replay');
    };
    const look = async () => {
      await get('health', 'health');
      done.push('health');
    };
    const asked = await Promise.allSettled([replay(), replay(), look()]);
    const refused = asked.filter((one) => one.status === 'rejected');
    expect(refused).toHaveLength(1);
    expect(String(refused[0]?.reason)).toContain('SUB_API_BUSY');
    expect(done).toEqual(['health', 'replay']);
    await replay();
  });

  it('are explained one by one, with those before them counted', async () => {
    const { post } = await recorded();
    const explain = async (body: object, status = 200) =>
      (await post('policyExplain', 'policy/explain', {
        body: { run_id: 'run-1', ...body },
        status,
      })) as ApiPolicyExplained;
    const text = HEAD + BUDGET;
    expect(await explain({ text, call_id: 'call-2' })).toMatchObject({
      calls_before: 1,
      verdict: 'same',
      recorded: { action: 'ALLOW' },
      decision: { action: 'ALLOW' },
    });
    const third = await explain({ text, call_id: 'call-3' });
    expect(third).toMatchObject({
      calls_before: 2,
      args: 'known',
      call: { args: { path: '/x' } },
      recorded: { action: 'BLOCK', rule_id: 'no-delete' },
      decision: { action: 'BLOCK', rule_id: 'two-calls' },
      verdict: 'different_rule',
    });
    expect(third.rules).toMatchObject([{ rule_id: 'two-calls', outcome: 'decided' }]);
    expect(await explain({ call_id: 'call-1' })).toMatchObject({ verdict: 'stricter' });
    await explain({ call_id: 'call-9' }, 404);
    await explain({ run_id: 'run-9', call_id: 'call-1' }, 404);
  });

  it('suggest a policy', async () => {
    const { post } = await recorded();
    const body = { run_id: 'run-1' };
    const { calls, policy } = (await post('policySuggest', 'policy/suggest', {
      body,
    })) as ApiPolicySuggested;
    expect(calls).toBe(2);
    const lint = await post('policyLint', 'policy/lint', { body: { text: policy } });
    expect(lint).toMatchObject({ ok: true });
    await post('policySuggest', 'policy/suggest', { body: { run_id: 'x' }, status: 404 });
  });
});

describe('a policy that is saved', () => {
  const save = async ({ post }: PageHome, body: object, status = 200) =>
    (await post('policySave', 'policy/save', { body, status })) as ApiPolicySaved;

  it('replaces what was edited, and keeps a copy of it', async () => {
    const home = await recorded();
    const text = POLICY + BUDGET;
    const saved = await save(home, { text, base_sha256: sha256(POLICY) });
    expect(saved).toMatchObject({ created: false, changed: true, applies: 'now', loosens: null });
    expect(readFileSync(home.file, 'utf8')).toBe(text);
    expect(readFileSync(saved.backup ?? '', 'utf8')).toBe(POLICY);
    const loose = await save(home, { text: LOOSE, base_sha256: saved.sha256 });
    expect(loose).toMatchObject({ applies: 'next_start' });
    expect(loose.loosens).not.toBeNull();
  });

  it('is not written over another one, with errors, or through a link', async () => {
    const home = await recorded();
    const stale = await save(home, { text: LOOSE, base_sha256: sha256('x') }, 409);
    expect(stale).toMatchObject({ error: { code: 'SUB_POLICY_STALE' } });
    await save(home, { text: LOOSE, base_sha256: null }, 409);
    await save(home, { text: 'rules: [', base_sha256: sha256(POLICY) }, 400);
    expect(readFileSync(home.file, 'utf8')).toBe(POLICY);
    expect(readdirSync(home.home)).not.toContain('backups');
    const linked = await recorded(null);
    const target = join(linked.folder, 'target.yaml');
    writeFileSync(target, POLICY);
    symlinkSync(target, linked.file);
    await save(linked, { text: LOOSE, base_sha256: sha256(POLICY) }, 500);
    expect(readFileSync(target, 'utf8')).toBe(POLICY);
  });

  it('may be the first one', async () => {
    const home = await recorded(null);
    const saved = await save(home, { text: POLICY, base_sha256: null });
    expect(saved).toMatchObject({ created: true, backup: null, applies: 'next_start' });
    expect(readFileSync(home.file, 'utf8')).toBe(POLICY);
  });

  it('may be that of a project in which an agent ran, which only tightens', async () => {
    const home = await recorded();
    const project = join(home.folder, 'seen');
    mkdirSync(join(project, '.git'), { recursive: true, mode: 0o755 });
    const path = join(project, 'policy.yaml');
    writeFileSync(path, POLICY, { mode: 0o640 });
    await save(home, { text: POLICY + BUDGET, path, base_sha256: sha256(POLICY) }, 400);
    const shim = new Shim('b', { run: 'run-2', folder: project }, Date.now());
    await home.live.ingest(shim.runStart());
    const saved = await save(home, { text: POLICY + BUDGET, path, base_sha256: sha256(POLICY) });
    expect(saved).toMatchObject({ trusted: false, changed: true });
    expect(statSync(path).mode & 0o777).toBe(0o640);
  });

  it('of a project loses its trust with the change', async () => {
    const home = await recorded();
    const project = join(home.folder, 'project');
    mkdirSync(join(project, '.git'), { recursive: true, mode: 0o755 });
    const path = join(project, 'policy.yaml');
    writeFileSync(path, POLICY, { mode: 0o644 });
    const hash = sha256Bytes(Buffer.from(POLICY));
    expect(await trustPolicy(home.home, { path, sha256: hash }, Date.now())).toBe(true);
    const { others } = await active(home);
    expect(others).toContainEqual({ path, role: 'trusted', exists: true });
    const saved = await save(home, { text: POLICY + BUDGET, path, base_sha256: hash });
    expect(saved).toMatchObject({ path, trusted: false });
    expect(saved.notes.join(' ')).toContain(`sub trust ${path}`);
    expect(await active(home, `?path=${encodeURIComponent(path)}`)).toMatchObject({
      role: 'untrusted',
      trusted: false,
    });
  });
});
