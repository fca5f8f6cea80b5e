// What tells the shims of a session about it can be written to by its agent: it loosens nothing.
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AdoptHome, ECHO, said, told } from './adopt-home.ts';
import { type Ended, ended, ensureBuilt, SUB } from './sub.ts';

let machine: AdoptHome;
beforeAll(ensureBuilt);
beforeEach(() => {
  machine = new AdoptHome();
});
afterEach(() => machine.end());

const TYPE = ['--agent-type', 'claude-code', '--events', 'off', '--quiet'];
const SUM = ['files', 'get-sum', { a: 1, b: 2 }] as const;
const policy = (isEnabled: boolean): string =>
  `policy_id: e2e\nversion: "1"\nmode: guardrails\ndefaults: { decision_on_error: BLOCK }\nselectors: {}\nrules:\n  - rule_id: no-sums\n    kind: deny\n    enabled: ${isEnabled}\n    severity: warn\n    match: { tool_name: { glob: ["get-sum"] } }\n    effect: { action: BLOCK, reason_code: NO_SUMS, message: No sums here. }\n`;

/** What the agent does before it starts its servers, and what it gets then. */
const CHANGES: readonly (readonly [what: string, change: string, outcome: string])[] = [
  [
    'another policy',
    'change((env) => ({ ...env, SUB_RUN_POLICY: undefined, SUB_POLICY: loose }))',
    'BLOCK',
  ],
  ['the profile development', "change((env) => ({ ...env, SUB_PROFILE: 'development' }))", 'BLOCK'],
  ['no hub', "change((env) => ({ SUB_RUN_ID: 'x', SUB_POLICY: loose }))", 'is damaged'],
  [
    'another run',
    "change((env) => ({ ...env, SUB_RUN_ID: 'x', SUB_PROFILE: 'development' }))",
    'the run is in production',
  ],
  ['nothing', "files('wrap-').map((path) => rmSync(path))", 'BLOCK'],
  ['nothing, nor anything else', "files('').map((path) => rmSync(path))", 'BLOCK'],
];

function changing(change: string): string {
  const loose = machine.folder;
  return `import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
const [run, loose] = ${JSON.stringify([join(machine.subHome, 'run'), join(loose, 'loose.yaml')])};
const files = (start) => readdirSync(run).filter((name) => name.startsWith(start) && /^(wrap|agent)-/.test(name)).map((name) => run + '/' + name);
function change(make) {
  for (const path of files('wrap-')) {
    const file = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, JSON.stringify({ ...file, env: make(file.env) }));
  }
}
${change};
`;
}

/** The agent loosens the file of the policy, does that, and starts its server by its config. */
function wrapped(change: string, bare: boolean): Promise<Ended> {
  const strict = join(machine.project, 'policy.yaml');
  machine.write(strict, policy(true));
  machine.write(join(machine.folder, 'loose.yaml'), policy(false));
  const script = join(machine.folder, 'change.mjs');
  machine.write(script, changing(change));
  const [, node = '', agent = '', plan = '{}'] = machine.agent({ calls: [SUM], bare });
  const full = JSON.stringify({ ...(JSON.parse(plan) as object), stderr: 'inherit' });
  const both = `cp "$0/loose.yaml" "${strict}" && "${node}" "$0/change.mjs" && exec "${node}" "$@"`;
  const words = ['--', 'sh', '-c', both, machine.folder, agent, full];
  machine.write(join(machine.subHome, 'config.toml'), '[policy]\nreload = "off"\n');
  return ended(machine.start(['wrap', ...TYPE, '--policy', strict, ...words]));
}

describe('an agent that rewrites what tells of its run gets no other policy', () => {
  async function expectHeld(change: string, outcome: string, bare: boolean): Promise<void> {
    machine.servers();
    const { stdout, stderr } = await wrapped(change, bare);
    expect(stdout).not.toContain('"ok"');
    expect(stdout + stderr).toContain(outcome);
  }

  test.each(CHANGES)('with %s in it', (_what, change, outcome) =>
    expectHeld(change, outcome, false),
  );

  // Elsewhere nobody tells what a process was started with.
  test.runIf(process.platform === 'linux').each(CHANGES)(
    'with %s in it, where its servers hear nothing of the environment',
    (_what, change, outcome) => expectHeld(change, outcome, true),
  );

  test('and with nothing changed it has that of the run', async () => {
    machine.servers();
    const { stdout } = await wrapped('', true);
    expect(told(stdout).outcomes).toEqual(['BLOCK']);
  });
});

test.each([
  ['SUB_PROFILE', 'development', 'the run is in production'],
  ['SUB_RUN_POLICY_HASH', 'a'.repeat(64), 'another policy than the run began with'],
  ['SUB_POLICY_RELOAD', 'any', 'policy.reload'],
])('a shim whose %s is not that of its run does not start', async (name, word, why) => {
  const path = join(machine.project, 'policy.yaml');
  machine.write(path, policy(true));
  const shim = `exec "${process.execPath}" "${SUB}" shim --server-name a -- cat </dev/null`;
  const agent = ['--', 'env', `${name}=${word}`, 'sh', '-c', shim];
  const words = ['run', '--events', 'off', '--quiet', '--policy', path, ...agent];
  machine.write(join(machine.subHome, 'config.toml'), '[policy]\nreload = "off"\n');
  const { code, stderr } = await ended(machine.start(words));
  expect(stderr).toMatch(new RegExp(`${why}|is not the policy that this run began with`));
  expect(code).not.toBe(0);
});

describe('after a session that was killed', () => {
  let config: string;
  beforeEach(async () => {
    config = machine.servers();
    const agent = machine.agent({ calls: [ECHO], linger: true });
    const child = machine.start(['wrap', ...TYPE, ...agent]);
    await said(child, 'agent:');
    const done = ended(child);
    child.kill('SIGKILL');
    machine.killAll();
    await done;
  });

  test.each([
    ['import', 'claude', '--dry-run'],
    ['restore', 'claude', '--dry-run'],
    ['wrap', ...TYPE, '--dry-run', '--', 'true'],
  ])('%s … --dry-run leaves its config, and tells of it', async (...words) => {
    const left = machine.read();
    expect(left).not.toBe(config);
    expect((await machine.sub(...words)).stderr).toContain('`sub unwrap` puts it back');
    expect(machine.read()).toBe(left);
  });

  test('a dry run of the next one shows what that one would do', async () => {
    const words = ['wrap', ...TYPE, '--dry-run', '--', 'true'];
    const left = await machine.sub(...words);
    expect(left.stderr).not.toContain('starts a shim already');
    await machine.sub('unwrap');
    const clean = await machine.sub(...words);
    const withoutId = (diff: string) => diff.replaceAll(/[0-9a-f-]{36}/g, 'ID');
    expect(withoutId(left.stdout)).toBe(withoutId(clean.stdout));
    expect({ left: left.code, clean: clean.code }).toEqual({ left: 0, clean: 0 });
  });
});

test('restore with another SUB_HOME leaves the config of a session that lives', async () => {
  const config = machine.servers();
  const child = machine.start(['wrap', ...TYPE, ...machine.agent({ calls: [ECHO], linger: true })]);
  const done = ended(child);
  await said(child, 'agent:');
  const rewritten = machine.read();
  const other = { SUB_HOME: join(machine.folder, 'other') };
  const { code, stderr } = await ended(machine.start(['restore', 'claude', '--yes'], other));
  expect(code).toBe(2);
  expect(stderr).toContain('[SUB_CLIENT_LOCKED]');
  expect(machine.read()).toBe(rewritten);
  child.kill('SIGTERM');
  await done;
  expect(machine.read()).toBe(config);
});
