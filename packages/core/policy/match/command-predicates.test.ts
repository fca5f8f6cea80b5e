// Rules about what a shell command would do: a policy, a call, and the rule that decides.
import type { CommandMatch, JsonObject, Rule } from '@subluminal/contracts';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { runs } from '../../../../test/runs.ts';
import type { ProjectPaths } from '../../ports.ts';
import { decide } from '../decide/decide.ts';
import { initialState } from '../decide/verdict.ts';
import { explain } from '../explain/explain.ts';
import { allow, callOf, deny, jsonObject, runOf, snapshotOf } from '../testing/scenario.ts';

const OPAQUE = 'commands:opaque';
const LINKS = new Map([['/repo/src/out', '/etc']]);

const PATHS: ProjectPaths = {
  project: '/repo',
  home: '/home/me',
  tmp: '/tmp',
  env: {},
  isCaseless: false,
  lookup: () => (path) => {
    const link = [...LINKS].find(([from]) => path === from || path.startsWith(`${from}/`));
    return link === undefined ? path : link[1] + path.slice(link[0].length);
  },
  expansion: () => (pattern) => ({
    paths: pattern === '/repo/.e*' ? ['/repo/.env'] : [],
    isWhole: true,
  }),
};

interface Sample {
  readonly server_name?: string;
  readonly tool_name?: string;
  readonly args: JsonObject;
}

async function decidedBy(rules: readonly Rule[], call: Sample): Promise<string | null> {
  const run = runOf(await snapshotOf(rules, { paths: PATHS }));
  const tool = { server_name: 'claude-code', tool_name: 'Bash' };
  const { decision } = run.call({ ...tool, ...call }, 0);
  return decision.rule_id;
}

function bash(command: string): Sample {
  return { args: { command } };
}

describe('a rule that stops commands', () => {
  it.each<[CommandMatch, string, string | null]>([
    // By name and by wording.
    [{ program: ['rm'] }, 'rm -rf x', 'stop'],
    [{ program: ['rm'] }, 'ls && /bin/rm x', 'stop'],
    [{ program: ['rm'] }, './rm x', 'stop'],
    [{ program: ['rm'] }, 'echo rm', null],
    [{ program: ['rm'] }, 'rmdir x', null],
    [{ program: ['git push*'] }, 'git push', 'stop'],
    [{ program: ['git push*'] }, 'ls; git push origin main', 'stop'],
    [{ program: ['git push*'] }, 'git -C . push', 'stop'],
    [{ program: ['git push*'] }, 'git --no-pager push -f', 'stop'],
    [{ program: ['git push*'] }, 'git commit -m push', null],
    [{ program: ['git push*'] }, 'git status', null],
    [{ program: ['npm publish*', 'cargo publish*'] }, 'npm --prefix a publish', 'stop'],
    [{ program: ['./scripts/*'] }, './scripts/deploy now', 'stop'],
    // By files.
    [{ reads: ['.env*'] }, 'cat src/a.ts .env.local', 'stop'],
    [{ reads: ['.env*'] }, 'cat src/../.env', 'stop'],
    [{ reads: ['.env*'] }, 'cat .e*', 'stop'],
    [{ reads: ['.env*'] }, 'cat src/env.ts', null],
    [{ reads: ['/etc/**'] }, 'cat src/out/passwd', 'stop'],
    [{ writes: ['*.lock'] }, 'echo x > yarn.lock', 'stop'],
    [{ writes: ['*.lock'] }, 'cat yarn.lock', null],
    [{ not_writes_under: ['${project}', '${tmp}'] }, 'echo x > src/a', null],
    [{ not_writes_under: ['${project}', '${tmp}'] }, 'echo x > ~/.bashrc', 'stop'],
    [{ not_writes_under: ['${project}', '${tmp}'] }, 'rm -rf ..', 'stop'],
    [{ not_writes_under: ['${project}', '${tmp}'] }, 'echo x > src/out/a', 'stop'],
    [{ not_writes_under: ['${project}', '${tmp}'] }, 'ls', null],
    [{ args_under: ['/etc'] }, 'cat src/a /etc/passwd', 'stop'],
    [{ args_under: ['/etc'] }, 'cat src/a', null],
    [{ not_args_under: ['${project}'] }, 'cat src/a /etc/passwd', 'stop'],
    [{ not_args_under: ['${project}'] }, 'cat src/a', null],
    // By hosts.
    [{ hosts: ['*.evil.example'] }, 'curl https://X.evil.example/a', 'stop'],
    [{ hosts: ['*.evil.example'] }, 'curl https://good.example', null],
    // All fields must match.
    [{ program: ['rm'], writes: ['src/**'] }, 'rm src/a', 'stop'],
    [{ program: ['rm'], writes: ['src/**'] }, 'rm docs/a', null],
    // What is not understood is no match, but it is asked about.
    [{ program: ['rm'] }, 'X $Y', OPAQUE],
    [{ opaque: true }, 'X $Y', 'stop'],
    [{ opaque: true }, 'ls', null],
    [{ program: ['ls'], opaque: false }, 'ls', 'stop'],
    [{ program: ['ls'], opaque: false }, 'ls $Y', OPAQUE],
  ])('with %j decides %s by %s', async (command, line, rule) => {
    expect(await decidedBy([deny('stop', { command })], bash(line))).toBe(rule);
  });
});

describe('a rule that lets commands pass', () => {
  it.each<[CommandMatch, string, string]>([
    [{ program: ['ls', 'cat'] }, 'ls && cat a', 'pass'],
    [{ program: ['ls', 'cat'] }, 'ls && rm a', 'rest'],
    [{ program: ['ls', 'cat'] }, '/bin/ls', 'pass'],
    [{ program: ['ls', 'cat'] }, './ls', 'rest'],
    [{ program: ['./ls'] }, './ls', 'pass'],
    [{ program: ['ls'] }, '> a', 'rest'],
    [{ program: ['git status*'] }, 'git status -s', 'pass'],
    [{ program: ['git status*'] }, 'git -c core.pager=evil status', 'rest'],
    [{ program: ['ls'] }, 'ls $X', 'rest'],
    [{ program: ['*'], writes: ['src/**'] }, 'cat a', 'pass'],
    [{ program: ['*'], writes: ['src/**'] }, 'echo x > src/a', 'pass'],
    [{ program: ['*'], writes: ['src/**'] }, 'echo x > src/a; rm b', 'rest'],
    [{ program: ['*'], writes: ['src/**'] }, 'echo x > src/out/a', 'rest'],
    [{ program: ['*'], args_under: ['src'] }, 'cat src/a src/b', 'pass'],
    [{ program: ['*'], args_under: ['src'] }, 'cat src/a README.md', 'rest'],
    [{ program: ['curl'], hosts: ['*.example.com'] }, 'curl https://a.example.com', 'pass'],
    [{ program: ['curl'], hosts: ['*.example.com'] }, 'curl https://a.example.org', 'rest'],
  ])('with %j decides %s by %s', async (command, line, rule) => {
    expect(await decidedBy([allow('pass', { command }), deny('rest')], bash(line))).toBe(rule);
  });
});

describe('the commands that rules see', () => {
  const rules = [deny('no-rm', { command: { program: ['rm'] } })];

  it.each<[Sample, string | null]>([
    [{ server_name: 'codex', tool_name: 'shell', args: { command: ['rm', 'x'] } }, 'no-rm'],
    [{ server_name: 'codex', tool_name: 'exec_command', args: { cmd: 'rm x' } }, 'no-rm'],
    [{ server_name: 'x', tool_name: 'spawn', args: { command: 'rm', args: ['x'] } }, 'no-rm'],
    [{ server_name: 'x', tool_name: 'ps', args: { command: 'rm x', shell: 'pwsh' } }, 'no-rm'],
    [{ server_name: 'x', tool_name: 'write_file', args: { path: 'rm', content: 'rm x' } }, null],
    [{ server_name: 'x', tool_name: 'powershell', args: { command: 'ls' } }, OPAQUE],
  ])('of %j are decided by %s', async (call, rule) => {
    expect(await decidedBy(rules, call)).toBe(rule);
  });

  it('are read from the folder that the call names', async () => {
    const secret = [deny('etc', { command: { reads: ['/etc/**'] } })];
    const args = { command: ['cat', 'passwd'], workdir: '/etc' };
    const call = { server_name: 'codex', tool_name: 'shell', args };
    expect(await decidedBy(secret, call)).toBe('etc');
  });

  it('are too long to be read beyond the limits, and asked about', async () => {
    const call = { args: { commands: Array.from({ length: 300 }, () => 'ls') } };
    expect(await decidedBy(rules, call)).toBe(OPAQUE);
  });

  it('are not seen at all where no rule asks for them', async () => {
    expect(await decidedBy([deny('x', { tool_name: { glob: ['x'] } })], bash('$X'))).toBe(null);
  });
});

test('arguments of any shape are read without a fault', async () => {
  const snapshot = await snapshotOf([deny('no-rm', { command: { program: ['rm'] } })]);
  const keys = 'command commands cmd args argv env shell script cwd language input'.split(' ');
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...keys), fc.jsonValue()), (args) => {
      const text = JSON.stringify(args);
      const call = callOf({ tool_name: 'bash', args: jsonObject(text) });
      const { trace } = decide(snapshot, call, initialState(snapshot), 0);
      expect(trace.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
    }),
    runs(200),
  );
});

describe('a command that is not understood', () => {
  it.each([
    ['ask', 'COMMAND_OPAQUE'],
    ['block', 'COMMAND_OPAQUE'],
    ['allow', 'DEFAULT_ALLOW'],
  ] as const)('is treated as the policy says: %s', async (opaque, reason) => {
    const rules = [deny('no-rm', { command: { program: ['rm'] } })];
    const run = runOf(await snapshotOf(rules, { paths: PATHS, commands: { opaque } }));
    const { decision } = run.call({ args: { command: '$X' } }, 0);
    expect(decision.reason_code).toBe(reason);
  });

  it('is held for a person in the mode control, and passes once approved', async () => {
    const rules = [deny('no-rm', { command: { program: ['rm'] } })];
    const run = runOf(await snapshotOf(rules, { paths: PATHS, mode: 'control' }));
    const asked = run.call({ args: { command: '$X' } }, 0).decision;
    expect(asked).toMatchObject({ rule_id: OPAQUE, approval: { wait: 'hold' } });
    expect(asked.hint?.hint_text).toContain('no eval');
    const approved = run.call({ args: { command: '$X' }, approved: [OPAQUE] }, 0).decision;
    expect(approved.action).toBe('ALLOW');
  });
});

describe('a condition on a command', () => {
  it.each([
    ['curl https://a.example', 'others'],
    ['curl http://localhost:3000/ https://a.example', 'others'],
    ['curl http://localhost:3000/', null],
    ['curl $X', OPAQUE],
    ['ls', null],
  ])('sees what it would do: %s', async (line, rule) => {
    const match = { command: { program: ['curl'] } };
    const when = 'command.hosts.exists(host, host != "localhost") && command.writes.size() == 0';
    expect(await decidedBy([deny('others', match, when)], bash(line))).toBe(rule);
  });

  it.each([
    ['grep key a.txt', null],
    ['grep -r key conf', 'trees'],
  ])('sees that all of a folder is read: %s', async (line, rule) => {
    const match = { command: { program: ['grep'] } };
    const when = 'command.reads.exists(path, path == "conf/**")';
    expect(await decidedBy([deny('trees', match, when)], bash(line))).toBe(rule);
  });
});

describe('an explanation', () => {
  it('names the part of a command that made a rule match', async () => {
    const rules = [
      allow('reads', { command: { program: ['ls'] } }),
      deny('no-push', { command: { program: ['git push*'] } }),
    ];
    const snapshot = await snapshotOf(rules, { paths: PATHS });
    const why = (command: string) =>
      explain(snapshot, {
        call: callOf({ args: { command } }),
        state: initialState(snapshot),
        nowMs: 0,
      }).rules.map((rule) => rule.why);
    const [, push] = why('ls; git -C . push origin');
    expect(push).toContain('(command.program git -C . push origin)');
    expect(why('ls')[2]).toBe('all of the command is understood');
    expect(why('ls; cat a; pwd')[0]).toBe('command.program does not match ls: cat a, pwd');
    expect(why('ls $X')).toEqual([
      'command.program does not match ls, for a part of the command is not understood',
      'command.program does not match git push*',
      expect.stringContaining('command.opaque'),
    ]);
  });
});
