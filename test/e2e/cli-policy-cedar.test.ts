// Cedar policies beside a bundle: what `sub policy explain` says of them, and what keeps a run from
// starting.
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askSub } from './ask-sub.ts';
import { type Ended, ensureBuilt, ROOT } from './sub.ts';

const PUSH = ['--server', 'git', '--tool', 'push', '--args'];
const FORCED = [...PUSH, '{"force":true}'];

let folder = '';
beforeAll(() => {
  ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), 'sub-e2e-cedar-'));
  cpSync(`${ROOT}examples/cedar`, join(folder, 'cedar'), { recursive: true });
  cpSync(`${ROOT}examples/policies/starter.yaml`, join(folder, 'starter.yaml'));
  for (const name of ['broken', 'odd', 'configured']) mkdirSync(join(folder, name));
  writeFileSync(
    join(folder, 'broken', 'a.cedar'),
    'permit (principal, action, resource);\nforbi\n',
  );
  writeFileSync(
    join(folder, 'odd', 'a.cedar'),
    '@id("all") permit (principal, action, resource);\n@id("odd") forbid (principal, action, resource) when { context.args has n && context.args.n * 9223372036854775807 < 0 };\n',
  );
  writeFileSync(join(folder, 'odd', 'a.cedarschema'), 'type Arguments = { n?: Long };\n');
  writeFileSync(join(folder, 'configured', 'config.toml'), '[cedar]\npolicies = "../cedar"\n');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function sub(args: readonly string[], home = 'home'): Promise<Ended> {
  const env = { HOME: folder, SUB_HOME: join(folder, home) };
  return askSub(args, { cwd: folder, env });
}

function explain(...args: readonly string[]): Promise<Ended> {
  return sub(['policy', 'explain', 'starter.yaml', ...args]);
}

interface Place {
  readonly id: string;
  readonly file: string;
  readonly line: number;
}

interface Document {
  readonly calls: readonly {
    readonly decision: { readonly action: string; readonly rule_id: string | null };
    readonly cedar?: {
      readonly decision: string;
      readonly cause: string;
      readonly deciding: readonly Place[];
      readonly outvoted: readonly Place[];
      readonly errors: readonly { readonly policy_id: string }[];
    };
  }[];
}

function firstIn({ stdout }: Ended): Document['calls'][number] {
  const [first] = (JSON.parse(stdout) as Document).calls;
  if (first === undefined) throw new Error(stdout);
  return first;
}

describe.concurrent('sub policy explain --cedar', () => {
  test('says which policy forbids, where it stands, and which permits it outvoted', async () => {
    const result = await explain('--cedar', 'cedar', ...FORCED);
    expect(result).toMatchObject({ code: 1, stderr: '' });
    const { stdout } = result;
    expect(stdout).toContain('◆ REJECT_WITH_HINT by cedar:no-force-push: Force pushes');
    expect(stdout).toContain('hint      Push to a new branch and open a pull request.');
    expect(stdout).toContain('▶ cedar no-force-push  forbid  cedar/guards.cedar:1');
    expect(stdout).toContain('· cedar everyone  permit  cedar/base.cedar:2, which is outvoted');
    expect(stdout).toContain('1 call: 0 allowed, 1 refused.');
  });

  test('says the same in JSON', async () => {
    const first = firstIn(await explain('--cedar', 'cedar', '--json', ...FORCED));
    expect(first.decision).toMatchObject({ rule_id: 'cedar:no-force-push' });
    expect(first.cedar).toMatchObject({
      decision: 'deny',
      cause: 'forbid',
      deciding: [{ id: 'no-force-push', file: 'cedar/guards.cedar', line: 1 }],
      outvoted: [{ id: 'everyone', file: 'cedar/base.cedar', line: 2 }],
      errors: [],
    });
  });

  test('lets pass what is permitted, by the permit that it names', async () => {
    const result = await explain('--cedar', 'cedar', ...PUSH, '{"force":false}');
    expect(result.code).toBe(0);
    expect(result.stdout).toContain('▶ cedar everyone  permit  cedar/base.cedar:2');
  });

  test('does not release what a rule refuses, and names the policies all the same', async () => {
    const call = ['--server', 'shell', '--tool', 'shell_run', '--json'];
    const result = await explain('--cedar', 'cedar', ...call);
    expect(result.code).toBe(1);
    const first = firstIn(result);
    expect(first.decision.rule_id).toBe('deny-shell');
    expect(first.cedar).toMatchObject({ decision: 'allow' });
  });

  test('only tells what would be refused in development', async () => {
    const result = await explain('--cedar', 'cedar', '--profile', 'development', ...FORCED);
    expect(result.code).toBe(0);
    expect(result.stdout).toContain(
      'enforced it would be ◆ REJECT_WITH_HINT by cedar:no-force-push',
    );
    expect(result.stdout).toContain('▷ cedar no-force-push');
  });

  test('shows a policy that fails, and that this denies', async () => {
    const args = ['--cedar', 'odd', '--server', 's', '--tool', 't', '--args', '{"n":2}'];
    const result = await explain(...args, '--json');
    expect(result.code).toBe(1);
    expect(firstIn(result).decision.rule_id).toBe('cedar:odd');
    expect(firstIn(result).cedar).toMatchObject({
      cause: 'forbid_failed',
      outvoted: [{ id: 'all' }],
      errors: [{ policy_id: 'odd' }],
    });
    const { stdout } = await explain(...args);
    expect(stdout).toContain('· cedar odd failed: ');
  });

  test('takes the policies of the configuration, and none where none are named', async () => {
    const args = ['policy', 'explain', 'starter.yaml', '--json', ...FORCED];
    const configured = await sub(args, 'configured');
    expect(configured.code).toBe(1);
    expect(firstIn(configured).decision.rule_id).toBe('cedar:no-force-push');
    const plain = await sub(args);
    expect(plain.code).toBe(0);
    expect(firstIn(plain).cedar).toBeUndefined();
  });

  test('ends with 2 when the policies are broken, with the place', async () => {
    const result = await explain('--cedar', 'broken', ...FORCED);
    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(/^broken\/a\.cedar:\d+:\d+: error: .* \[SUB_CEDAR_SYNTAX\]$/m);
    expect(result.stderr).toContain('[SUB_CEDAR_FILES]');
    expect((await explain('--cedar', 'nowhere', ...FORCED)).code).toBe(2);
    expect((await explain('--cedar', '', ...FORCED)).stderr).toContain('--cedar is empty');
  });
});

describe('sub run with Cedar policies', () => {
  const agent = ['--', process.execPath, '-e', 'fs.writeFileSync("ran", "")'];
  const run = (...args: readonly string[]) =>
    sub(['run', '--events', 'off', '--policy', 'starter.yaml', ...args, ...agent]);

  test('does not start the agent when they are broken, but in development', async () => {
    const refused = await run('--cedar', 'broken');
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/broken\/a\.cedar:\d+:\d+: error: /);
    expect(existsSync(join(folder, 'ran'))).toBe(false);
    const warned = await run('--cedar', 'broken', '--profile', 'development');
    expect(warned.code).toBe(0);
    expect(warned.stderr).toContain('We go on without them.');
    expect(existsSync(join(folder, 'ran'))).toBe(true);
  });

  test('starts it when they are sound', async () => {
    rmSync(join(folder, 'ran'), { force: true });
    expect((await run('--cedar', 'cedar')).code).toBe(0);
    expect(existsSync(join(folder, 'ran'))).toBe(true);
  });
});
