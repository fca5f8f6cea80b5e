// Hooks in the settings of the machine, written by its administrator, and used by another user of it. Needs root, who
// gives the agent a folder /etc of its own.
import { spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { hookHome, startAgent } from './hooked-agent.ts';
import { ensureBuilt, SUB } from './sub.ts';

const POLICY = `policy_id: machine
version: "1"
mode: control
rules:
  - { rule_id: never-env, kind: deny, match: { any_arg: { path_matches: [.env] } }, effect: { action: BLOCK } }
  - { rule_id: few, kind: budget, match: {}, effect: { budget: { scope: run, limit_calls: 3, on_exceed: BLOCK } } }
`;
const ANN = 54_711;
const AS_ANN = ['setpriv', `--reuid=${ANN}`, `--regid=${ANN}`, '--clear-groups'];

/** False also where the program of these tests is closed to other users. */
function hasUsers(): boolean {
  if (process.getuid?.() !== 0) return false;
  const words = [
    '-m',
    ...AS_ANN,
    process.execPath,
    '-e',
    'require("node:fs").readFileSync(process.argv[1])',
    SUB,
  ];
  return spawnSync('unshare', words).status === 0;
}

beforeAll(() => ensureBuilt());

test.runIf(hasUsers())(
  'hooks of the machine decide for another user than the one who put them in',
  async () => {
    const place = hookHome(POLICY);
    const { home, sub } = place;
    const admin = hookHome(POLICY).home;
    const etc = join(admin, 'etc');
    mkdirSync(join(admin, '.claude'));
    mkdirSync(join(etc, 'subluminal'), { recursive: true });
    writeFileSync(join(etc, 'passwd'), `ann:x:${ANN}:${ANN}::${home}:/bin/sh\n`);
    writeFileSync(join(etc, 'subluminal', 'policy.yaml'), POLICY);
    for (const path of [home, sub, join(sub, 'policy.yaml'), join(sub, 'config.toml')]) {
      chownSync(path, ANN, ANN);
    }
    const imported = `HOME=${admin} SUB_HOME= "$0" ${SUB} import claude-code --managed --yes --policy /etc/subluminal/policy.yaml`;
    const inside = `mount --bind ${etc} /etc && (umask 077; ${imported}) >${admin}/said 2>&1 && exec ${AS_ANN.join(' ')} "$0" "$1"`;
    const settings = join(etc, 'claude-code', 'managed-settings.json');
    const { call, serve, read, end } = startAgent({
      at: place,
      before: `exec unshare -m sh -c '${inside}' "$0" "$1"`,
      // An agent could start another one with any.
      variables: { HOME: '/nowhere' },
      hookLine: () => lineIn(settings),
    });
    // Its first answer comes behind the import.
    expect(await serve('send')).toMatchObject({ code: 0 });
    expect(await serve('send')).toMatchObject({ code: 0 });
    expect(await call('a', 'Bash', 'ls')).toMatchObject({ code: 0, stdout: '{}' });
    const refused = (why: string) => ({ code: 2, stderr: expect.stringContaining(why) as unknown });
    // The shim of the other user shares the hub of these hooks.
    expect(await call('b', 'Bash', 'ls')).toMatchObject(refused('budget'));
    expect(await call('c', 'Bash', 'cat .env')).toMatchObject(refused('A rule denies this call'));
    await end();
    expect(readFileSync(join(admin, 'said'), 'utf8')).toContain(
      'Done: the own tools of Claude Code',
    );
    expect(new Set(read('tool_call_start').map(({ run_id }) => run_id)).size).toBe(1);
    expect([settings, dirname(settings)].map((path) => statSync(path).mode & 0o777)).toEqual([
      0o644, 0o755,
    ]);
  },
);

function lineIn(path: string): string {
  const { hooks } = JSON.parse(readFileSync(path, 'utf8')) as {
    readonly hooks: {
      readonly PreToolUse: readonly { readonly hooks: readonly { readonly command: string }[] }[];
    };
  };
  return hooks.PreToolUse[0]?.hooks[0]?.command ?? '';
}
