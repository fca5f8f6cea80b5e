import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { eventWriter, parseEventLine } from '@subluminal/contracts';
import type { Identity } from '@subluminal/core/policy';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { type System, thisSystem } from '../../os/index.ts';
import { bundleProgram } from '../../services/sink/testing/program.ts';
import { type IdentifyOptions, identify } from './identify.ts';
import type { ShimAccount } from './shim-account.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sub-identity-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

interface Fake {
  readonly id: number;
  readonly parent: number;
  readonly name: string;
  readonly command?: readonly string[];
  readonly ticks?: number;
}

let count = 0;
const SHIM: Fake = { id: 99, parent: 42, name: 'node' };

/** A Linux machine with these processes and files, as a shim on it sees it. */
function machine(processes: readonly Fake[] = [], files: { [path: string]: string } = {}): System {
  const all = { '/proc/sys/kernel/random/boot_id': 'b00710ad-1', ...files };
  const known = new Map(Object.entries(all));
  for (const { id, parent, name, command = [name], ticks = 5_000 + id } of [SHIM, ...processes]) {
    const rest = Array.from({ length: 17 }, () => '0').join(' ');
    known.set(`/proc/${id}/stat`, `${id} (${name}) S ${parent} ${rest} ${ticks} 0 0\n`);
    known.set(`/proc/${id}/cmdline`, `${command.join('\0')}\0`);
  }
  const uuid = () => `00000000-0000-4000-8000-${String(++count).padStart(12, '0')}`;
  return {
    platform: 'linux',
    pid: SHIM.id,
    ppid: 42,
    readFile: (path) => known.get(path),
    exists: (path) => path === '/src/app/.git',
    ps: () => undefined,
    userName: () => 'ada',
    hostName: () => 'desk',
    uuid: () => crypto.randomUUID(),
    uuidByTime: uuid,
  };
}

const AGENT: Fake = { id: 42, parent: 1, name: 'agent' };
const RUN_FILE = 'agent-42-5042-b00710ad.json';
/** Shows that the shim of a run that it shares with nobody lives. */
const OWN_PLACE = 'agent-99-5099-b00710ad.shim-99-5099-b00710ad.json';

function who(options: Partial<IdentifyOptions> = {}) {
  return identify({
    env: {},
    cwd: '/src/app/lib',
    paths: { run: join(dir, 'run'), hostId: join(dir, 'host-id') },
    nowMs: Date.now(),
    system: machine([AGENT]),
    ...options,
  });
}

const SHIMS = [100, 101, 102, 103].map((id) => ({ ...SHIM, id }));

/** One of several shims of the same agent. */
function shim(pid: number) {
  return who({ system: { ...machine([AGENT, ...SHIMS]), pid } });
}

describe('on a desktop', () => {
  test('knows the user, the repository and the machine', () => {
    verifies('SL-8.1', 'SL-8.2', 'IP-1.3.1');
    const { producer, warnings } = who();
    expect(producer).toMatchObject({
      agent_id: 'unknown',
      client: 'unknown',
      env: 'dev',
      principal: 'ada@desk',
      workload: { user: 'ada', repo_path: '/src/app' },
    });
    expect(warnings).toEqual([]);
  });

  test('is what contract A and policies take', () => {
    verifies('IP-1.3');
    const { producer } = who({ profile: 'development' });
    const identity: Identity = producer;
    expect(identity.run_id).toBe(producer.run_id);
    const body = { run_id: producer.run_id };
    const line = eventWriter(producer).line(
      'run_start',
      {
        run: {
          started_at: '2026-01-31T12:00:00Z',
          mode: 'observe',
          policy: { policy_id: 'p', policy_version: '1', policy_hash: 'a'.repeat(64) },
        },
      },
      '2026-01-31T12:00:00Z',
    );
    const parsed = parseEventLine(line);
    expect(parsed).toMatchObject({ ok: true, event: { ...body, source: producer.source } });
  });

  test('does without a user name', () => {
    const system = { ...machine([AGENT]), userName: () => undefined, exists: () => false };
    const { producer } = who({ system });
    expect(producer).not.toHaveProperty('principal');
    expect(producer).not.toHaveProperty('workload');
  });
});

describe('the variables of `sub run`', () => {
  test('win over everything', () => {
    verifies('IP-5');
    const env = {
      SUB_RUN_ID: 'Run-ABC',
      SUB_AGENT_ID: 'repo-fixer',
      SUB_ENV: 'prod',
      SUB_CLIENT: 'headless',
      SUB_PRINCIPAL: 'deploy-bot',
      CI: 'true',
    };
    const { producer, runOrigin, warnings } = who({ env });
    expect(producer).toMatchObject({
      run_id: 'Run-ABC',
      agent_id: 'repo-fixer',
      env: 'prod',
      client: 'headless',
      principal: 'deploy-bot',
    });
    expect(runOrigin).toBe('given');
    expect(warnings).toEqual([]);
    expect(existsSync(join(dir, 'run'))).toBe(false);
  });

  test('that make no sense are named, and never taken for something weaker', () => {
    const { producer, warnings } = who({ env: { SUB_ENV: 'production', SUB_CLIENT: 'mine' } });
    expect(producer).toMatchObject({ env: 'unknown', client: 'custom' });
    expect(warnings).toEqual([
      expect.stringContaining('SUB_CLIENT'),
      expect.stringContaining('SUB_ENV'),
    ]);
  });

  test('count as unset when they are empty, and are cut when they are endless', () => {
    const env = { SUB_RUN_ID: '', SUB_ENV: '', SUB_CLIENT: '', SUB_PRINCIPAL: 'x'.repeat(9_999) };
    const { producer, runOrigin } = who({ env });
    expect(runOrigin).toBe('created');
    expect(producer.env).toBe('dev');
    expect(producer.principal).toHaveLength(1_024);
  });
});

describe('the client', () => {
  test.each<[string, readonly Fake[], string]>([
    ['by its name', [{ ...AGENT, name: 'claude' }], 'claude'],
    ['by a longer name', [{ ...AGENT, name: 'codex-cli' }], 'codex'],
    [
      'by its file',
      [{ ...AGENT, name: 'MainThread', command: ['/opt/bin/codex', 'exec'] }],
      'codex',
    ],
    ['by its script', [{ ...AGENT, name: 'node', command: ['node', '/usr/bin/claude'] }], 'claude'],
    ['not by its arguments', [{ ...AGENT, name: 'vim', command: ['vim', 'claude'] }], 'unknown'],
    ['not by a part of a word', [{ ...AGENT, name: 'claudette' }], 'unknown'],
    [
      'behind npx and a shell',
      [
        { id: 42, parent: 41, name: 'sh', command: ['sh', '-c', 'sub shim'] },
        { id: 41, parent: 40, name: 'npm exec sub sh', command: ['npm exec sub shim'] },
        { id: 40, parent: 1, name: 'claude' },
      ],
      'claude',
    ],
    ['whose name has parentheses', [{ ...AGENT, name: 'codex (a) b' }], 'codex'],
  ])('is known %s', (_, processes, client) => {
    const { producer } = who({ system: machine(processes) });
    expect(producer).toMatchObject({ client, agent_id: client });
  });

  test('is known from ps on other systems', () => {
    const ps = () => '  1 Sat Nov 15 23:45:01 2026 /usr/local/bin/claude --flag\n';
    const { producer } = who({ system: { ...machine(), platform: 'darwin', ps } });
    expect(producer.client).toBe('claude');
    expect(readdirSync(join(dir, 'run'))).toContain('agent-42-Sat-Nov-15-23-45-01-2026.json');
  });
});

describe('in CI', () => {
  test.each<[string, { [name: string]: string }, object, string | undefined]>([
    [
      'github',
      {
        GITHUB_ACTIONS: 'true',
        GITHUB_RUN_ID: '7',
        GITHUB_REPOSITORY: 'a/b',
        GITHUB_REF_NAME: 'main',
        GITHUB_HEAD_REF: 'fix',
        GITHUB_ACTOR: 'ada',
      },
      { job_id: '7', repo: 'a/b', branch: 'fix' },
      'ada',
    ],
    [
      'gitlab',
      {
        GITLAB_CI: 'true',
        CI_JOB_ID: '8',
        CI_PROJECT_PATH: 'a/b',
        CI_COMMIT_REF_NAME: 'main',
        GITLAB_USER_LOGIN: 'ada',
      },
      { job_id: '8', repo: 'a/b', branch: 'main' },
      'ada',
    ],
    [
      'circleci',
      {
        CIRCLECI: 'true',
        CIRCLE_BUILD_NUM: '9',
        CIRCLE_REPOSITORY_URL: 'git@host:a/b',
        CIRCLE_BRANCH: 'main',
      },
      { job_id: '9', repo: 'git@host:a/b', branch: 'main' },
      undefined,
    ],
    [
      'buildkite',
      {
        BUILDKITE: 'true',
        BUILDKITE_JOB_ID: '1',
        BUILDKITE_REPO: 'https://u:p@ss@host/a/b',
        BUILDKITE_BRANCH: 'main',
      },
      { job_id: '1', repo: 'https://host/a/b', branch: 'main' },
      undefined,
    ],
    [
      'jenkins',
      {
        JENKINS_URL: 'http://j',
        BUILD_TAG: 'jenkins-x-2',
        GIT_URL: 'https://token@host/a/b',
        BRANCH_NAME: 'main',
      },
      { job_id: 'jenkins-x-2', repo: 'https://host/a/b', branch: 'main' },
      undefined,
    ],
    [
      'azure',
      {
        TF_BUILD: 'True',
        SYSTEM_JOBID: '3',
        BUILD_REPOSITORY_NAME: 'a',
        BUILD_SOURCEBRANCH: 'refs/heads/main',
        BUILD_REQUESTEDFOR: 'Ada',
      },
      { job_id: '3', repo: 'a', branch: 'main' },
      'Ada',
    ],
    [
      'bitbucket',
      { BITBUCKET_BUILD_NUMBER: '4', BITBUCKET_REPO_FULL_NAME: 'a/b', BITBUCKET_BRANCH: 'main' },
      { job_id: '4', repo: 'a/b', branch: 'main' },
      undefined,
    ],
    [
      'travis',
      { TRAVIS: 'true', TRAVIS_JOB_ID: '5', TRAVIS_REPO_SLUG: 'a/b', TRAVIS_BRANCH: 'main' },
      { job_id: '5', repo: 'a/b', branch: 'main' },
      undefined,
    ],
  ])('knows the job of %s', (name, env, workload, principal) => {
    verifies('SL-8.2', 'IP-1.3.1');
    const { producer } = who({ env: { CI: 'true', ...env } });
    expect(producer.env).toBe('ci');
    expect(producer.workload).toEqual({ ci_provider: name, ...workload });
    expect(producer.principal).toBe(principal);
  });

  test('knows that it is CI when the provider is unknown', () => {
    expect(who({ env: { CI: '1' } }).producer.env).toBe('ci');
    expect(who({ env: { CI: 'false' } }).producer.env).toBe('dev');
  });
});

describe('variables of the server alone', () => {
  const serverOnly = ['CI', 'GITHUB_ACTIONS', 'GITHUB_ACTOR', 'SUB_PRINCIPAL'];
  const env = { CI: '1', GITHUB_ACTOR: 'release-bot', SUB_PRINCIPAL: 'grace' };

  test('say nothing of who acts', () => {
    const { producer } = who({ env: { ...env, GITHUB_ACTIONS: '1' }, serverOnly });
    expect(producer).toMatchObject({ env: 'dev', principal: 'grace' });
    expect(producer.workload).toEqual({ user: 'ada', repo_path: '/src/app' });
  });

  test('hide nothing that the agent itself has', () => {
    const environ = 'GITHUB_ACTIONS=true\0GITHUB_ACTOR=ada\0OTHER=1\0';
    const system = machine([AGENT], { '/proc/42/environ': environ });
    const { producer } = who({ env: { GITHUB_ACTOR: 'release-bot' }, serverOnly, system });
    expect(producer).toMatchObject({ env: 'ci', principal: 'ada' });
  });
});

describe('in Kubernetes', () => {
  const account = '/var/run/secrets/kubernetes.io/serviceaccount';
  const subject = JSON.stringify({ sub: 'system:serviceaccount:shop:cleaner' });
  const token = `head.${Buffer.from(subject).toString('base64url')}.signature`;
  const files = { [`${account}/namespace`]: 'shop\n', [`${account}/token`]: token };

  test('knows the pod from what the cluster gives', () => {
    verifies('SL-8.2', 'IP-1.3.1');
    const labels = 'app="cleaner"\nteam="a \\"b\\""\n\nnonsense\n';
    const system = machine([AGENT], { ...files, '/etc/podinfo/labels': labels });
    const { producer } = who({ env: { HOSTNAME: 'cleaner-1' }, system });
    expect(producer.workload).toEqual({
      namespace: 'shop',
      service_account: 'cleaner',
      pod: 'cleaner-1',
      labels: { app: 'cleaner', team: 'a "b"' },
    });
    expect(producer.principal).toBe('system:serviceaccount:shop:cleaner');
    expect(JSON.stringify(producer)).not.toContain('signature');
  });

  test('lets variables win', () => {
    const env = {
      KUBERNETES_SERVICE_HOST: '1.2.3.4',
      SUB_K8S_LABELS: 'app=x,__proto__=y',
      SUB_K8S_SERVICE_ACCOUNT: 'other',
      POD_NAME: 'p',
      HOSTNAME: 'h',
    };
    const { producer } = who({ env, system: machine([AGENT], files) });
    expect(producer.workload).toMatchObject({ service_account: 'other', pod: 'p' });
    expect(producer.workload?.labels?.['app']).toBe('x');
  });

  test('does with what little there is', () => {
    const { producer } = who({ env: { KUBERNETES_SERVICE_HOST: '1.2.3.4' } });
    expect(producer).not.toHaveProperty('workload');
    const broken = machine([AGENT], { ...files, [`${account}/token`]: 'x.\u0000.' });
    expect(who({ system: broken }).producer.workload).toEqual({ namespace: 'shop' });
  });
});

describe('the run', () => {
  test('is shared by all that one agent process starts', () => {
    verifies('IP-0.3');
    const first = who();
    const second = who();
    expect([first.runOrigin, second.runOrigin]).toEqual(['created', 'joined']);
    expect(second.producer.run_id).toBe(first.producer.run_id);
    expect(second.producer.source.shim_id).not.toBe(first.producer.source.shim_id);
    expect(second.producer.source.host_id).toBe(first.producer.source.host_id);
    const names = readdirSync(join(dir, 'run')).toSorted();
    expect(names).toEqual([RUN_FILE, 'agent-42-5042-b00710ad.shim-99-5099-b00710ad.json']);
    for (const name of names) expect(statSync(join(dir, 'run', name)).mode & 0o777).toBe(0o600);
  });

  /** A shim that had so many calls. */
  const did = (calls: number, more: Partial<ShimAccount> = {}): ShimAccount => ({
    startedMs: 1_000 + calls,
    hasFailed: false,
    isTerminated: false,
    summary: {
      calls_total: calls,
      calls_allowed: calls,
      calls_blocked: 0,
      calls_throttled: 0,
      errors_total: 0,
    },
    ...more,
  });

  test('goes on while one of its shims lives, and the last to leave ends it for all', () => {
    const [first, second] = [shim(100), shim(101)];
    expect(second.producer.run_id).toBe(first.producer.run_id);
    expect(first.leave(did(1))).toBeUndefined();
    const third = shim(102);
    expect(third).toMatchObject({
      runOrigin: 'joined',
      producer: { run_id: first.producer.run_id },
    });
    expect(second.leave(did(20))).toBeUndefined();
    expect(third.leave(did(300))).toMatchObject({
      startedMs: 1_001,
      hasFailed: false,
      summary: { calls_total: 321, calls_allowed: 321, errors_total: 0 },
    });
    // A shim leaves once.
    expect([first.leave(did(1)), third.leave(did(1))]).toEqual([undefined, undefined]);
    // Until its events are safe, a process of the run is on file.
    expect(readdirSync(join(dir, 'run'))).toEqual([
      'agent-42-5042-b00710ad.last-102-5102-b00710ad.json',
    ]);
    third.release();
    expect(readdirSync(join(dir, 'run'))).toEqual([]);
    const next = shim(103);
    expect(next.runOrigin).toBe('created');
    expect(next.producer.run_id).not.toBe(first.producer.run_id);
  });

  test.each<[string, Partial<ShimAccount>, Partial<ShimAccount>, Partial<ShimAccount>]>([
    [
      'has failed when all of its servers have',
      { hasFailed: true },
      { hasFailed: true },
      { hasFailed: true },
    ],
    ['has not failed when one of them has not', { hasFailed: true }, {}, { hasFailed: false }],
    [
      'was terminated when one of its shims was',
      { isTerminated: true },
      {},
      { isTerminated: true },
    ],
  ])('%s', (_, one, other, both) => {
    const [first, second] = [shim(100), shim(101)];
    first.leave(did(1, one));
    expect(second.leave(did(1, other))).toMatchObject(both);
  });

  test('counts nothing that stands in a damaged file, or in one of another run', () => {
    const last = who();
    const names = ['1-1-x', '2-2-x', '3-3-x'].map(
      (shimName) => `agent-42-5042-b00710ad.left-${shimName}.json`,
    );
    const texts = ['{', JSON.stringify({ run_id: 'other', account: did(5) }), '{"account":{}}'];
    for (const [index, name] of names.entries())
      writeFileSync(join(dir, 'run', name), texts[index] ?? '');
    expect(last.leave(did(7))).toMatchObject({ summary: { calls_total: 7 } });
  });

  test('of a given name is shared as well, apart from that of the agent', () => {
    const env = { SUB_RUN_ID: 'nightly' };
    const given = (pid: number) =>
      who({ env, isShim: true, system: { ...machine([AGENT, ...SHIMS]), pid } });
    const [first, own, second] = [given(100), shim(101), given(102)];
    expect([first, own, second].map(({ runOrigin }) => runOrigin)).toEqual([
      'created',
      'created',
      'joined',
    ]);
    expect(second.producer.run_id).toBe('nightly');
    expect(first.leave(did(1))).toBeUndefined();
    expect(second.leave(did(2))).toMatchObject({ summary: { calls_total: 3 } });
    expect(own.leave(did(9))).toMatchObject({ summary: { calls_total: 9 } });
  });

  test('of a host has a file that shows that the shim lives', () => {
    const env = { SUB_RUN_ID: 'hosted', SUB_RUN_HOSTED: '1' };
    const { runOrigin, leave, release } = who({ env, isShim: true });
    expect(runOrigin).toBe('given');
    // The host records the end.
    expect(leave(did(1))).toBeUndefined();
    expect(readdirSync(join(dir, 'run'))).toEqual([OWN_PLACE]);
    expect(readFileSync(join(dir, 'run', OWN_PLACE), 'utf8')).toContain('"run_id":"hosted"');
    release();
    expect(readdirSync(join(dir, 'run'))).toEqual([]);
  });

  test('does not go on for a shim that was killed', () => {
    const last = who();
    const dead = 'agent-42-5042-b00710ad.shim-98-1-b00710ad.json';
    writeFileSync(join(dir, 'run', dead), '{}');
    expect(last.leave(did(0))).toBeDefined();
    last.release();
    expect(readdirSync(join(dir, 'run'))).toEqual([]);
  });

  test('is not ended by a shim of the run before', () => {
    const old = shim(100);
    writeFileSync(join(dir, 'run', RUN_FILE), '{"run_id":"next"}');
    expect(old.leave(did(1))).toBeUndefined();
    expect(readFileSync(join(dir, 'run', RUN_FILE), 'utf8')).toContain('next');
  });

  test('is another one for another process of the same id', () => {
    who();
    const later = who({ system: machine([{ ...AGENT, ticks: 7 }]) });
    expect(later.runOrigin).toBe('created');
  });

  test('is a script of a shell, but not a shell that only runs a command', () => {
    const parent = { id: 41, parent: 1, name: 'agent' };
    const script = { id: 42, parent: 41, name: 'bash', command: ['bash', 'job.sh'] };
    who({ system: machine([script, parent]) });
    const command = { ...script, command: ['bash', '-c', 'sub shim'] };
    who({ system: machine([command, parent]) });
    const names = readdirSync(join(dir, 'run')).filter((name) => !name.includes('.shim-'));
    expect(names.map((name) => name.slice(0, 9)).toSorted()).toEqual(['agent-41-', 'agent-42-']);
  });

  test.each<[string, readonly Fake[]]>([
    ['gone', []],
    ['the init process', [{ id: 42, parent: 0, name: 'systemd' }]],
  ])('is its own when the agent is %s', (_, processes) => {
    const { runOrigin, producer, release } = who({ system: machine(processes) });
    expect(runOrigin).toBe('alone');
    expect(readdirSync(join(dir, 'run'))).toEqual([OWN_PLACE]);
    expect(readFileSync(join(dir, 'run', OWN_PLACE), 'utf8')).toContain(producer.run_id);
    release();
    expect(readdirSync(join(dir, 'run'))).toEqual([]);
  });

  test.each(['', 'null', '{"run_id":5}', '{"run_id":"a b"}', '{'])(
    'is not known when the file holds %j, and that is said',
    (content) => {
      mkdirSync(join(dir, 'run'));
      writeFileSync(join(dir, 'run', RUN_FILE), content);
      const { runOrigin, problem, producer, release } = who();
      expect(runOrigin).toBe('alone');
      expect(problem).toContain(RUN_FILE);
      // The run that it has instead is alive, too.
      expect(readFileSync(join(dir, 'run', OWN_PLACE), 'utf8')).toContain(producer.run_id);
      release();
      expect(readdirSync(join(dir, 'run'))).toEqual([RUN_FILE]);
    },
  );

  test('is its own when the home takes no files', () => {
    writeFileSync(join(dir, 'run'), '');
    const { runOrigin, warnings } = who({
      paths: { run: join(dir, 'run'), hostId: join(dir, 'run', 'host-id') },
    });
    expect(runOrigin).toBe('alone');
    expect(warnings).toHaveLength(2);
  });

  test('leaves no files of agents that are gone for long', () => {
    mkdirSync(join(dir, 'run'));
    const names = [
      'agent-7-1-b00710ad.json',
      'agent-8-2-x.json',
      'agent-42-1-b00710ad.json',
      'agent-42-1-b00710ad.shim-3-4-b00710ad.json',
      'agent-42-1-b00710ad.json.0f0e0d0c-draft',
      'ledger.sock',
    ];
    for (const name of names) {
      writeFileSync(join(dir, 'run', name), '{}');
      utimesSync(join(dir, 'run', name), 1_000, 1_000);
    }
    writeFileSync(join(dir, 'run', 'agent-9-3-x.json'), '{}');
    const alive: Fake = { id: 7, parent: 1, name: 'agent', ticks: 1 };
    who({ system: machine([AGENT, alive]) });
    expect(readdirSync(join(dir, 'run')).toSorted()).toEqual([
      RUN_FILE,
      'agent-42-5042-b00710ad.shim-99-5099-b00710ad.json',
      'agent-7-1-b00710ad.json',
      'agent-9-3-x.json',
      'ledger.sock',
    ]);
  });

  test('leaves the files of agents in another container, whose processes it cannot see', () => {
    mkdirSync(join(dir, 'run'));
    const spaces = {
      'agent-7-1-b00710ad.json': 'b00710ad-1',
      'agent-8-2-b00710ad.json': 'b00710ad-2',
    };
    const longAgo = Date.now() / 1_000 - 86_400;
    for (const [name, space] of Object.entries(spaces)) {
      writeFileSync(join(dir, 'run', name), JSON.stringify({ run_id: 'r', space }));
      utimesSync(join(dir, 'run', name), longAgo, longAgo);
    }
    const system = { ...machine([AGENT]), space: () => 'b00710ad-1' };
    who({ system });
    const left = () => readdirSync(join(dir, 'run')).filter((name) => name in spaces);
    expect(left()).toEqual(['agent-8-2-b00710ad.json']);
    utimesSync(join(dir, 'run', 'agent-8-2-b00710ad.json'), 1_000, 1_000);
    rmSync(join(dir, 'run', RUN_FILE));
    who({ system });
    expect(left()).toEqual([]);
    expect(readFileSync(join(dir, 'run', RUN_FILE), 'utf8')).toContain('"space":"b00710ad-1"');
  });

  test('is one for real processes that start and end at the same time', async () => {
    verifies('IP-0.3');
    const program = await bundleProgram(
      dir,
      `import { identify } from '../../stores/identity/index.ts';
       const [home] = process.argv.slice(2);
       const { producer, runOrigin, leave, release } = identify({ env: {}, cwd: home, nowMs: Date.now(), paths: { run: home + '/run', hostId: home + '/host-id' } });
       const own = { startedMs: 1, hasFailed: false, isTerminated: false, summary: { calls_total: 3, calls_allowed: 3, calls_blocked: 0, calls_throttled: 0, errors_total: 0 } };
       process.stdout.write('here\\n');
       process.stdin.on('end', () => console.log(JSON.stringify({ run: producer.run_id, host: producer.source.host_id, shim: producer.source.shim_id, runOrigin, calls: leave(own)?.summary.calls_total ?? 0 })) || release()).resume();`,
    );
    const children = Array.from({ length: 8 }, () => spawn(process.execPath, [program, dir]));
    const outputs = children.map((child) => text(child.stdout));
    await Promise.all(children.map((child) => once(child.stdout, 'data')));
    for (const child of children) child.stdin.end();
    const lines = (await Promise.all(outputs)).map((output) => output.split('\n')[1] ?? '');
    const results = lines.map((line) => JSON.parse(line) as { [name: string]: string | number });
    const distinct = (name: string) => new Set(results.map((result) => result[name])).size;
    expect(distinct('run')).toBe(1);
    expect(distinct('host')).toBe(1);
    expect(distinct('shim')).toBe(8);
    expect(results.filter(({ runOrigin }) => runOrigin === 'created')).toHaveLength(1);
    // One of them ends the run, and has counted them all.
    expect(results.map(({ calls }) => calls).filter(Boolean)).toEqual([24]);
    expect(results[0]?.['run']).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    expect(readdirSync(join(dir, 'run'))).toEqual([]);
  });
});

describe('the machine', () => {
  test('keeps its id in a private file', () => {
    const { producer } = who();
    expect(readFileSync(join(dir, 'host-id'), 'utf8')).toBe(`${producer.source.host_id}\n`);
    expect(statSync(join(dir, 'host-id')).mode & 0o777).toBe(0o600);
  });

  test('has an id for now when the file is damaged', () => {
    writeFileSync(join(dir, 'host-id'), '\u001b[31m');
    const { producer, warnings } = who();
    expect(producer.source.host_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(warnings).toEqual([expect.stringContaining('host-id')]);
  });
});

test('a file of the system is read to its end, however long it is', () => {
  const path = join(dir, 'environ');
  const environ = `LONG=${'x'.repeat(200_000)}\0CI=true\0`;
  writeFileSync(path, environ);
  expect(thisSystem().readFile(path)).toBe(environ);
});
