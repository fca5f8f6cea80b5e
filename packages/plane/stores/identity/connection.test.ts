// Who is at the other end of a connection, on a machine with these processes.
import { expect, test } from 'vitest';
import { type System, thisSystem } from '../../os/index.ts';
import { connectionFailure } from './connection.ts';

interface Fake {
  readonly parent?: number;
  readonly args?: readonly string[];
  readonly environ?: string;
  readonly uid?: number;
  /** `hidden` lets nobody look at what it has open. */
  readonly has?: 'socket' | 'hidden';
}

const ENDS = {
  remoteAddress: '127.0.0.1',
  remotePort: 40_000,
  localAddress: '127.0.0.1',
  localPort: 80,
};
const RUN: Fake = { args: ['node', '/x/sub.mjs', 'run'] };

function machine(processes: { readonly [pid: number]: Fake }, inode: number): System {
  const at = (pid: string | undefined): Fake | undefined => processes[Number(pid)];
  const text = ({ parent = 1, args = ['x'], environ = '', uid = 1000 }: Fake) => ({
    stat: `9 (${args[0]}) S ${parent} ${Array.from({ length: 17 }, () => '0').join(' ')} 100 0`,
    cmdline: args.join('\0'),
    environ,
    status: `Name:\tx\nUid:\t${uid}\t${uid}\t${uid}\t${uid}\n`,
  });
  const ends = '0100007F:9C40 0100007F:0050 01 00000000:00000000 00:00000000 00000000';
  return {
    ...thisSystem(),
    platform: 'linux',
    pids: () => Object.keys(processes).map(Number),
    names: (path) => {
      const has = at(path.split('/')[2])?.has;
      return has === 'hidden' ? undefined : has === 'socket' ? ['7'] : [];
    },
    link: () => `socket:[${inode}]`,
    readFile: (path) => {
      if (path === '/proc/net/tcp') return `  0: ${ends}  1000  0 ${inode} 1 x\n`;
      const [, , pid, name = ''] = path.split('/');
      const found = at(pid);
      return found === undefined ? undefined : text(found)[name as 'stat'];
    },
  };
}

function failureOf(processes: { readonly [pid: number]: Fake }, inode = 77): string | undefined {
  const system = machine(processes, inode);
  return connectionFailure(ENDS, { runDir: '/none', system })?.message;
}

const DEEP = Object.fromEntries(
  Array.from({ length: 70 }, (_, index) => [100 + index, { parent: 101 + index }]),
);

test.each<[string, { readonly [pid: number]: Fake }, string]>([
  ['below `sub run`', { 5: RUN, 6: { parent: 5, has: 'socket' } }, 'the process 5 is `sub run`'],
  [
    'that was left behind with its mark',
    { 6: { environ: 'SUB_RUN_ID=x', has: 'socket' } },
    'has SUB',
  ],
  [
    'of a run that lets nobody look at it',
    { 5: RUN, 6: { parent: 5, has: 'hidden' }, 7: {} },
    'the process 5 is `sub run`',
  ],
  [
    'below more processes than are looked at',
    { ...DEEP, 100: { parent: 101, has: 'socket' } },
    'too',
  ],
])('a process %s does not act for a person', (_, processes, why) => {
  expect(failureOf({ 1: { parent: 0 }, ...processes })).toContain(why);
});

test('a process that has let go of its connection does not act for a person', () => {
  expect(failureOf({ 1: { parent: 0 } }, 0)).toContain('nobody waits');
});

test.each<[string, { readonly [pid: number]: Fake }]>([
  ['outside of a run', { 5: RUN, 6: { has: 'socket' } }],
  [
    'beside hidden ones of a run',
    { 5: RUN, 6: { parent: 5, has: 'hidden' }, 7: { has: 'socket' } },
  ],
  ['that is hidden, and outside', { 5: RUN, 6: { has: 'hidden' } }],
  [
    'that is hidden, while a run has some of another user',
    { 5: RUN, 6: { parent: 5, uid: 0, has: 'hidden' } },
  ],
])('a process %s may', (_, processes) => {
  expect(failureOf({ 1: { parent: 0 }, ...processes })).toBeUndefined();
});

test('where the system does not tell, everybody may', () => {
  const system: System = { ...thisSystem(), readFile: () => undefined };
  expect(connectionFailure(ENDS, { runDir: '/none', system })).toBeUndefined();
});
