// A repository does not free itself: its policy only tightens that of the user until it is trusted.
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openTerminal, personSub } from '../person.ts';
import { AdoptHome, ECHO, SERVER, told } from './adopt-home.ts';
import { type Ended, ended, ensureBuilt, SUB } from './sub.ts';

const SUM = ['files', 'get-sum', { a: 1, b: 2 }] as const;

let machine: AdoptHome;
beforeAll(async () => {
  ensureBuilt();
  // Before the first run: a terminal that is opened later may be that of an agent.
  await openTerminal();
});
beforeEach(() => {
  machine = new AdoptHome();
});
afterEach(() => machine.end());

function denying(...tools: readonly string[]): string {
  const rules = tools.map(
    (tool) =>
      `\n  - rule_id: no-${tool}\n    kind: deny\n    enabled: true\n    severity: warn\n    match: { tool_name: { glob: ["${tool}"] } }\n    effect: { action: BLOCK, reason_code: NO, message: Not here. }`,
  );
  return `policy_id: e2e\nversion: "1.${tools.length}"\nmode: guardrails\ndefaults: { decision_on_error: BLOCK }\nselectors: {}\nrules:${rules.join('') || ' []'}\n`;
}

const paths = () => ({
  user: join(machine.subHome, 'policy.yaml'),
  project: join(machine.project, 'policy.yaml'),
});

/** The policies of the user and of the project. */
function policies(user: string | undefined, project: string | undefined): void {
  if (user !== undefined) {
    machine.write(paths().user, user);
    chmodSync(machine.subHome, 0o700);
  }
  if (project !== undefined) machine.write(paths().project, project);
}

/** The server stands behind a shim already, as after `sub import`. */
function imported(env: object = {}): void {
  const { command, args } = SERVER;
  const shim = [SUB, 'shim', '--server-name', 'files', '--', command, ...args];
  machine.servers({ files: { command: process.execPath, args: shim, env } });
}

interface Run {
  readonly command?: readonly string[];
  readonly flags?: readonly string[];
  readonly env?: { readonly [name: string]: string };
  /** Runs in the shell of the agent, before it starts its server. */
  readonly does?: string;
  /** The same, after the agent has made its calls. */
  readonly mends?: string;
  readonly calls?: readonly (readonly [server: string, tool: string, args: object])[];
}

function run(one: Run = {}) {
  const { command = ['run'], flags = [], env = {}, does = ':', mends = ':', calls } = one;
  const [, node = '', script = '', plan = ''] = machine.agent({ calls: calls ?? [SUM, ECHO] });
  const seen = JSON.stringify({ ...(JSON.parse(plan) as object), stderr: 'inherit' });
  const agent = ['--', 'sh', '-c', `${does}; "$0" "$@"; ${mends}`, node, script, seen];
  return ended(machine.start([...command, '--events', 'events', ...flags, ...agent], env));
}

function outcomes({ stdout, stderr }: Ended): readonly string[] {
  if (!stdout.includes('agent:')) throw new Error(stderr);
  return told(stdout).outcomes;
}

const person = (...args: readonly string[]) =>
  personSub(args, { cwd: machine.project, env: machine.env });

describe.each([
  { kind: 'sub run', command: ['run'], prepare: () => imported() },
  {
    kind: 'sub wrap',
    command: ['wrap', '--agent-type', 'claude-code'],
    prepare: () => machine.servers(),
  },
])('the policy of a project under `$kind`', ({ command, prepare }) => {
  beforeEach(prepare);

  test('only tightens that of the user, which is said with the way out', async () => {
    policies(denying('get-sum'), denying('echo'));
    const done = await run({ command });
    expect(outcomes(done)).toEqual(['BLOCK', 'BLOCK']);
    const { user, project } = paths();
    expect(done.stderr.split('\n')).toContain(
      `sub: ${project} is not trusted, so it only tightens ${user}. To trust it: sub trust ${project}`,
    );
    expect(readFileSync(join(machine.project, 'events'), 'utf8')).toContain('project:no-echo');
  });

  test('does not free the agent', async () => {
    policies(denying('get-sum'), denying());
    expect(outcomes(await run({ command }))).toEqual(['BLOCK', 'ok']);
  });

  test('holds as it is where the user has none', async () => {
    policies(undefined, denying('echo'));
    const done = await run({ command });
    expect(outcomes(done)).toEqual(['ok', 'BLOCK']);
    expect(done.stderr).not.toContain('not trusted');
  });

  test.each([
    { flags: ['--trust'], env: {} },
    { flags: [], env: { SUB_TRUST: '1' } },
  ])('holds alone where this run trusts it: $flags $env', async (how) => {
    policies(denying('get-sum'), denying('echo'));
    const done = await run({ command, ...how });
    expect(outcomes(done)).toEqual(['ok', 'BLOCK']);
    expect(done.stderr).not.toContain('not trusted');
    expect(existsSync(join(machine.subHome, 'trust.json'))).toBe(false);
  });

  test('holds alone once it is trusted, until it changes', async () => {
    policies(denying('get-sum'), denying('echo'));
    expect((await person('trust', '--yes')).code).toBe(0);
    expect(outcomes(await run({ command }))).toEqual(['ok', 'BLOCK']);
    policies(undefined, denying());
    expect(outcomes(await run({ command }))).toEqual(['BLOCK', 'ok']);
  });

  test('that an agent loosens stays as it was, and --strict fails', async () => {
    policies(undefined, denying('get-sum'));
    const does = `sed -i 's/get-sum/get-none/' policy.yaml`;
    expect(outcomes(await run({ command, does }))).toEqual(['BLOCK', 'ok']);
    policies(undefined, denying('get-sum'));
    const done = await run({ command, does, flags: ['--strict'], calls: [ECHO] });
    expect(done.code).toBe(3);
    expect(done.stderr).toContain(
      `${paths().project} was changed during the run and lets more pass`,
    );
    expect(done.stderr).toContain('strict: a policy was loosened.');
  });

  test('that an agent removes stays as it was, and --strict fails', async () => {
    policies(undefined, denying('get-sum'));
    const done = await run({ command, does: 'rm policy.yaml', flags: ['--strict'], calls: [ECHO] });
    expect(done.code).toBe(3);
    expect(done.stderr).toContain(`sub: ${paths().project} was removed during the run.`);
    expect(done.stderr).toContain('strict: a policy was removed.');
    expect(done.stderr).not.toContain('loosened');
  });

  test('that an agent breaks stays as it was, and is named among two', async () => {
    policies(denying('get-sum'), denying('echo'));
    const does = `echo 'rules: [' > policy.yaml`;
    const done = await run({ command, does, flags: ['--strict'], calls: [ECHO] });
    expect(done.code).toBe(3);
    const { user, project } = paths();
    expect(done.stderr).toContain(`sub: ${project} was broken during the run: `);
    expect(done.stderr).not.toContain(`${user} or`);
    expect(done.stderr).toContain('strict: a policy was broken.');
    expect(done.stderr).not.toContain('strict: a policy was loosened');
  });
});

describe('--strict', () => {
  beforeEach(() => imported());

  test('does not fail where a policy was only tightened', async () => {
    policies(undefined, denying());
    machine.write(join(machine.project, 'next.yaml'), denying('get-sum'));
    const does = 'cat next.yaml > policy.yaml';
    const done = await run({ does, flags: ['--strict'], calls: [ECHO] });
    expect([done.code, done.stderr.match(/loosened|more pass/)]).toEqual([0, null]);
  });

  test('does not fail where a policy that this run trusts was only touched', async () => {
    policies(undefined, denying().replace('guardrails', 'observe'));
    const flags = ['--strict', '--trust'];
    const done = await run({ does: 'touch policy.yaml', flags, calls: [ECHO] });
    expect([done.code, done.stderr.match(/loosened|more pass/)]).toEqual([0, null]);
  });

  test('fails where a looser policy came into force', async () => {
    policies(undefined, denying('get-sum'));
    machine.write(join(machine.project, 'next.yaml'), denying());
    const done = await run({
      does: 'cat next.yaml > policy.yaml',
      flags: ['--strict', '--policy', 'policy.yaml'],
      env: { SUB_POLICY_RELOAD: 'any' },
      calls: [SUM],
    });
    expect(outcomes(done)).toEqual(['ok']);
    expect(done.stderr).toContain('a policy that lets more pass came into force during the run (');
    expect(done.code).toBe(3);
  });

  test('fails where a looser policy was written and taken back again', async () => {
    policies(undefined, denying('get-sum'));
    // The server starts while the file is loose; the agent mends it before the run ends.
    const does = `cp policy.yaml kept; sed -i 's/get-sum/get-none/' policy.yaml`;
    const mends = 'cp kept policy.yaml';
    const done = await run({ does, mends, flags: ['--strict'], calls: [ECHO] });
    expect(done.code).toBe(3);
    expect(done.stderr).toContain('so that it would let more pass; that was not taken.');
  });
});

test('the sections and the shared counters of a project hold beside the policy of the user', async () => {
  imported();
  const budget = `
  - rule_id: once
    kind: budget
    enabled: true
    severity: warn
    match: { tool_name: { glob: [echo] } }
    effect: { budget: { scope: run, limit_calls: 1, on_exceed: BLOCK } }`;
  const text = denying().replace('rules: []', `rules:${budget}\ncontent: {}`);
  policies(denying('get-sum'), text);
  const key = ['files', 'echo', { message: ['AKIA', 'IOSFODNN7ABCDEFG'].join('') }] as const;
  expect(outcomes(await run({ calls: [key] }))).toEqual(['BLOCK']);
  expect(outcomes(await run({ calls: [ECHO, ECHO] }))).toEqual(['ok', 'BLOCK']);
});

test('a shim by itself does not trust a project because its environment says so', async () => {
  policies(denying('get-sum'), denying());
  imported({ SUB_TRUST: '1' });
  const [, node = '', script = '', plan = ''] = machine.agent({ calls: [SUM, ECHO] });
  const { spawn } = await import('node:child_process');
  const env = { ...process.env, ...machine.env, SUB_TRUST: '1', SUB_EVENTS: 'off' };
  const child = spawn(node, [script, plan], { cwd: machine.project, env });
  child.stdin.end();
  expect(outcomes(await ended(child))).toEqual(['BLOCK', 'ok']);
});

test('a policy outside of the home is not used, and `sub run` says so', async () => {
  imported();
  machine.write(join(machine.folder, 'policy.yaml'), denying('echo'));
  const [, ...agent] = machine.agent({ calls: [ECHO] });
  const { startSub } = await import('./sub.ts');
  const child = startSub(['run', '--events', 'off', '--', ...agent], {
    cwd: machine.folder,
    env: machine.env,
  });
  child.stdin?.end();
  const done = await ended(child);
  expect(outcomes(done)).toEqual(['ok']);
  const path = join(machine.folder, 'policy.yaml');
  expect(done.stderr).toContain(
    `${path} is not used: ${machine.folder} is outside of ${machine.home}. To use it, add: --policy ${path}`,
  );
});

describe('sub trust', () => {
  test('shows what the project lets pass that the user does not, and asks', async () => {
    policies(denying('get-sum'), denying());
    const asked = await machine.sub('trust');
    expect(asked.code).toBe(2);
    expect(asked.stdout).toContain(paths().project);
    expect(asked.stdout).toMatch(/SHA-256 [0-9a-f]{64}\n/);
    expect(asked.stdout).toContain('rules[no-get-sum]: the deny rule is removed (loosens)');
    expect(asked.stderr).toContain('Add --yes.');
    expect(existsSync(join(machine.subHome, 'trust.json'))).toBe(false);
  });

  test('is refused to an agent', async () => {
    imported();
    policies(denying('get-sum'), denying());
    const does = `env -u SUB_RUN_ID '${process.execPath}' '${SUB}' trust --yes >&2`;
    const done = await run({ does });
    expect(done.stderr).toContain('[SUB_INSIDE_RUN]');
    expect(outcomes(done)).toEqual(['BLOCK', 'ok']);
    expect(existsSync(join(machine.subHome, 'trust.json'))).toBe(false);
  });

  test('lists and revokes', async () => {
    policies(denying('get-sum'), denying());
    const { project } = paths();
    const json = JSON.parse((await person('trust', '--yes', '--json')).stdout) as object;
    expect(json).toMatchObject({ path: project, trusted: true });
    expect((await person('trust', 'list')).stdout).toContain(`${project}  `);
    policies(undefined, denying('echo'));
    expect((await person('trust', 'list')).stdout).toContain('changed since');
    expect((await person('trust', 'revoke')).stdout).toBe(`${project} is not trusted any more.\n`);
    expect((await person('trust', 'list')).stdout).toBe('No policy of a project is trusted.\n');
  });

  test('refuses a policy that others can write to, as `sub run` does', async () => {
    policies(denying('get-sum'), denying());
    const { project } = paths();
    chmodSync(project, 0o666);
    for (const file of [[project], []]) {
      const done = await person('trust', ...file, '--yes');
      expect(done.code).toBe(2);
      expect(done.stderr).toMatch(
        /policy\.yaml can be written to by others.* Run: chmod go-w .*policy\.yaml\. \[SUB_FILE_UNSAFE\]/,
      );
    }
    expect(existsSync(join(machine.subHome, 'trust.json'))).toBe(false);
  });

  test('refuses a policy in a folder that others can write to, found or named', async () => {
    policies(denying('get-sum'), denying());
    chmodSync(machine.project, 0o777);
    for (const file of [[paths().project], []]) {
      const done = await person('trust', ...file, '--yes');
      expect(done.code).toBe(2);
      expect(done.stderr).toContain(`un: chmod go-w ${machine.project}.`);
    }
    expect(existsSync(join(machine.subHome, 'trust.json'))).toBe(false);
  });

  test('refuses a policy that no search finds, and says how to use it', async () => {
    policies(denying('get-sum'), undefined);
    const outside = join(machine.folder, 'policy.yaml');
    const other = join(machine.project, 'other.yaml');
    const hidden = join(machine.project, '.subluminal', 'policy.yaml');
    machine.write(outside, denying());
    machine.write(other, denying());
    machine.write(hidden, denying());
    for (const path of [outside, other]) {
      const done = await person('trust', path, '--yes');
      expect(done.code).toBe(2);
      expect(done.stderr).toContain(`--policy ${path}`);
    }
    expect((await person('trust', other, '--yes')).stderr).toContain('is called policy.yaml');
    expect((await person('trust', outside, '--yes')).stderr).toContain(
      `is outside of ${machine.home}`,
    );
    expect((await person('trust', hidden, '--yes')).code).toBe(0);
    machine.write(paths().project, denying());
    const shadowed = await person('trust', hidden, '--yes');
    expect([shadowed.code, shadowed.stderr]).toEqual([
      2,
      expect.stringContaining(`${paths().project} is found before it`),
    ]);
  });

  test('has nothing to do where the user has no policy, or the policy is the user’s own', async () => {
    policies(undefined, denying('echo'));
    const alone = await machine.sub('trust');
    expect(alone).toMatchObject({ code: 0, stderr: '' });
    expect(alone.stdout).toContain('it holds already');
    expect(existsSync(join(machine.subHome, 'trust.json'))).toBe(false);
    policies(denying('get-sum'), undefined);
    const own = await machine.sub('trust', paths().user);
    expect(own).toMatchObject({ code: 0, stderr: '' });
    expect(own.stdout).toContain('is your own policy: it holds already');
  });

  test('asks all the same where only a trusted policy may say what this one says', async () => {
    policies(undefined, denying('echo').replace('rules:', 'self_protection: off\nrules:'));
    const asked = await machine.sub('trust');
    expect(asked.code).toBe(2);
    expect(asked.stdout).toContain('switches off self-protection');
  });

  test('believes no file that it did not sign, and says what to do', async () => {
    policies(denying('get-sum'), denying());
    const { project } = paths();
    expect((await person('trust', '--yes')).code).toBe(0);
    const file = join(machine.subHome, 'trust.json');
    machine.write(file, machine.read(file).replace(/"trusted_at": "2/, '"trusted_at": "1'));
    for (const words of [
      ['trust', 'list'],
      ['trust', '--yes'],
      ['trust', 'revoke', project],
    ]) {
      const done = await person(...words);
      expect(done.code).toBe(2);
      expect(done.stderr).toContain('has a signature that does not hold');
      expect(done.stderr).toContain(`Remove ${file}`);
    }
    imported();
    const ran = await run();
    expect(outcomes(ran)).toEqual(['BLOCK', 'ok']);
    expect(ran.stderr).toContain(`${file} has a signature that does not hold`);
  });

  test('needs a policy that can be used', async () => {
    expect(await person('trust', '--yes')).toMatchObject({ code: 2 });
    policies(undefined, 'rules: [');
    expect((await person('trust', '--yes')).code).not.toBe(0);
    expect(existsSync(join(machine.subHome, 'trust.json'))).toBe(false);
  });
});

test('lint and explain say when a policy only tightens here', async () => {
  policies(denying('get-sum'), denying('echo'));
  const { user, project } = paths();
  const words = `without --policy, policy.yaml only tightens ${user} here: it is not trusted`;
  const lint = await machine.sub('policy', 'lint', 'policy.yaml');
  expect(lint.stderr).toContain(words);
  const call = ['--server', 'files', '--tool', 'echo'];
  expect((await machine.sub('policy', 'explain', 'policy.yaml', ...call)).stderr).toContain(words);
  expect((await machine.sub('policy', 'lint', user)).stderr).toContain(
    `${project} tightens ${user} here`,
  );
});
