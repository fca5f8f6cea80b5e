import { expect, test } from 'vitest';
import { processInfo, type System, thisSystem } from '../../os/index.ts';
import { hostEnv } from './session-env.ts';

const TOLD = {
  SUB_RUN_HOSTED: '1',
  SUB_RUN_ID: 'run-1',
  SUB_GOVERNANCE_ENDPOINT: 'unix:/x/hub.sock',
};
/** As a process that this one has started sees it. */
const CHILD: System = { ...thisSystem(), ppid: process.pid };

/** With these environments above, the nearest first. */
function above(...levels: readonly object[]): System {
  const pids: number[] = [];
  let info = processInfo(process.pid, CHILD);
  for (; info !== undefined && pids.length < levels.length; info = processInfo(info.ppid, CHILD)) {
    pids.push(info.pid);
  }
  const readFile: System['readFile'] = (path) => {
    const [, pid] = /^\/proc\/(\d+)\/environ$/.exec(path) ?? [];
    if (pid === undefined) return CHILD.readFile(path);
    const words = Object.entries(levels[pids.indexOf(Number(pid))] ?? {});
    return ['A=1', ...words.map(([name, word]) => `${name}=${word}`)].join('\0');
  };
  return { ...CHILD, readFile };
}

test('its own environment tells, when all of it is there', () => {
  const blind: System = { ...CHILD, readFile: () => undefined, ps: () => undefined };
  expect(hostEnv({ ...TOLD, SUB_EVENTS: 'off', PATH: '/bin' }, blind)).toEqual({
    ...TOLD,
    SUB_EVENTS: 'off',
  });
  for (const name of Object.keys(TOLD)) {
    expect(hostEnv({ ...TOLD, [name]: '' }, blind)).toBeUndefined();
  }
});

test.runIf(process.platform === 'linux')(
  'the agent of the same run wins over what it has started, and over this process',
  () => {
    const agent = { ...TOLD, SUB_PROFILE: 'production', HOME: '/x' };
    const changed = { ...TOLD, SUB_PROFILE: 'development' };
    const told = { ...TOLD, SUB_PROFILE: 'production' };
    expect(hostEnv(changed, above({}, agent))).toEqual(told);
    expect(hostEnv({}, above(changed, agent))).toEqual(told);
    // A run in a run has its own host.
    expect(hostEnv({}, above({}, agent, { ...TOLD, SUB_RUN_ID: 'outer' }))).toEqual(told);
    expect(hostEnv({}, above({}, {}))).toBeUndefined();
  },
);
