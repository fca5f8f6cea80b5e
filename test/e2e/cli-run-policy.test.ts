// The policy of a run is the one that it began with: an agent that can write the file gets no other
// one by starting a server again.
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AdoptHome, ECHO, SERVER, told } from './adopt-home.ts';
import { type Ended, ended, ensureBuilt, SUB } from './sub.ts';

let machine: AdoptHome;
beforeAll(ensureBuilt);
beforeEach(() => {
  machine = new AdoptHome();
});
afterEach(() => machine.end());

const SUM = ['files', 'get-sum', { a: 1, b: 2 }] as const;

function denying(...tools: readonly string[]): string {
  const rules = tools.map(
    (tool) =>
      `\n  - rule_id: no-${tool}\n    kind: deny\n    enabled: true\n    severity: warn\n    match: { tool_name: { glob: ["${tool}"] } }\n    effect: { action: BLOCK, reason_code: NO, message: Not here. }`,
  );
  // Decisions that change under the same version are never taken for stricter ones.
  return `policy_id: e2e\nversion: "1.${tools.length}"\nmode: guardrails\ndefaults: { decision_on_error: BLOCK }\nselectors: {}\nrules:${rules.join('') || ' []'}\n`;
}

interface Case {
  readonly before: string;
  /** What the agent writes to the file before it starts its server. */
  readonly after?: string;
  readonly reload?: string;
  readonly bare?: boolean;
  /** Runs in the shell of the agent, before it starts its server. */
  readonly does?: string;
  /** Further flags of the host. */
  readonly flags?: readonly string[];
}

/** The agent as a shell starts it: it works on the files first. */
function shell({ after, does = ':', bare = false }: Case): readonly string[] {
  machine.write(join(machine.project, 'next.yaml'), after ?? '');
  const [, node = '', script = '', plan = '{}'] = machine.agent({ calls: [SUM, ECHO], bare });
  const seen = JSON.stringify({ ...(JSON.parse(plan) as object), stderr: 'inherit' });
  const change = after === undefined ? ':' : 'cat next.yaml > policy.yaml';
  return ['--', 'sh', '-c', `${change}; ${does}; "$0" "$@"`, node, script, seen];
}

/** The server stands behind a shim already, as after `sub import`. */
function imported(...flags: readonly string[]): void {
  const { command, args } = SERVER;
  const shim = [SUB, 'shim', '--server-name', 'files', ...flags, '--', command, ...args];
  machine.servers({ files: { command: process.execPath, args: shim } });
}

/** With a policy of its own, which the user has given to `sub import`. */
async function importedWith(policy: string): Promise<void> {
  machine.servers();
  expect(await machine.sub('import', 'claude', '--yes', '--policy', policy)).toMatchObject({
    code: 0,
  });
}

function start(command: readonly string[], one: Case): Promise<Ended> {
  machine.write(join(machine.project, 'policy.yaml'), one.before);
  const env = one.reload === undefined ? {} : { SUB_POLICY_RELOAD: one.reload };
  const flags = one.flags ?? ['--events', 'off'];
  return ended(machine.start([...command, ...flags, ...shell(one)], env));
}

const run = (one: Case) => start(['run'], one);
const wrap = (one: Case) => start(['wrap', '--agent-type', 'claude-code'], one);

function outcomes({ stdout, stderr }: Ended): readonly string[] {
  if (!stdout.includes('agent:')) throw new Error(stderr);
  return told(stdout).outcomes;
}

describe.each([
  { kind: '`sub run`', host: run, prepare: () => imported() },
  { kind: '`sub wrap`', host: wrap, prepare: () => machine.servers() },
])('a server that is started again under $kind', ({ host, prepare }) => {
  beforeEach(prepare);

  test('keeps the policy of the run when the file lets more pass', async () => {
    const files = { before: denying('get-sum'), after: denying() };
    const done = await host({ ...files, reload: 'tighten' });
    expect(outcomes(done)).toEqual(['BLOCK', 'ok']);
    expect(done.stderr).toContain('would let more pass (');
    expect(machine.left('run')).toEqual([]);
  });

  test('does so, too, where the client hides the environment', async () => {
    const files = { before: denying('get-sum'), after: denying() };
    expect(outcomes(await host({ ...files, reload: 'tighten', bare: true }))).toEqual([
      'BLOCK',
      'ok',
    ]);
  });

  test('takes a file that lets less pass', async () => {
    const files = { before: denying('get-sum'), after: denying('get-sum', 'echo') };
    expect(outcomes(await host({ ...files, reload: 'tighten' }))).toEqual(['BLOCK', 'BLOCK']);
  });

  test('takes no other file at all with `off`', async () => {
    const files = { before: denying('get-sum'), after: denying('echo') };
    expect(outcomes(await host({ ...files, reload: 'off' }))).toEqual(['BLOCK', 'ok']);
  });

  test('keeps the policy of the run where nothing was asked for', async () => {
    const files = { before: denying('get-sum'), after: denying('echo') };
    expect(outcomes(await host(files))).toEqual(['BLOCK', 'ok']);
  });

  test('takes any file with `any` that the user has named', async () => {
    const files = { before: denying('get-sum'), after: denying('echo') };
    const flags = ['--events', 'off', '--policy', 'policy.yaml'];
    expect(outcomes(await host({ ...files, reload: 'any', flags }))).toEqual(['ok', 'BLOCK']);
  });

  test('takes nothing looser even with `any` from a project that is not trusted', async () => {
    const files = { before: denying('get-sum'), after: denying('echo') };
    expect(outcomes(await host({ ...files, reload: 'any' }))).toEqual(['BLOCK', 'ok']);
  });

  test('keeps the policy of the run when the file is broken or gone', async () => {
    const broken = await host({ before: denying('get-sum'), after: 'rules: [' });
    expect(outcomes(broken)).toEqual(['BLOCK', 'ok']);
    expect(broken.stderr).toContain('the policy that the run began with holds');
    const gone = await host({ before: denying('get-sum'), does: 'rm policy.yaml' });
    expect(outcomes(gone)).toEqual(['BLOCK', 'ok']);
  });

  test('does not start by a copy that was changed, whole as it may be', async () => {
    const spoil = `for f in "$SUB_RUN_POLICY"; do sed -i 's/get-sum/get-none/' "$f"; done`;
    const done = await host({ before: denying('get-sum'), reload: 'off', does: spoil });
    expect(done.stdout).not.toContain('agent:');
    expect(done.stderr).toContain('[SUB_SNAPSHOT_HASH]');
    const gone = await host({ before: denying('get-sum'), does: 'rm "$SUB_RUN_POLICY"' });
    expect(gone.stdout).not.toContain('agent:');
    expect(gone.stderr).toContain('[SUB_FILE_READ]');
    expect(machine.left('run')).toEqual([]);
  });
});

test('a configuration that changes meanwhile does not undo the policy of the run', async () => {
  imported();
  machine.write(join(machine.subHome, 'config.toml'), '[policy]\nreload = "tighten"\n');
  const loosen = `printf 'profile = "development"\\n[policy]\\nreload = "any"\\n' > "$SUB_HOME"/config.toml`;
  const files = { before: denying('get-sum'), after: denying() };
  expect(outcomes(await run({ ...files, does: loosen }))).toEqual(['BLOCK', 'ok']);
});

test('the policy that an entry names holds for it, and it says so', async () => {
  const own = join(machine.project, 'own.yaml');
  machine.write(own, denying('echo'));
  await importedWith(own);
  const named = ['run', '--policy', join(machine.project, 'policy.yaml')];
  const done = await start(named, { before: denying('get-sum') });
  expect(outcomes(done)).toEqual(['ok', 'BLOCK']);
  expect(done.stderr.match(/this entry has its own --policy/g)).toHaveLength(1);
});

test('the policy that an entry names holds in silence where nobody named one for the run', async () => {
  const own = join(machine.project, 'own.yaml');
  machine.write(own, denying('echo'));
  await importedWith(own);
  const done = await run({ before: denying('get-sum') });
  expect(outcomes(done)).toEqual(['ok', 'BLOCK']);
  expect(done.stderr).not.toContain('its own --policy');
});

test('a bundle names every policy that was in force, with what it decided', async () => {
  const own = join(machine.project, 'own.yaml');
  machine.write(own, denying('echo').replace('policy_id: e2e', 'policy_id: own'));
  machine.write(join(machine.project, 'policy.yaml'), denying('get-sum'));
  await importedWith(own);
  const flags = ['run', '--policy', 'policy.yaml', '--bundle', 'trace'];
  await ended(machine.start([...flags, ...shell({ before: '' })]));
  const read = (name: string) => readFileSync(join(machine.project, 'trace', name), 'utf8');
  expect(JSON.parse(read('summary.json'))).toMatchObject({
    policy: { policy_id: 'e2e' },
    policies: [
      { policy_id: 'own', calls: 2, refused: 1 },
      { policy_id: 'e2e', calls: 0, refused: 0 },
    ],
  });
  expect(read('summary.md')).toMatch(/## Policies\n[^#]*\| ` own ` \| [^\n]* \| 2 \| 1 \|/);
});

test('the policy of the run by another name is no other one', async () => {
  const link = join(machine.project, 'link.yaml');
  symlinkSync(join(machine.project, 'policy.yaml'), link);
  imported('--policy', link);
  const done = await run({ before: denying('get-sum'), after: denying(), reload: 'tighten' });
  expect(outcomes(done)).toEqual(['BLOCK', 'ok']);
  expect(done.stderr).not.toContain('its own --policy');
});

test('the server hears nothing of the copy, which is private and gone at the end', async () => {
  const { command, args } = SERVER;
  const tell = `env > server.env; ls -l "${machine.subHome}"/run > run.list; exec "$0" "$@"`;
  const server = ['sh', '-c', tell, command, ...args];
  const shim = [SUB, 'shim', '--server-name', 'files', '--', ...server];
  machine.servers({ files: { command: process.execPath, args: shim } });
  expect(outcomes(await run({ before: denying('get-sum') }))).toEqual(['BLOCK', 'ok']);
  const seen = (name: string) => readFileSync(join(machine.project, name), 'utf8');
  expect(seen('server.env')).not.toMatch(/^SUB_RUN_POLICY/m);
  expect(seen('run.list')).toMatch(/^-rw-------.* policy-[0-9a-f]{16}-/m);
  expect(machine.left('run')).toEqual([]);
});

test('a run without a policy keeps none', async () => {
  imported();
  const list = `ls "${machine.subHome}"/run > run.list; rm -f policy.yaml`;
  machine.write(join(machine.project, 'next.yaml'), '');
  const [, ...command] = shell({ before: '', does: list });
  const done = await ended(machine.start(['run', '--events', 'off', '--', ...command]));
  expect(outcomes(done)).toEqual(['ok', 'ok']);
  expect(readFileSync(join(machine.project, 'run.list'), 'utf8')).not.toContain('policy-');
  expect(existsSync(join(machine.subHome, 'run'))).toBe(true);
  expect(readdirSync(join(machine.subHome, 'run'))).toEqual([]);
});
