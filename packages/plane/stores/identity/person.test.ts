import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { System } from '../../os/index.ts';
import { processFailure } from './connection.ts';
import { personFailure, terminalProblem } from './person.ts';

interface Fake {
  readonly id: number;
  readonly parent: number;
  readonly args: readonly string[];
  readonly ticks: number;
  readonly environ?: string;
  readonly cgroup?: string;
  readonly exe?: string;
  readonly owner?: number;
}

let runDir = '';
beforeAll(() => {
  runDir = join(mkdtempSync(join(tmpdir(), 'sub-person-')), 'run');
  mkdirSync(runDir);
});
afterAll(() => rmSync(join(runDir, '..'), { recursive: true, force: true }));

const SUB: Fake = {
  id: 900,
  parent: 800,
  args: ['node', '/bin/sub.mjs', 'approvals'],
  ticks: 9000,
};

function machine(processes: readonly Fake[]): System {
  const files = new Map([['/proc/sys/kernel/random/boot_id', 'b00710ad-1']]);
  const all = [SUB, ...processes];
  for (const { id, parent, args, ticks, environ = '', cgroup = '0::/session-1' } of all) {
    const name = args[0]?.split('/').at(-1) ?? '';
    const rest = `${Array.from({ length: 17 }, () => '0').join(' ')} ${ticks}`;
    files.set(`/proc/${id}/stat`, `${id} (${name}) S ${parent} ${rest} 0\n`);
    files.set(`/proc/${id}/cmdline`, `${args.join('\0')}\0`);
    files.set(`/proc/${id}/environ`, environ);
    files.set(`/proc/${id}/cgroup`, cgroup);
  }
  const links = new Map(all.map(({ id, exe = '' }) => [`/proc/${id}/exe`, exe]));
  links.set('/proc/self', String(SUB.id));
  return {
    platform: 'linux',
    pid: SUB.id,
    ppid: SUB.parent,
    readFile: (path) => files.get(path),
    exists: () => false,
    ps: () => undefined,
    userName: () => 'ada',
    hostName: () => 'desk',
    uuid: () => 'u',
    uuidByTime: () => 'u',
    pids: () => all.map(({ id }) => id),
    link: (path) => links.get(path),
    space: () => 'b00710ad-1',
    fileId: (path) => path.replace('/alias', '/home'),
    owner: (path) => all.find(({ id }) => path === `/proc/${id}`)?.owner ?? 1000,
  };
}

const SHELL: Fake = { id: 800, parent: 700, args: ['-bash'], ticks: 8000 };
const INIT: Fake = { id: 1, parent: 0, args: ['systemd'], ticks: 1, owner: 0 };
const HOME = 'SUB_HOME=/home/ada/.subluminal';
const RUN: Fake = {
  id: 50,
  parent: 40,
  args: ['node', '/x/sub.mjs', 'run'],
  ticks: 500,
  environ: HOME,
};

function problemOf(processes: readonly Fake[], more: Partial<System> = {}) {
  const failed = personFailure({
    env: { SUB_HOME: '/home/ada/.subluminal' },
    runDir,
    homeOf: (env) => env['SUB_HOME'] ?? '/home/other',
    system: { ...machine([INIT, ...processes]), ...more },
  });
  if (failed === undefined) return undefined;
  if (failed.message.includes('inside a governed run')) return 'inside';
  return failed.message.includes('another container') ? 'elsewhere' : 'untraced';
}

describe('a person may act', () => {
  test.each<[string, readonly Fake[]]>([
    ['without any run', [SHELL, { id: 700, parent: 1, args: ['kitty'], ticks: 7000 }]],
    [
      'in a tmux whose server is older than the run',
      [RUN, SHELL, { id: 700, parent: 1, args: ['tmux: server'], ticks: 300 }],
    ],
    [
      'over ssh, with a login that is younger than the run',
      [
        RUN,
        SHELL,
        { id: 700, parent: 600, args: ['sshd: ada@pts/1'], ticks: 7000 },
        { id: 600, parent: 1, args: ['sshd: /usr/sbin/sshd'], ticks: 100, owner: 0 },
      ],
    ],
    [
      'in a login of another user that is younger than the run',
      [RUN, SHELL, { id: 700, parent: 1, args: ['SessionLeader'], ticks: 7000, owner: 0 }],
    ],
    [
      'in a window with a control group of its own',
      [RUN, SHELL, { id: 700, parent: 1, args: ['myterm'], ticks: 7000, cgroup: '0::/app-2' }],
    ],
    [
      'in a window that the desktop has started as an orphan',
      [RUN, SHELL, { id: 700, parent: 1, args: ['foot'], ticks: 7000, exe: '/usr/bin/foot' }],
    ],
    ['through `docker exec`', [RUN, { ...SHELL, parent: 0 }]],
    [
      'while a run of another home is alive',
      [
        { ...RUN, environ: 'SUB_HOME=/other' },
        SHELL,
        { id: 700, parent: 1, args: ['x'], ticks: 7000 },
      ],
    ],
  ])('%s', (_, processes) => {
    expect(problemOf(processes)).toBeUndefined();
  });

  test('in the shell that has started a shim by hand', () => {
    writeFileSync(join(runDir, 'agent-800-8000-b00710ad.json'), '{}');
    const window = { id: 700, parent: 1, args: ['xterm'], ticks: 100 };
    expect(problemOf([SHELL, window])).toBeUndefined();
    expect(problemOf([{ ...SHELL, args: ['bash', 'agent.sh'] }, window])).toBe('inside');
    rmSync(join(runDir, 'agent-800-8000-b00710ad.json'));
  });
});

describe('an agent may not', () => {
  const tini = { id: 700, parent: 600, args: ['/x/tini', '-c', 'sub'], ticks: 8500 };

  test('below a process that is called like init', () => {
    expect(problemOf([SHELL, tini, { ...RUN, id: 600, parent: 1 }])).toBe('inside');
    expect(problemOf([RUN, { ...SHELL, ticks: 8600 }, { ...tini, parent: 1 }])).toBe('untraced');
  });

  test('below a `sub run` that is the init of its container', () => {
    expect(
      problemOf([
        { ...SHELL, parent: 1 },
        { ...RUN, id: 1, parent: 0 },
      ]),
    ).toBe('inside');
  });

  test('with another name of the home', () => {
    const orphan = { id: 700, parent: 1, args: ['x'], ticks: 7000 };
    const alias = { ...RUN, environ: 'SUB_HOME=/alias/ada/.subluminal' };
    expect(problemOf([alias, SHELL, orphan])).toBe('untraced');
  });

  test('where the processes of its run cannot be seen', () => {
    const file = join(runDir, 'agent-5-1-b00710ad.json');
    const window = { id: 700, parent: 1, args: ['x'], ticks: 7000 };
    writeFileSync(file, JSON.stringify({ space: 'b00710ad-1' }));
    expect(problemOf([SHELL, window])).toBeUndefined();
    writeFileSync(file, JSON.stringify({ space: 'b00710ad-2' }));
    expect(problemOf([SHELL, window])).toBe('elsewhere');
    writeFileSync(file, JSON.stringify({ space: '0dd0dd0d-2' }));
    expect(problemOf([SHELL, window])).toBeUndefined();
    rmSync(file);
  });

  test.each(['run', 'wrap', 'shim'])('below `sub %s`', (command) => {
    const host = { id: 700, parent: 1, args: ['node', '--x', '/x/sub.mjs', command], ticks: 700 };
    expect(problemOf([SHELL, host])).toBe('inside');
  });

  test.each(['SUB_RUN_ID', 'SUB_GOVERNANCE_ENDPOINT', 'SUB_SHIM_ID'])(
    'below a process that was started with %s',
    (name) => {
      const agent = { id: 700, parent: 1, args: ['agent'], ticks: 700, environ: `A=1\0${name}=x` };
      expect(problemOf([SHELL, agent])).toBe('inside');
    },
  );

  test.each<[string, Fake]>([
    ['a process that was left behind', { id: 700, parent: 1, args: ['script'], ticks: 7000 }],
    [
      'a tmux that is younger than the run',
      { id: 700, parent: 1, args: ['tmux: server'], ticks: 7000, exe: '/usr/bin/tmux' },
    ],
    [
      'a program with the name of a window',
      { id: 700, parent: 1, args: ['foot'], ticks: 7000, exe: '/home/ada/foot' },
    ],
  ])('through %s', (_, root) => {
    expect(problemOf([RUN, SHELL, root])).toBe('untraced');
  });

  test('through what the manager of the user has adopted', () => {
    const manager = { id: 600, parent: 1, args: ['systemd'], ticks: 100 };
    const root = { id: 700, parent: 600, args: ['script'], ticks: 7000 };
    expect(problemOf([RUN, SHELL, root, manager])).toBe('untraced');
  });

  test('through a process that is older than the shims that its client has restarted', () => {
    const claude = { id: 40, parent: 30, args: ['claude'], ticks: 400 };
    const shim = { id: 50, parent: 40, args: ['sub', 'shim'], ticks: 8500, environ: HOME };
    const root = { id: 700, parent: 1, args: ['script'], ticks: 7000 };
    expect(problemOf([claude, shim, SHELL, root])).toBe('untraced');
  });

  test('where the numbers of processes mean other ones', () => {
    expect(problemOf([SHELL], { link: () => '12345' })).toBe('untraced');
  });
});

test('a process without a terminal as its input has no person', () => {
  expect(terminalProblem(false, machine([]))).toContain('not a terminal');
});

test('another process that a living run may have left behind does not act for a person', () => {
  const failureAt = (ticks: number, environ = HOME) => {
    const stray = { id: 700, parent: 1, args: ['node', 'x.mjs'], ticks };
    return processFailure(stray.id, {
      ...{ runDir, system: machine([INIT, { ...RUN, environ }, stray]) },
      env: { SUB_HOME: '/home/ada/.subluminal' },
      homeOf: (env) => env['SUB_HOME'] ?? '',
    });
  };
  expect(failureAt(7000)).toMatchObject({ code: 'SUB_INSIDE_RUN' });
  expect(failureAt(400)).toBeUndefined();
  expect(failureAt(7000, 'SUB_HOME=/home/bob/.subluminal')).toBeUndefined();
});
