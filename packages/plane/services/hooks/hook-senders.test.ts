// A tree of processes: a run, its client, and what the client has started; and one real client with a real tool.
import { describe, expect, it } from 'vitest';
import { type System, thisSystem } from '../../os/index.ts';
import { hookCommand } from '../clients/hooks/hook-command.ts';
import { HookSenders } from './hook-senders.ts';

interface Process {
  readonly pid: number;
  readonly ppid: number;
  readonly session: number;
  readonly args: readonly string[];
  /** What it calls itself; its program unless given. */
  readonly name?: string;
  /** The ports of its connections to port 80, from 127.0.0.1 unless given. */
  readonly ports?: readonly number[];
  readonly address?: string;
  readonly uid?: number;
}

const [RUN, CLAUDE, TOOL] = [10, 20, 30];
const UP_SECONDS = 100;
const HOOK = { program: ['node', '/x/sub.cjs'], homes: { HOME: '/h' } };
const LINE = hookCommand('claude-code', HOOK, 's');
const TREE: readonly Process[] = [
  { pid: 1, ppid: 0, session: 1, args: ['init'] },
  { pid: RUN, ppid: 1, session: 10, args: ['node', '/x/sub.mjs', 'run'] },
  { pid: CLAUDE, ppid: RUN, session: 10, args: ['claude', '-p', 'x'], ports: [4001, 4002] },
  { pid: TOOL, ppid: CLAUDE, session: 30, args: ['/bin/bash', '-c', 'eval x'] },
  { pid: 31, ppid: TOOL, session: 30, args: ['curl', 'x'], ports: [4003] },
  { pid: 32, ppid: 1, session: 30, args: ['curl', 'x'], ports: [4004] },
];

function sendersIn(tree: readonly Process[], more: { isClient?: boolean; root?: number } = {}) {
  const at = (pid: string | undefined) => tree.find((one) => one.pid === Number(pid));
  const table = tree.flatMap(
    ({ pid, ports = [], address = '127.0.0.1', uid = process.getuid?.() ?? 0 }) => {
      const host = address.split('.').toReversed().map(hex(2)).join('');
      return ports.map((port) => {
        const row = `${host}:${hex(4)(port)} 0100007F:0050`;
        return `  0: ${row} 01 00000000:00000000 00:00000000 00000000  ${uid}  0 ${pid}0${port} 1 x`;
      });
    },
  );
  const system: System = {
    ...thisSystem(),
    platform: 'linux',
    exists: () => true,
    pids: () => tree.map(({ pid }) => pid),
    names: (path) => {
      const [, pid] = /^\/proc\/(\d+)\/fd$/.exec(path) ?? [];
      return at(pid)?.ports?.map(String) ?? [];
    },
    link: (path) => path.replace(/^\/proc\/(\d+)\/fd\/(\d+)$/, 'socket:[$10$2]'),
    readFile: (path) => {
      if (path === '/proc/net/tcp') return ['  sl  local', ...table, ''].join('\n');
      if (path === '/proc/uptime') return `${UP_SECONDS}.00 1.00`;
      const [, pid, name] = /^\/proc\/(\d+)\/(stat|cmdline)$/.exec(path) ?? [];
      const found = at(pid);
      if (found === undefined) return undefined;
      const { ppid, session, args, name: own = args[0] } = found;
      if (name === 'cmdline') return `${args.join('\0')}\0`;
      const rest = Array.from({ length: 15 }, () => '0').join(' ');
      return `${pid} (${own}) S ${ppid} ${pid} ${session} ${rest} ${pid}00 0`;
    },
  };
  const notes: string[] = [];
  const { root = RUN, isClient = false } = more;
  const degraded = (reason: string) => notes.push(reason);
  const senders = new HookSenders({ root, isClient, degraded, system });
  const post = (port: number, address?: string) => senders.isPostedByClient(ends(port, address));
  return { senders, post, notes };
}

function hex(length: number) {
  return (value: number | string) => Number(value).toString(16).toUpperCase().padStart(length, '0');
}

function ends(remotePort: number, remoteAddress = '127.0.0.1') {
  return { remoteAddress, remotePort, localAddress: '127.0.0.1', localPort: 80 };
}

describe('a hook that is posted', () => {
  it('counts when the client has the connection, and not when a tool has it', () => {
    const { post, notes } = sendersIn(TREE);
    expect([post(4001), post(4002)]).toEqual([true, true]);
    expect(notes).toEqual([]);
    expect([post(4003), post(4004), post(4005)]).toEqual([false, false, false]);
    expect(notes).toEqual([expect.stringContaining('not the agent')]);
    expect(post(4001)).toBe(true);
  });

  it('does not count when a tool takes the port of its client at another address', () => {
    const tool = { pid: 33, ppid: TOOL, session: 30, args: ['curl'], ports: [4001] };
    const { post } = sendersIn([...TREE, { ...tool, address: '127.0.0.2' }]);
    expect([post(4001), post(4001, '127.0.0.2')]).toEqual([true, false]);
  });

  it('does not count when another user has the connection', () => {
    const { post } = sendersIn(TREE.map((one) => ({ ...one, uid: 65_533 })));
    expect(post(4001)).toBe(false);
  });

  it('counts from no process that came before its client', () => {
    const { senders, post } = sendersIn(TREE);
    const early = ends(4003);
    expect(senders.isPostedByClient(early)).toBe(true);
    expect(post(4001)).toBe(true);
    expect([senders.isPostedByClient(early), post(4003)]).toEqual([false, false]);
  });

  it('counts from several clients that are not below each other', () => {
    const other = { pid: 40, ppid: RUN, session: 10, args: ['codex'], ports: [4006] };
    const { post } = sendersIn([...TREE, other]);
    expect([post(4001), post(4006), post(4003)]).toEqual([true, true, false]);
  });

  it.each([
    [
      'the run is the init process',
      1,
      [{ pid: 1, ppid: 0, session: 1, args: ['node', 'sub.mjs', 'run'] }],
    ],
    [
      'the run has started one',
      RUN,
      [
        { pid: RUN, ppid: 1, session: 10, args: ['node', 'sub.mjs', 'run'] },
        { pid: 12, ppid: RUN, session: 10, args: ['tini', '--', 'claude'] },
      ],
    ],
  ])('does not count from what has outlived its tool where %s', (_, root, above) => {
    const top = above.at(-1)?.pid ?? 0;
    const claude = { pid: CLAUDE, ppid: top, session: 10, args: ['claude'], ports: [4001] };
    const left = { pid: 32, ppid: top, session: 30, args: ['curl', 'x'], ports: [4004] };
    const { post } = sendersIn([...above, claude, left], { root });
    expect([post(4001), post(4004), post(4001)]).toEqual([true, false, true]);
  });

  it('is looked up once for each connection', () => {
    const tree = [...TREE];
    const { senders } = sendersIn(tree);
    const socket = ends(4001);
    expect(senders.isPostedByClient(socket)).toBe(true);
    tree.length = 0;
    expect(senders.isPostedByClient(socket)).toBe(true);
  });

  it('counts from everybody where processes cannot be told', () => {
    const senders = new HookSenders({
      root: 1,
      isClient: true,
      degraded: () => {},
      system: { ...thisSystem(), platform: 'darwin' },
    });
    expect(senders.isPostedByClient(ends(1))).toBe(true);
    expect(senders.isStartedByClient({ client: 'codex' }, '')).toBe(true);
    expect(senders.hasShim('x')).toBe(true);
  });
});

describe('a hook that is a process', () => {
  const hookBelow = (...above: readonly Process[]): readonly Process[] => {
    const ppid = above.at(-1)?.pid ?? CLAUDE;
    const args = ['node', '/x/sub.cjs', 'hook', 'claude-code', '--socket', 's'];
    return [...TREE, ...above, { pid: 59, ppid, session: 50, args }];
  };
  const shell = (pid: number, ppid: number, line: string): Process => {
    return { pid, ppid, session: 50, args: ['/bin/sh', '-c', line] };
  };

  it('counts when the client has started it by the line of the hook, and once', () => {
    const { senders, notes } = sendersIn(hookBelow(shell(50, CLAUDE, LINE), shell(51, 50, LINE)));
    expect(senders.isStartedByClient({ pid: 59, client: 'claude-code' }, '')).toBe(true);
    expect(notes).toEqual([]);
    expect(senders.isStartedByClient({ pid: 59, client: 'claude-code' }, '')).toBe(false);
  });

  it.each<[string, readonly Process[], number]>([
    ['a tool started it', hookBelow(shell(50, CLAUDE, 'eval ./x')), 59],
    ['a tool named it', hookBelow(shell(50, CLAUDE, `source x; eval '${LINE}'`)), 59],
    ['a program started it', hookBelow({ ...shell(50, TOOL, ''), args: ['python3', 'x'] }), 59],
    ['it has outlived what started it', hookBelow(shell(50, 1, LINE)), 59],
    ['it is another program', TREE, 31],
    ['it is the client itself', TREE, CLAUDE],
    ['it is gone', TREE, 77],
  ])('does not count when %s', (_, tree, pid) => {
    const { senders, post, notes } = sendersIn(tree);
    expect(post(4001)).toBe(true);
    expect(senders.isStartedByClient({ pid, client: 'claude-code' }, '')).toBe(false);
    expect(notes).toHaveLength(1);
  });

  it('does not count when it names another process than its own', () => {
    const tree = hookBelow(shell(50, CLAUDE, LINE));
    const named = tree.map((one) => (one.pid === 59 ? { ...one, name: 'a word' } : one));
    const { senders } = sendersIn(named);
    const hook = { pid: 59, client: 'claude-code' };
    expect(senders.isStartedByClient(hook, 'another word')).toBe(false);
    expect(senders.isStartedByClient(hook, 'a word')).toBe(true);
  });

  it('is as old as the process that the client has started for it', () => {
    const { senders } = sendersIn(hookBelow(shell(50, CLAUDE, LINE), shell(51, 50, LINE)));
    expect(senders.ageMs(59)).toBe(Number.POSITIVE_INFINITY);
    expect(senders.isStartedByClient({ pid: 59, client: 'claude-code' }, '')).toBe(true);
    expect(senders.ageMs(59)).toBe(UP_SECONDS * 1_000 - 50_000);
    expect([senders.ageMs(77), senders.ageMs(undefined)]).toEqual([Infinity, Infinity]);
  });

  it('does not count when it names no process, or comes from another agent than its host is for', () => {
    const { senders } = sendersIn(hookBelow(shell(50, CLAUDE, LINE)), {
      isClient: true,
      root: RUN,
    });
    expect(senders.isStartedByClient({ client: 'claude-code' }, '')).toBe(false);
    expect(senders.isStartedByClient({ pid: 59, client: 'claude-code' }, '')).toBe(false);
    const own = sendersIn(hookBelow(shell(50, CLAUDE, LINE)), { isClient: true, root: CLAUDE });
    expect(own.senders.isStartedByClient({ pid: 59, client: 'claude-code' }, '')).toBe(true);
  });
});

describe('the shim of a server', () => {
  const shim = (ppid: number, session: number): Process => {
    const args = ['node', '/x/sub.mjs', 'shim', '--server-name', 'files', '--', 'x'];
    return { pid: 60, ppid, session, args };
  };

  it.each([
    ['the client has started it', CLAUDE, 10, true],
    ['a tool has started it', TOOL, 30, false],
    ['a tool has become it', CLAUDE, 30, false],
    ['another server has started it', 61, 10, false],
    ['nobody is above it', 1, 10, false],
  ])('counts when %s: %s %s %s', (_, ppid, session, counts) => {
    const server = { pid: 61, ppid: CLAUDE, session: 10, args: ['node', 'server.js'] };
    const { senders, post } = sendersIn([...TREE, server, shim(ppid, session)]);
    expect(post(4001)).toBe(true);
    expect(senders.hasShim('files')).toBe(counts);
    expect(senders.hasShim('other')).toBe(false);
  });

  it('counts no longer when it has ended', () => {
    const tree = [...TREE, shim(CLAUDE, 10)];
    const { senders, post } = sendersIn(tree);
    expect(post(4001)).toBe(true);
    expect(senders.hasShim('files')).toBe(true);
    tree.pop();
    expect(senders.hasShim('files')).toBe(false);
  });
});
