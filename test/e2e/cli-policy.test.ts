import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { askSub } from './ask-sub.ts';
import { type Ended, ended, ensureBuilt, ROOT, runSub, startSub } from './sub.ts';

const STARTER = readFileSync(`${ROOT}examples/policies/starter.yaml`, 'utf8');
const BROKEN = STARTER.replace('kind: budget', 'kind: budgt');
const CREATE = { server_name: 'github', tool_name: 'create_issue', args: { title: 'a' } };

interface Sealed {
  readonly snapshot: { readonly [field: string]: unknown };
  readonly policy_hash: string;
  readonly signature?: unknown;
}
interface Explained {
  readonly calls: readonly {
    readonly call: { readonly args_hash: string };
    readonly decision: { readonly action: string };
    readonly policy: unknown;
    readonly rules: readonly unknown[];
  }[];
  readonly summary: { readonly calls: number };
}

interface Failed {
  readonly error: { readonly code: string; readonly message: string; readonly fix: string };
}

function explained(stdout: string): Explained {
  return JSON.parse(stdout) as Explained;
}

let folder = '';
beforeAll(() => {
  ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), 'sub-e2e-'));
  write('starter.yaml', STARTER);
  write('broken.yaml', BROKEN);
  write('call.json', JSON.stringify(CREATE));
  copyFileSync(`${ROOT}examples/calls/delete-repo.json`, join(folder, 'session.json'));
  copyFileSync(`${ROOT}examples/events/session.jsonl`, join(folder, 'events.jsonl'));
  mkdirSync(join(folder, 'folder'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

function sub(...args: string[]): Promise<Ended> {
  // `explain` looks for Cedar policies in the configuration, which must not be that of the machine.
  return askSub(args, { cwd: folder, env: { SUB_HOME: join(folder, 'no-home') } });
}

/** No stack trace, whatever happened. */
function expectCalm({ stdout, stderr }: Ended): void {
  expect(stdout + stderr).not.toMatch(/^\s+at .+:\d+:\d+\)?$/m);
}

/** With `--json`, the line for a person is there as well: one process shows both. */
async function expectFailure(args: string[], wanted: { code: string; text: string }) {
  const result = await sub(...args, '--json');
  expectCalm(result);
  expect(result.code).toBe(2);
  expect(result.stderr).toContain(wanted.text);
  expect(result.stderr).toMatch(new RegExp(`^sub: .* \\[${wanted.code}\\]\\n$`));
  return result;
}

/** `lint` tells a failure beside its file, all others as the whole document. */
function failureIn(stdout: string): Failed {
  const document = JSON.parse(stdout) as Failed & { readonly files?: readonly Failed[] };
  return document.files?.[0] ?? document;
}

describe.concurrent('wrong usage', () => {
  test.each([
    [['polcy'], 'Did you mean policy?'],
    [['policy', 'lnt', 'x'], 'Did you mean lint?'],
    [['lint'], 'Did you mean `sub policy lint`?'],
    [['policy', 'lint', 'starter.yaml', '--strickt'], 'Did you mean --strict?'],
    [['policy', 'lint'], "missing required argument 'file'"],
    [['policy', 'diff', 'starter.yaml'], "missing required argument 'new'"],
    [['policy', 'diff', '-', '-'], 'only one of the files'],
    [['policy', 'diff', 'starter.yaml', 'starter.yaml', '--fail-on', 'x'], 'Allowed choices'],
    [['policy', 'explain', 'starter.yaml'], 'no call to explain'],
    [['policy', 'explain', 'starter.yaml', '--tool', 'x'], 'belong together'],
    [['policy', 'explain', 'starter.yaml', '--model', 'x'], 'belong together'],
    [
      ['policy', 'explain', 'starter.yaml', '--call', 'call.json', '--cost-usd', '1'],
      '--cost-usd needs a model',
    ],
    [
      ['policy', 'explain', 'starter.yaml', '--provider', 'p', '--model', 'm', '--cost-usd', '-1'],
      'is no amount',
    ],
    [
      ['policy', 'explain', 'starter.yaml', '--call', 'call.json', '--at', 'noon'],
      'not a time in UTC',
    ],
    [
      ['policy', 'explain', 'starter.yaml', '--call', 'call.json', '--env', 'production'],
      'Did you mean prod?',
    ],
    [
      ['policy', 'explain', 'starter.yaml', '--call', 'call.json', '--client', 'cladue'],
      'Did you mean claude?',
    ],
    [['policy', 'explain', 'starter.yaml', '--server', '', '--tool', 't'], '--server is empty'],
    [['policy', 'lint', ''], 'the name of a file is empty'],
    [['policy', 'explain', 'call.json', '--call', 'starter.yaml'], 'call.json looks like a call'],
    [['policy', 'explain', 'starter.yaml', '--call', 'starter.yaml'], 'looks like a bundle'],
    [['policy', 'diff', 'call.json', 'starter.yaml'], 'Are the arguments swapped?'],
    [['policy', 'replay', 'events.jsonl', 'starter.yaml'], 'looks like recorded events'],
    [['policy', 'replay', 'starter.yaml', 'starter.yaml'], 'The policy comes first'],
    [['policy', 'compile', 'call.json'], 'looks like a call'],
    [['policy', 'compile', 'starter.yaml', '-o', 'starter.yaml'], 'would overwrite the bundle'],
  ])('sub %j says what is wrong', async (args, text) => {
    const { stdout } = await expectFailure(args, { code: 'SUB_USAGE', text });
    const { error } = failureIn(stdout);
    expect(error.code).toBe('SUB_USAGE');
    expect(`${error.message} ${error.fix}`).toContain(text);
  });

  test.each([
    [['policy', 'lint', 'none.yaml']],
    [['policy', 'explain', 'starter.yaml']],
    [['policy', 'lint', 'starter.yaml', '--strickt']],
  ])('sub %j prints nothing for programs unless they ask', async (args) => {
    const [result, asJson] = await Promise.all([sub(...args), sub(...args, '--json')]);
    expect(result).toMatchObject({ code: 2, stdout: '', stderr: asJson.stderr });
  });

  test('a command that is missing gets help on stderr', async () => {
    const result = await sub('policy');
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toContain('explain');
  });
});

describe.concurrent('files that cannot be read', () => {
  test.each([
    ['startr.yaml', 'Did you mean starter.yaml?'],
    ['none/at/all', 'does not exist'],
    ['folder', 'is a directory'],
    ['/dev/zero', 'is larger than'],
  ])('%s', async (path, text) => {
    const explain = ['policy', 'explain', path, '--call', 'call.json'];
    const [{ stdout }] = await Promise.all([
      expectFailure(explain, { code: 'SUB_FILE_READ', text }),
      expectFailure(['policy', 'lint', path], { code: 'SUB_FILE_READ', text }),
    ]);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'SUB_FILE_READ' } });
  });

  // Root may read everything, so there is nothing to see then.
  test.skipIf(process.getuid?.() === 0)('a file without permission', async () => {
    writeFileSync(join(folder, 'secret.yaml'), STARTER, { mode: 0o000 });
    const wanted = { code: 'SUB_FILE_READ', text: 'may not be read' };
    await expectFailure(['policy', 'lint', 'secret.yaml'], wanted);
  });

  test('names are harmless when they are printed', async () => {
    const { stderr } = await sub('policy', 'lint', 'no\u001b[2Jsuch');
    expect(stderr).toContain('no\\u{1b}[2Jsuch does not exist');
  });
});

describe.concurrent('sub policy lint', () => {
  test('says when there is nothing to say', async () => {
    const result = await sub('policy', 'lint', 'starter.yaml');
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(result.stdout).toBe('✔ starter.yaml: 6 rules, no problems\n');
  });

  test('points at the place of an error and proposes the fix', async () => {
    verifies('IP-0.2');
    const result = await sub('policy', 'lint', 'broken.yaml');
    expectCalm(result);
    const line = BROKEN.split('\n').findIndex((text) => text.includes('budgt')) + 1;
    const head = `broken.yaml:${line}:11: error: unknown kind \`budgt\`; did you mean \`budget\`?`;
    expect(result.code).toBe(1);
    expect(result.stdout.startsWith(head)).toBe(true);
    expect(result.stdout).toContain(`${line} |     kind: budgt\n`);
    expect(result.stdout).toMatch(/\n +\| {11}\^\n/);
  });

  test('reads standard input', async () => {
    const good = await runSub(['policy', 'lint', '-'], { cwd: folder, input: STARTER });
    expect(good).toMatchObject({ code: 0, stdout: '✔ <stdin>: 6 rules, no problems\n' });
    const bad = await runSub(['policy', 'lint', '-'], { cwd: folder, input: 'a: [' });
    expect(bad.code).toBe(1);
    expect(bad.stdout).toMatch(/^<stdin>:\d+:\d+: error: /);
  });

  test('prints one JSON document for all files', async () => {
    const args = ['policy', 'lint', 'starter.yaml', 'broken.yaml', 'none.yaml', '--json'];
    const { code, stdout } = await sub(...args);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({
      files: [
        { file: 'starter.yaml', ok: true, rules: 6, problems: [] },
        { file: 'broken.yaml', ok: false, problems: [{ code: 'SUB_BUNDLE_UNKNOWN_KIND' }] },
        { file: 'none.yaml', ok: false, error: { code: 'SUB_FILE_READ' } },
      ],
      summary: { errors: 1, warnings: 0, notes: 0 },
    });
  });

  test('fails on warnings only when it is told to', async () => {
    const open = STARTER.replace('decision_on_error: BLOCK', 'decision_on_error: ALLOW');
    write('open.yaml', open);
    const lint = ['policy', 'lint', 'open.yaml'];
    const [mild, strict] = await Promise.all([sub(...lint), sub(...lint, '--strict')]);
    expect(mild.code).toBe(0);
    expect(mild.stdout).toContain('1 warning');
    expect(strict.code).toBe(1);
  });
});

describe.concurrent('snapshots', () => {
  beforeAll(async () => {
    await Promise.all(['key', 'other'].map((name) => sub('policy', 'keygen', name)));
    await sub('policy', 'compile', 'starter.yaml', '--sign', 'key', '-o', 'signed.json');
  });

  test('keys are private and never overwritten', async () => {
    expect(statSync(join(folder, 'key')).mode & 0o777).toBe(0o600);
    const before = readFileSync(join(folder, 'key'), 'utf8');
    await expectFailure(['policy', 'keygen', 'key'], { code: 'SUB_FILE_WRITE', text: 'exists' });
    expect(readFileSync(join(folder, 'key'), 'utf8')).toBe(before);
  });

  test('keygen names the path that was given', async () => {
    const wanted = { code: 'SUB_FILE_WRITE', text: 'sub: no/key is in a folder' };
    await expectFailure(['policy', 'keygen', 'no/key'], wanted);
  });

  test('compile overwrites neither its bundle nor its key, whatever they are called', async () => {
    write('own.yaml', STARTER);
    symlinkSync('own.yaml', join(folder, 'soft.yaml'));
    linkSync(join(folder, 'own.yaml'), join(folder, 'hard.yaml'));
    const key = readFileSync(join(folder, 'key'), 'utf8');
    const usage = (text: string) => ({ code: 'SUB_USAGE', text });
    const compile = ['policy', 'compile', 'own.yaml'];
    await Promise.all([
      ...['./own.yaml', 'soft.yaml', 'hard.yaml'].map((out) =>
        expectFailure([...compile, '-o', out], usage('would overwrite the bundle')),
      ),
      expectFailure([...compile, '--sign', 'key', '-o', 'key'], usage('overwrite the private key')),
    ]);
    expect(readFileSync(join(folder, 'own.yaml'), 'utf8')).toBe(STARTER);
    expect(readFileSync(join(folder, 'key'), 'utf8')).toBe(key);
  });

  test('compile writes through no link', async () => {
    write('victim', 'precious');
    symlinkSync('victim', join(folder, 'linked.json'));
    symlinkSync('nowhere', join(folder, 'dangling.json'));
    await Promise.all(
      ['linked.json', 'dangling.json'].map((out) =>
        expectFailure(['policy', 'compile', 'starter.yaml', '-o', out], {
          code: 'SUB_FILE_WRITE',
          text: `${out} is a link, and nothing is written through one.`,
        }),
      ),
    );
    expect(readFileSync(join(folder, 'victim'), 'utf8')).toBe('precious');
    expect(existsSync(join(folder, 'nowhere'))).toBe(false);
  });

  test('compile --json is JSON with and without an output', async () => {
    const compile = ['policy', 'compile', 'starter.yaml', '--json'];
    const [printed, written, help] = await Promise.all([
      sub(...compile),
      sub(...compile, '-o', 'json.json'),
      sub('policy', 'compile', '--help'),
    ]);
    expect(JSON.parse(printed.stdout)).toHaveProperty('snapshot');
    expect(JSON.parse(written.stdout)).toMatchObject({ ok: true, out: 'json.json' });
    expect(help.stdout).not.toContain('needs --out');
  });

  test('compile prints the same snapshot whichever way it is written', async () => {
    verifies('IP-2.6');
    const printed = await compiled('starter.yaml');
    const written = JSON.parse(readFileSync(join(folder, 'signed.json'), 'utf8')) as Sealed;
    expect(printed).toEqual({ snapshot: written.snapshot, policy_hash: written.policy_hash });
    expect(written.signature).toMatchObject({ alg: 'ed25519' });
    expect(printed.policy_hash).toMatch(/^[0-9a-f]{64}$/);
  });

  test('the hash does not depend on how the bundle is written', async () => {
    const { snapshot, policy_hash } = await compiled('starter.yaml');
    const { format, ...bundle } = snapshot;
    expect(format).toBe('subluminal.snapshot.v1');
    write('rewritten.json', JSON.stringify({ ...bundle, description: 'the same, as JSON' }));
    expect((await compiled('rewritten.json')).policy_hash).toBe(policy_hash);
  });

  test('compile writes nothing when the bundle has errors', async () => {
    const result = await sub('policy', 'compile', 'broken.yaml', '-o', 'out.json');
    expect(result).toMatchObject({ code: 1, stdout: '' });
    expect(result.stderr).toContain('unknown kind');
    expect(result.stderr).toMatch(
      /\nsub: broken\.yaml has 1 error; nothing was written\. .* \[SUB_BUNDLE_UNKNOWN_KIND\]\n$/,
    );
    expect(existsSync(join(folder, 'out.json'))).toBe(false);
  });

  test('compile names what keeps it from writing, and leaves no half file', async () => {
    const wanted = { code: 'SUB_FILE_WRITE', text: 'does not exist' };
    await expectFailure(['policy', 'compile', 'starter.yaml', '-o', 'no/out.json'], wanted);
    expect(readdirSync(folder).filter((name) => name.includes('out.json'))).toEqual([]);
  });

  test('verify tells a good signature from a missing, a foreign and a broken one', async () => {
    const verify = (...args: string[]) => sub('policy', 'verify', ...args, '--json');
    write('unsigned.json', JSON.stringify(await compiled('starter.yaml')));
    const [good, either, foreign, unchecked, unsigned] = await Promise.all([
      verify('signed.json', '--key', 'key.pub'),
      verify('signed.json', '--key', 'other.pub', '--key', 'key.pub'),
      verify('signed.json', '--key', 'other.pub'),
      verify('unsigned.json'),
      verify('unsigned.json', '--key', 'key.pub'),
    ]);
    expect(good.code).toBe(0);
    expect(JSON.parse(good.stdout)).toMatchObject({ ok: true, signature_checked: true });
    expect(either.code).toBe(0);
    expect(foreign.code).toBe(1);
    const { key_id } = JSON.parse(good.stdout) as { key_id: string };
    const told = JSON.parse(foreign.stdout) as { code: string; message: string; fix: string };
    expect(told.code).toBe('SUB_SNAPSHOT_SIGNATURE');
    expect(told.message).toMatch(
      new RegExp(`^it was signed by key ${key_id}, and the key given is [0-9a-f]{16}$`),
    );
    expect(told.message).not.toContain(`given is ${key_id}`);
    expect(told.fix).toContain(`Give the public key of ${key_id}`);
    expect(unchecked.code).toBe(0);
    expect(unsigned.code).toBe(1);
    expect(JSON.parse(unsigned.stdout)).toMatchObject({ message: 'it is not signed' });
  });

  test('verify notices any change', async () => {
    const text = readFileSync(join(folder, 'signed.json'), 'utf8');
    write('changed.json', text.replace('"limit_calls": 50', '"limit_calls": 5000'));
    const hash = await sub('policy', 'verify', 'changed.json', '--json');
    expect(hash.code).toBe(1);
    expect(JSON.parse(hash.stdout)).toMatchObject({ ok: false, code: 'SUB_SNAPSHOT_HASH' });
    // Whoever mends the hash still lacks the key.
    write('forged.yaml', STARTER.replace('limit_calls: 50', 'limit_calls: 5000'));
    const { signature } = JSON.parse(text) as Sealed;
    write('forged.json', JSON.stringify({ ...(await compiled('forged.yaml')), signature }));
    const forged = await sub('policy', 'verify', 'forged.json', '--key', 'key.pub', '--json');
    expect(forged.code).toBe(1);
    expect(JSON.parse(forged.stdout)).toMatchObject({ code: 'SUB_SNAPSHOT_SIGNATURE' });
  });

  test('what is no snapshot or no key is a usage error', async () => {
    const text = 'is no snapshot: it looks like a bundle';
    const noSnapshot = { code: 'SUB_SNAPSHOT_FORMAT', text };
    const noKey = { code: 'SUB_SNAPSHOT_KEY', text: 'expected an ed25519' };
    const noBundle = { code: 'SUB_USAGE', text: 'Give the bundle it was made from.' };
    await Promise.all([
      expectFailure(['policy', 'verify', 'starter.yaml'], noSnapshot),
      expectFailure(['policy', 'verify', 'signed.json', '--key', 'key'], noKey),
      expectFailure(['policy', 'compile', 'starter.yaml', '--sign', 'key.pub'], noKey),
      expectFailure(['policy', 'lint', 'signed.json'], noBundle),
    ]);
  });

  async function compiled(path: string): Promise<Sealed> {
    return JSON.parse((await sub('policy', 'compile', path)).stdout) as Sealed;
  }
});

describe.concurrent('sub policy diff', () => {
  beforeAll(() => {
    write('looser.yaml', STARTER.replace('limit_calls: 50', 'limit_calls: 5000'));
    write('renamed.yaml', STARTER.replace('version: "1.0.0"', 'version: "1.0.1"'));
  });

  test('fails when something is loosened', async () => {
    const diff = ['policy', 'diff', 'starter.yaml', 'looser.yaml'];
    const [result, asJson] = await Promise.all([sub(...diff), sub(...diff, '--json')]);
    expect(result.code).toBe(1);
    expect(result.stdout).toContain('! rules[write-budget].effect.budget.limit_calls: 50 → 5000');
    expect(JSON.parse(asJson.stdout)).toMatchObject({ same: false, summary: { critical: 1 } });
  });

  test('the threshold decides what fails', async () => {
    const diff = (...args: string[]) => sub('policy', 'diff', 'starter.yaml', ...args);
    const results = await Promise.all([
      diff('renamed.yaml'),
      diff('renamed.yaml', '--fail-on', 'warn'),
      diff('renamed.yaml', '--fail-on', 'any'),
      diff('starter.yaml', '--fail-on', 'any'),
    ]);
    expect(results.map(({ code }) => code)).toEqual([0, 0, 1, 0]);
  });

  test('compares bundles with snapshots, also from standard input', async () => {
    const { stdout: input } = await sub('policy', 'compile', 'starter.yaml');
    const args = ['policy', 'diff', '-', 'starter.yaml', '--fail-on', 'any'];
    const result = await runSub(args, { cwd: folder, input });
    expect(result).toMatchObject({ code: 0, stdout: 'No changes.\n' });
  });

  test('does not compare what is broken', async () => {
    const result = await sub('policy', 'diff', 'starter.yaml', 'broken.yaml');
    expectCalm(result);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain('broken.yaml has 1 error. Correct it first.');
  });
});

describe.concurrent('sub policy explain', () => {
  test('explains a row of calls, with hints and corrected arguments', async () => {
    verifies('T-B.5');
    const result = await sub('policy', 'explain', 'starter.yaml', '--call', 'session.json');
    expect(result).toMatchObject({ code: 1, stderr: '' });
    expect(result.stdout).toContain('● ALLOW: No rule stops this call.');
    expect(result.stdout).toContain('◆ REJECT_WITH_HINT by no-permanent-deletes');
    expect(result.stdout).toContain('use args  {"permanent":false,"repo":"acme/old-site"}');
    expect(result.stdout).toContain('◆ REJECT_WITH_HINT by no-double-writes');
    expect(result.stdout).toContain('3 calls: 1 allowed, 2 refused.');
  });

  test('explains a turn that is given by flags', async () => {
    write(
      'turns.yaml',
      `policy_id: turns
version: "1"
mode: control
rules:
  - rule_id: no-opus
    kind: deny
    match: { subjects: [turn], model: { glob: ["claude-opus-*"] } }
    effect: { action: BLOCK }
  - rule_id: a-dollar
    kind: budget
    match: { subjects: [turn] }
    effect: { budget: { scope: run, limit_usd: 1, on_exceed: BLOCK } }
`,
    );
    const turn = (model: string, ...more: string[]) =>
      sub('policy', 'explain', 'turns.yaml', '--provider', 'anthropic', '--model', model, ...more);
    const [opus, sonnet, dear] = await Promise.all([
      turn('claude-opus-4-6', '--cost-usd', '0.5'),
      turn('claude-sonnet-4-6', '--cost-usd', '0.5'),
      turn('claude-sonnet-4-6', '--cost-usd', '2'),
    ]);
    expect(opus.stdout).toContain('■ BLOCK by no-opus');
    expect(opus.code).toBe(1);
    expect(sonnet).toMatchObject({ code: 0, stderr: '' });
    expect(dear.stdout).toContain('■ BLOCK by a-dollar');
  });

  test('gives every rule its say in JSON', async () => {
    const args = ['policy', 'explain', 'starter.yaml', '--call', 'session.json', '--json'];
    const { code, stdout } = await sub(...args);
    const { calls, summary } = explained(stdout);
    expect(code).toBe(1);
    expect(summary).toEqual({ calls: 3, allowed: 1, asked: 0, refused: 2 });
    for (const call of calls) expect(call.rules).toHaveLength(6);
    expect(calls[1]?.decision).toMatchObject({
      action: 'REJECT_WITH_HINT',
      rule_id: 'no-permanent-deletes',
      hint: { suggested_args: { repo: 'acme/old-site', permanent: false } },
    });
    expect(calls[1]?.call).toMatchObject({ args: { repo: 'acme/old-site', permanent: true } });
    // The first and the last call are the same call, whatever the order of their keys.
    expect(calls[2]?.call.args_hash).toBe(calls[0]?.call.args_hash);
  });

  test.each(['hold', 'hint'])(
    'tells a call that asks a person from a refusal: %s',
    async (wait) => {
      const name = `asking-${wait}.yaml`;
      const effect = `{ message: Paying needs a person., approval: { wait: ${wait}, timeout_ms: 60000 } }`;
      const rule = `rule_id: ask, kind: approval, enabled: true, severity: warn, match: {}, effect: ${effect}`;
      const head = 'policy_id: p\nversion: "1"\nmode: control\n';
      const rest = 'defaults: { decision_on_error: BLOCK }\nselectors: {}\n';
      writeFileSync(join(folder, name), `${head}${rest}rules:\n  - { ${rule} }\n`);
      const call = ['policy', 'explain', name, '--server', 'bank', '--tool', 'pay'];
      const { code, stdout } = await sub(...call);
      expect(code).toBe(1);
      expect(stdout).toContain('◐ ASKS A PERSON by ask: Paying needs a person.');
      expect(stdout).toContain('1 call: 0 allowed, 1 for a person to say, 0 refused.');
      expect(stdout).not.toMatch(/[■◆]/);
      const { summary } = explained((await sub(...call, '--json')).stdout);
      expect(summary).toEqual({ calls: 1, allowed: 0, asked: 1, refused: 0 });
    },
  );

  test('takes a call from flags, and allows what no rule stops', async () => {
    const call = ['--server', 'github', '--tool', 'list_issues', '--args', '{"page":1}'];
    const result = await sub('policy', 'explain', 'starter.yaml', ...call);
    expect(result.code).toBe(0);
    expect(result.stdout).toContain('github / list_issues  {"page":1}');
  });

  test('hashes the digits that were written, not a rounded number', async () => {
    verifies('IP-1.9.1');
    const hashOf = async (id: string) => {
      const call = ['--server', 's', '--tool', 't', '--args', `{"id":${id}}`, '--json'];
      const { stdout } = await sub('policy', 'explain', 'starter.yaml', ...call);
      return explained(stdout).calls[0]?.call.args_hash;
    };
    const [first, second] = await Promise.all([
      hashOf('9007199254740993'),
      hashOf('9007199254740992'),
    ]);
    expect(first).not.toBe(second);
  });

  test('rejects arguments that say a thing twice, with the place', async () => {
    const call = ['--server', 's', '--tool', 't', '--args', '{"a":1,"a":2}'];
    const wanted = { code: 'SUB_CANON_DUPLICATE_KEY', text: '--args:1:8' };
    await expectFailure(['policy', 'explain', 'starter.yaml', ...call], wanted);
  });

  test('names the field of a call that is wrong', async () => {
    write('wrong.json', JSON.stringify([CREATE, { ...CREATE, server: 'x' }]));
    const args = ['policy', 'explain', 'starter.yaml', '--call', 'wrong.json'];
    const wanted = { code: 'SUB_USAGE', text: '[1].server' };
    await expectFailure(args, wanted);
  });

  test('counts what repeats, and shows when a budget ends', async () => {
    const many = Array.from({ length: 51 }, (_, number) => ({ ...CREATE, args: { number } }));
    write('many.json', JSON.stringify(many));
    const args = ['policy', 'explain', 'starter.yaml', '--call', 'many.json', '--last'];
    write('repeat.json', JSON.stringify({ ...CREATE, repeat: 60 }));
    const repeat = ['policy', 'explain', 'starter.yaml', '--call', 'repeat.json'];
    const [result, repeated, last] = await Promise.all([
      sub(...args),
      sub(...repeat),
      sub(...repeat, '--last'),
    ]);
    expect(result.code).toBe(1);
    expect(result.stdout).toContain('call 51');
    expect(result.stdout).toContain('by write-budget');
    // The budget runs out in the middle of the repeats, which then come out otherwise.
    expect(repeated.stdout).toContain('calls 2–50');
    expect(repeated.stdout).toContain('2–50 of 50 used');
    expect(last.stdout).toContain('call 60  ');
    expect(last.stdout).toContain('1 call: 0 allowed, 1 refused.');
  });

  test('opens a breaker when calls end in errors', async () => {
    const failing = { server_name: 'git', tool_name: 'get_x', args: {}, result: 'error' };
    write('failing.json', JSON.stringify(Array.from({ length: 11 }, () => failing)));
    const breaker = {
      scope: 'run',
      error_threshold: 10,
      window_ms: 1000,
      on_trip: 'BLOCK',
    };
    const rule = { rule_id: 'b', kind: 'breaker', enabled: true, match: {}, severity: 'warn' };
    const bundle = {
      policy_id: 'p',
      version: '1',
      mode: 'guardrails',
      defaults: { decision_on_error: 'BLOCK' },
      selectors: {},
      rules: [{ ...rule, effect: { breaker } }],
    };
    write('breaker.json', JSON.stringify(bundle));
    const args = ['policy', 'explain', 'breaker.json', '--call', 'failing.json', '--json'];
    const { calls } = explained((await sub(...args)).stdout);
    expect(calls.at(-2)?.decision.action).toBe('ALLOW');
    expect(calls.at(-1)?.decision).toMatchObject({
      action: 'BLOCK',
      reason_code: 'BREAKER_ERRORS',
    });
  });

  test('a mode for the occasion does not change which policy it is', async () => {
    const args = ['policy', 'explain', 'starter.yaml', '--call', 'session.json', '--json'];
    const [own, other] = await Promise.all([sub(...args), sub(...args, '--mode', 'observe')]);
    const [ownCall] = explained(own.stdout).calls;
    const [otherCall] = explained(other.stdout).calls;
    expect(ownCall).toMatchObject({ mode: 'control', mode_overridden: false });
    expect(otherCall).toMatchObject({ mode: 'observe', mode_overridden: true });
    expect(otherCall?.policy).toEqual(ownCall?.policy);
  });

  test('reads calls as editors write them, and takes only the values of the contract', async () => {
    write('bom.json', `\ufeff${JSON.stringify(CREATE)}`);
    write('staging.json', JSON.stringify({ ...CREATE, identity: { env: 'production' } }));
    write('call.yaml', 'server_name: s\ntool_name: t\n');
    const call = (path: string) => ['policy', 'explain', 'starter.yaml', '--call', path];
    const wrong = (text: string) => ({ code: 'SUB_USAGE', text });
    const [bom] = await Promise.all([
      sub(...call('bom.json')),
      expectFailure(call('staging.json'), wrong('Did you mean prod?')),
      expectFailure(call('call.yaml'), wrong('looks like YAML, and calls are JSON')),
    ]);
    expect(bom.code).toBe(0);
  });

  test('the development profile refuses nothing and says what it spared', async () => {
    const args = ['policy', 'explain', 'starter.yaml', '--call', 'session.json'];
    const result = await sub(...args, '--profile', 'development');
    expect(result.code).toBe(0);
    expect(result.stdout).toContain('enforced it would be ◆ REJECT_WITH_HINT');
  });

  test('a policy that is not for the agent says so', async () => {
    const args = ['policy', 'explain', 'starter.yaml', '--call', 'session.json', '--env', 'prod'];
    const result = await sub(...args);
    expect(result.code).toBe(0);
    expect(result.stdout).toContain('[NOT_SELECTED]');
  });
});

describe.concurrent('sub policy replay', () => {
  const source = { host_id: 'h', proc_id: 'p', shim_id: 's' };
  const who = { run_id: 'r', agent_id: 'a', client: 'custom', env: 'dev', source };
  const envelope = { v: '0.2.0', ts: '2026-01-01T00:00:00Z', ...who };
  const hash = '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a';
  const policy = { policy_id: 'old', policy_version: '1', policy_hash: hash };

  function recorded(call_id: string, seq: number, tool_name: string): string {
    const ref = { call_id, server_name: 'github', tool_name, args_hash: hash };
    const preview = { truncated: false, args_preview: '{}' };
    const call = { ...ref, seq, transport: 'mcp_stdio', bytes_in: 2, preview };
    const explain = { summary: 'Fine.', reason_code: 'DEFAULT_ALLOW' };
    const decision = { action: 'ALLOW', rule_id: null, severity: 'info', explain, policy };
    const start = { ...envelope, type: 'tool_call_start', call };
    const decided = { ...envelope, type: 'tool_call_decision', call: ref, decision };
    return `${JSON.stringify(start)}\n${JSON.stringify(decided)}\n`;
  }

  test('is fine when every call comes out as it did', async () => {
    write('same.jsonl', recorded('1', 1, 'list_issues'));
    const result = await sub('policy', 'replay', 'starter.yaml', 'same.jsonl');
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(result.stdout).toContain('1 same');
  });

  test('fails when a call would now be refused', async () => {
    write('shell.jsonl', recorded('1', 1, 'list_issues') + recorded('2', 2, 'shell_run'));
    const result = await sub('policy', 'replay', 'starter.yaml', 'shell.jsonl', '--json');
    expect(result.code).toBe(1);
    expect(JSON.parse(result.stdout)).toMatchObject({
      summary: { calls: 2, verdicts: { same: 1, stricter: 1, looser: 0 } },
    });
    const text = await sub('policy', 'replay', 'starter.yaml', 'shell.jsonl');
    expect(text.stdout).toContain('by deny-shell');
  });

  test('leaves out a line that was cut off, and stops at one that is wrong', async () => {
    write('cut.jsonl', `${recorded('1', 1, 'list_issues')}{"v":"0.2`);
    const cut = await sub('policy', 'replay', 'starter.yaml', 'cut.jsonl');
    expect(cut.code).toBe(0);
    expect(cut.stderr).toContain('cut.jsonl:3: the last line is cut off');
    write('wrong.jsonl', `nonsense\n${recorded('1', 1, 'list_issues')}`);
    const wanted = { code: 'SUB_EVENT_MALFORMED', text: 'wrong.jsonl:1' };
    await expectFailure(['policy', 'replay', 'starter.yaml', 'wrong.jsonl'], wanted);
  });
});

describe.concurrent('the process', () => {
  test('sub version and --version agree with the package', async () => {
    const manifest = readFileSync(`${ROOT}packages/cli/package.json`, 'utf8');
    const { version } = JSON.parse(manifest) as { version: string };
    const [long, short, command, asJson] = await Promise.all([
      sub('--version'),
      sub('-v'),
      sub('version'),
      sub('version', '--json'),
    ]);
    expect(long.stdout).toBe(`${version}\n`);
    expect(short.stdout).toBe(long.stdout);
    expect(command.stdout).toContain(`sub ${version} `);
    expect(JSON.parse(asJson.stdout)).toMatchObject({ sub: version });
  });

  test('printing help loads nothing that reads or decides policies', () => {
    const loaded = new Map<string, string>();
    const load = (file: string) => {
      if (loaded.has(file)) return;
      const text = readFileSync(file, 'utf8');
      loaded.set(file, text);
      const imports = text.matchAll(/^(?:import|\} from) "(\.[^"]+)";$/gm);
      for (const [, path = ''] of imports) load(join(dirname(file), path));
    };
    load(`${ROOT}packages/cli/dist/sub.js`);
    const text = [...loaded.values()].join('');
    expect(text).toContain('// node_modules/commander/');
    expect(text).not.toContain('// node_modules/yaml/');
    // What makes text is needed to print at all.
    expect(
      /^\/\/ packages\/core\/(?!text\/(?:plural|visible)\.ts)/m.exec(text)?.[0],
    ).toBeUndefined();
  });

  test('colours appear only where they are wanted', async () => {
    const env = { FORCE_COLOR: '1' };
    const args = ['policy', 'lint', 'broken.yaml'];
    const [plain, forced, off] = await Promise.all([
      sub(...args),
      runSub(args, { cwd: folder, env }),
      runSub([...args, '--no-color'], { cwd: folder, env }),
    ]);
    expect(plain.stdout).not.toContain('\u001b');
    expect(forced.stdout).toContain('\u001b[31m');
    expect(off.stdout).toBe(plain.stdout);
  });

  test('large output arrives whole through a pipe', async () => {
    write('long.json', JSON.stringify(Array.from({ length: 500 }, () => CREATE)));
    const args = ['policy', 'explain', 'starter.yaml', '--call', 'long.json', '--json'];
    const { stdout } = await sub(...args);
    expect(stdout.length).toBeGreaterThan(200_000);
    expect(explained(stdout).summary.calls).toBe(500);
  });

  test('ends quietly when the reader goes away', async () => {
    write('longer.json', JSON.stringify(Array.from({ length: 2_000 }, () => CREATE)));
    const args = ['policy', 'explain', 'starter.yaml', '--call', 'longer.json'];
    const child = startSub(args, { cwd: folder });
    const result = ended(child);
    child.stdout?.once('data', () => child.stdout?.destroy());
    expect(await result).toMatchObject({ code: 141, stderr: '' });
  });

  test('stops at once when it is interrupted, without a word', async () => {
    const child = startSub(['policy', 'lint', '-'], { cwd: folder });
    const result = ended(child);
    // Once it reads its input, it is up.
    child.stdin?.write('policy_id: x\n', () => child.kill('SIGINT'));
    expect(await result).toMatchObject({ signal: 'SIGINT', stdout: '', stderr: '' });
  });

  test('a defect of ours is one line, and a stack for those who ask', async () => {
    // Nothing a user does breaks it, so one of its tools is broken on purpose.
    const script = 'globalThis.TextDecoder = class { constructor() { throw new Error("odd") } }';
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(script)}`;
    const args = ['policy', 'verify', 'starter.yaml'];
    const short = await runSub(args, { cwd: folder, env: { NODE_OPTIONS } });
    expectCalm(short);
    expect(short).toMatchObject({ code: 70, stdout: '' });
    expect(short.stderr).toMatch(/^sub: internal error: odd\. .* \[SUB_INTERNAL\]\n$/);
    const env = { NODE_OPTIONS, SUB_DEBUG: '1' };
    expect((await runSub(args, { cwd: folder, env })).stderr).toMatch(/\n\s+at /);
  });

  test('a full disk is no stack trace', () => {
    if (!existsSync('/dev/full')) return;
    const command = `"${process.execPath}" "${ROOT}packages/cli/bin/sub.mjs" version > /dev/full`;
    const { status, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' });
    expect(status).toBe(2);
    expect(stderr).toMatch(/^sub: .* \[SUB_FILE_WRITE\]\n$/);
  });
});
