// One agent from its start to its end under the built `sub run`, with real clients and servers.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import {
  chmodSync,
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
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Event, type EventOf, parseEventLine } from '@subluminal/contracts';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bearing, endBearing, noneBearing, until } from '../contract/proc.ts';
import { verifies } from '../requirements.ts';
import { askSub } from './ask-sub.ts';
import { type Plan, runAgent } from './run-agent.ts';
import {
  type Ended,
  ended,
  ensureBuilt,
  HAS_TERMINAL,
  SUB,
  startOnTerminal,
  startSub,
} from './sub.ts';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const BUNDLE_FILES = ['events.jsonl', 'policy.json', 'summary.json', 'summary.md'];

const head = (mode: string) =>
  `policy_id: e2e\nversion: "1"\nmode: ${mode}\ndefaults: { decision_on_error: BLOCK }\nselectors: {}\nrules:\n`;
const budget = (limit: number, on: string, mode = 'guardrails') =>
  `${head(mode)}  - rule_id: few\n    kind: budget\n    enabled: true\n    severity: warn\n    match: {}\n    effect: { budget: { scope: run, limit_calls: ${limit}, on_exceed: ${on} } }\n`;
const deny = (mode: string) =>
  `${head(mode)}  - rule_id: no-sums\n    kind: deny\n    enabled: true\n    severity: warn\n    match: { tool_name: { glob: ["get-sum"] } }\n    effect: { action: BLOCK, reason_code: NO_SUMS, message: No sums here. }\n`;

let folder = '';
/** Stands in the environment of everything that a test has started. */
let mark = '';
beforeAll(ensureBuilt);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-run-'));
  mark = `SUB_TEST_MARK=${randomUUID()}`;
  mkdirSync(join(folder, 'home'));
});
afterEach(() => {
  // A ledger that was started on the way knows nothing of the test but its folder.
  endBearing([mark, folder]);
  rmSync(folder, { recursive: true, force: true });
});

type Env = { readonly [name: string]: string };

function ownEnv(): Env {
  const [name = '', value = ''] = mark.split('=');
  const home = join(folder, 'home');
  return { HOME: home, SUB_HOME: join(home, 'sub'), [name]: value };
}

function start(args: readonly string[], env: Env = {}): ChildProcess {
  const child = startSub(['run', ...args], { cwd: folder, env: { ...ownEnv(), ...env } });
  child.stdin?.end();
  return child;
}

/** Another command of `sub` in the same home. */
function sub(...args: readonly string[]): Promise<Ended> {
  return askSub(args, { cwd: folder, env: ownEnv() });
}

function run(args: readonly string[], env: Env = {}): Promise<Ended> {
  return ended(start(args, env));
}

function agent(plan: Plan): readonly string[] {
  return ['--', ...runAgent(plan)];
}

const echo = (server: string, count = 1) =>
  Array.from({ length: count }, (_, at) => [server, 'echo', { message: `${at}` }] as const);
const sum = (server: string) => [server, 'get-sum', { a: 1, b: 2 }] as const;

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return name;
}

function read(name: string): string {
  return readFileSync(join(folder, name), 'utf8');
}

function eventsIn(text: string): readonly Event[] {
  const lines = text.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => {
    const parsed = parseEventLine(line);
    if (!parsed.ok) throw new Error(`no event: ${line}`);
    return parsed.event;
  });
}

function startOf(events: readonly Event[]): EventOf<'run_start'> {
  const [first, ...others] = events.filter((event) => event.type === 'run_start');
  if (first === undefined || others.length > 0) throw new Error('a run starts once');
  return first;
}

function endOf(events: readonly Event[]): EventOf<'run_end'> {
  const [first, ...others] = events.filter((event) => event.type === 'run_end');
  if (first === undefined || others.length > 0) throw new Error('a run ends once');
  return first;
}

function variablesIn(text: string): Env {
  const pairs = text.split('\n').map((line): [string, string] => {
    const at = line.indexOf('=');
    return [line.slice(0, at), line.slice(at + 1)];
  });
  return Object.fromEntries(pairs);
}

function outcomes(stdout: string): readonly string[] {
  const line = /^agent: (.*)$/m.exec(stdout)?.[1] ?? '[]';
  return JSON.parse(line) as readonly string[];
}

/** Everything that the run has made in the home, besides the id of the machine. */
function leftInHome(): readonly string[] {
  const dir = join(folder, 'home', 'sub', 'run');
  return existsSync(dir) ? readdirSync(dir).filter((name) => !name.startsWith('ledger')) : [];
}

/** Resolves when the output holds it. */
async function said(child: ChildProcess, text: string): Promise<void> {
  const heard = new EventEmitter();
  let all = '';
  child.stdout?.on('data', (chunk: Buffer | string) => {
    all += String(chunk);
    if (all.includes(text)) heard.emit('text');
  });
  await once(heard, 'text');
}

describe('identity', () => {
  test('tells the agent and all its processes who they are', async () => {
    verifies('IP-5', 'T-E.1', 'SL-8.2');
    const show = ['--', 'sh', '-c', 'env | grep ^SUB_'];
    const flags = ['--agent-id', 'fixer', '--env', 'prod', '--client', 'headless'];
    const { stdout, code } = await run([...flags, '--principal', 'ann', '--events', 'e', ...show]);
    expect(code).toBe(0);
    const told = variablesIn(stdout);
    expect(told).toMatchObject({
      SUB_AGENT_ID: 'fixer',
      SUB_ENV: 'prod',
      SUB_CLIENT: 'headless',
      SUB_PRINCIPAL: 'ann',
      SUB_RUN_HOSTED: '1',
      SUB_EVENTS: `file:${join(folder, 'e')}`,
    });
    expect(told['SUB_RUN_ID']).toMatch(UUID);
    expect(told['SUB_GOVERNANCE_ENDPOINT']).toMatch(/^unix:\/.*\.sock$/);
    const events = eventsIn(read('e'));
    expect(startOf(events)).toMatchObject({ agent_id: 'fixer', env: 'prod' });
    expect(new Set(events.map(({ run_id }) => run_id))).toEqual(new Set([told['SUB_RUN_ID']]));
  });

  test('finds the client by the name of the command, and CI by itself', async () => {
    write('claude', '#!/bin/sh\nenv | grep ^SUB_\n');
    chmodSync(join(folder, 'claude'), 0o755);
    const env = { GITHUB_ACTIONS: 'true', GITHUB_ACTOR: 'octo', CI: 'true' };
    const { stdout } = await run(['--events', 'e', '--', './claude'], env);
    expect(stdout).toContain('SUB_CLIENT=claude\n');
    expect(stdout).toContain('SUB_AGENT_ID=claude\n');
    expect(stdout).toContain('SUB_ENV=ci\n');
    expect(stdout).toContain('SUB_PRINCIPAL=octo\n');
  });

  test('takes the run id that it is given, and what is said about the run', async () => {
    verifies('IP-1.4');
    write('policy.yaml', deny('guardrails'));
    const flags = ['--events', 'e', '--meta', 'issue=42', '--meta', 'kind=failure'];
    await run([...flags, '--policy', 'policy.yaml', '--', 'true'], { SUB_RUN_ID: 'job-7' });
    const begun = startOf(eventsIn(read('e')));
    expect(begun.run_id).toBe('job-7');
    expect(begun.run).toMatchObject({
      mode: 'guardrails',
      policy: { policy_id: 'e2e', policy_version: '1' },
      meta: { issue: '42', kind: 'failure' },
    });
  });

  test('makes a run of its own inside of another, and names the outer one', async () => {
    const inner = [process.execPath, SUB, 'run', '--quiet', '--events', 'inner', '--', 'true'];
    const { code } = await run(['--agent-id', 'outer', '--events', 'outer', '--', ...inner]);
    expect(code).toBe(0);
    const outer = startOf(eventsIn(read('outer')));
    const begun = startOf(eventsIn(read('inner')));
    expect(begun.run_id).not.toBe(outer.run_id);
    expect(begun.run.meta).toEqual({ parent_run_id: outer.run_id });
    expect(begun.agent_id).toBe('custom');
  });
});

describe('one budget for all servers', () => {
  test('lets exactly as many calls pass as the run has', async () => {
    verifies('IP-1.8', 'T-E.1');
    write('policy.yaml', budget(4, 'BLOCK'));
    const calls = [...echo('one', 5), ...echo('two', 5)];
    const plan = agent({ servers: ['one', 'two'], calls, together: true });
    const done = await run(['--policy', 'policy.yaml', '--events', 'e', ...plan]);
    expect(done.code).toBe(0);
    const got = outcomes(done.stdout);
    expect(got.filter((one) => one === 'ok')).toHaveLength(4);
    expect(got.filter((one) => one === 'BLOCK')).toHaveLength(6);
    const events = eventsIn(read('e'));
    const { run: end } = endOf(events);
    expect(end).toMatchObject({
      status: 'SUCCEEDED',
      summary: { calls_total: 10, calls_allowed: 4, calls_blocked: 6, errors_total: 0 },
    });
    expect(events[0]?.type).toBe('run_start');
    expect(events.at(-1)?.type).toBe('run_end');
    expect(new Set(events.map(({ run_id }) => run_id)).size).toBe(1);
    expect(done.stderr).toMatch(/run [0-9a-f-]{36}: 10 calls, 6 refused\. Trace: .*\/e\n/);
    expect(bearing([mark])).toEqual([]);
    expect(leftInHome()).toEqual([]);
  });
});

describe('how it ends', () => {
  test.each([
    [['sh', '-c', 'exit 7'], 7, 'FAILED'],
    [['sh', '-c', 'kill -SEGV $$'], 139, 'FAILED'],
    [['sh', '-c', 'kill -TERM $$'], 143, 'CANCELLED'],
    [['true'], 0, 'SUCCEEDED'],
  ])('passes the end of %j on as %i, %s', async (command, code, status) => {
    const done = await run(['--events', 'e', '--', ...command]);
    expect(done.code).toBe(code);
    expect(endOf(eventsIn(read('e'))).run.status).toBe(status);
  });

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'hands %s on and leaves no process behind',
    async (signal) => {
      verifies('T-I.2');
      const plan = agent({ servers: ['one'], calls: echo('one'), linger: true });
      const child = start(['--events', 'e', ...plan]);
      const done = ended(child);
      await said(child, 'agent:');
      child.kill(signal);
      const { code } = await done;
      expect(code).toBe({ SIGTERM: 143, SIGINT: 130, SIGHUP: 129 }[signal]);
      const end = endOf(eventsIn(read('e'))).run;
      expect(end).toMatchObject({ status: 'CANCELLED', summary: { calls_total: 1 } });
      await noneBearing([mark]);
      expect(leftInHome()).toEqual([]);
    },
  );

  test.skipIf(!HAS_TERMINAL)(
    'lets the terminal tell the agent of Ctrl-C, once, and waits for it',
    async () => {
      const onInterrupt = "process.on('SIGINT', () => { console.log('got'); process.exit(5); });";
      write('agent.mjs', `${onInterrupt} console.log('up'); setInterval(() => {}, 60_000);`);
      const agentWords = [process.execPath, 'agent.mjs'];
      const words = [process.execPath, SUB, 'run', '--events', 'e', '--', ...agentWords];
      const child = startOnTerminal(words, {
        cwd: folder,
        env: { ...process.env, ...ownEnv() },
      });
      const done = ended(child);
      await said(child, 'up');
      child.stdin?.write('\u0003');
      const { code, stdout } = await done;
      expect({ code, words: stdout.match(/up|got/g) }).toEqual({ code: 5, words: ['up', 'got'] });
      expect(endOf(eventsIn(read('e'))).run.status).toBe('FAILED');
    },
  );

  test('kills an agent that does not want to end, and what it has started', async () => {
    const stubborn =
      "trap '' TERM; sh -c 'trap \"\" TERM; sleep 600' & echo up; wait; wait; sleep 600";
    const child = start(['--events', 'e', '--', 'sh', '-c', stubborn], { SUB_GRACE_MS: '100' });
    const done = ended(child);
    await said(child, 'up');
    child.kill('SIGTERM');
    expect((await done).code).toBe(137);
    expect(endOf(eventsIn(read('e'))).run.status).toBe('CANCELLED');
    expect(bearing([mark])).toEqual([]);
  });

  test('ends the agent when the policy ends the run, and says why', async () => {
    write('policy.yaml', budget(1, 'TERMINATE_RUN'));
    const calls = [...echo('one'), ...echo('two')];
    const plan = agent({ servers: ['one', 'two'], calls, linger: true });
    const flags = ['--policy', 'policy.yaml', '--events', 'e', '--bundle', 'b'];
    const { code, stderr } = await run([...flags, ...plan]);
    expect(code).toBe(3);
    expect(stderr).toMatch(/the run ends, as server (?:one|two) asked: .*\[BUDGET_EXCEEDED\]/);
    const end = endOf(eventsIn(read('e'))).run;
    expect(end).toMatchObject({ status: 'TERMINATED', summary: { calls_total: 2 } });
    expect(JSON.parse(read('b/summary.json'))).toMatchObject({ status: 'TERMINATED' });
    await noneBearing([mark]);
  });
});

describe('the ledger', () => {
  test('has the run when it is over, with all that its shims did', async () => {
    const plan = agent({ servers: ['one', 'two'], calls: [...echo('one', 2), ...echo('two')] });
    const done = await run(plan);
    expect(done.code).toBe(0);
    const [, runId = ''] =
      /run (\S+): 3 calls, 0 refused \(no policy: calls were only recorded\)\. Trace: sub query/.exec(
        done.stderr,
      ) ?? [];
    const found = await sub('query', '--runs', '--json');
    expect(JSON.parse(found.stdout)).toMatchObject({
      runs: [{ run_id: runId, status: 'SUCCEEDED', calls: { total: 3, allowed: 3 } }],
    });
    const exported = await sub('export', 'run', runId, '-o', 'out');
    expect(exported.code).toBe(0);
    const events = eventsIn(read('out/events.jsonl'));
    expect(endOf(events).run.summary).toMatchObject({ calls_total: 3, calls_allowed: 3 });
    expect(startOf(events).run_id).toBe(runId);
    // Nobody listened when the run began: it stands before its calls all the same.
    expect([events[0]?.type, events.at(-1)?.type]).toEqual(['run_start', 'run_end']);
    await sub('ledgerd', '--stop');
  });

  test('that cannot be opened leaves the counts of the hub, and that is said', async () => {
    const plan = agent({ servers: ['one'], calls: echo('one', 2) });
    const nowhere = { SUB_LEDGER_PATH: '/dev/null/ledger.db' };
    const { code, stderr } = await run(['--strict', ...plan], nowhere);
    expect(code).toBe(3);
    expect(stderr).toContain('2 calls, 0 refused (as the hub counted: no ledger answers');
    expect(stderr).toContain('strict: whether there were violations is not known');
  });
});

describe('--strict', () => {
  test.each(['guardrails', 'observe'])('fails a job with a violation in %s mode', async (mode) => {
    verifies('T-H.3');
    write('policy.yaml', deny(mode));
    const plan = agent({ servers: ['one'], calls: [sum('one'), sum('one')], exit: 5 });
    const flags = ['--strict', '--quiet', '--policy', 'policy.yaml', '--events', 'e'];
    const { code, stderr } = await run([...flags, ...plan]);
    expect(code).toBe(3);
    expect(stderr).toBe('sub: strict: 2 violations: no-sums (BLOCK) on one/get-sum ×2.\n');
  });

  test('leaves the code of the agent when there was none', async () => {
    write('policy.yaml', deny('guardrails'));
    const plan = agent({ servers: ['one'], calls: echo('one'), exit: 5 });
    const { code } = await run(['--strict', '--policy', 'policy.yaml', '--events', 'e', ...plan]);
    expect(code).toBe(5);
  });

  test('fails when nobody can tell', async () => {
    const { code, stderr } = await run(['--strict', '--events', 'off', '--', 'true']);
    expect(code).toBe(3);
    expect(stderr).toContain('whether there were violations is not known: no events were kept');
  });
});

describe('a server that nobody governed', () => {
  test('is told of when no shim has come, and fails a strict run', async () => {
    const plain = await run(['--events', 'e', '--', 'true']);
    expect(plain.code).toBe(0);
    expect(plain.stderr).toContain('(no server of this run went through Subluminal). Trace');
    const strict = await run(['--strict', '--quiet', '--events', 'e', '--', 'true']);
    expect(strict.code).toBe(3);
    expect(strict.stderr).toMatch(/^sub: strict: no server of this run went through Subluminal\./);
    const allowed = ['--strict', '--allow-no-server', '--events', 'e', '--', 'sh', '-c', 'exit 4'];
    expect((await run(allowed)).code).toBe(4);
  });
});

describe('servers with almost no environment', () => {
  /** Not below the home of the user, which is all that a server is told. */
  const elsewhere = () => ({ SUB_HOME: join(folder, 'elsewhere'), SUB_PREVIEWS: 'off' });
  const left = () =>
    ['elsewhere', 'home/.subluminal'].flatMap((home) => {
      const dir = join(folder, home, 'run');
      return existsSync(dir) ? readdirSync(dir).filter((name) => !name.startsWith('ledger')) : [];
    });

  test('are of the run, with its policy, its hub, its settings and its place for events', async () => {
    verifies('IP-5', 'IP-1.8');
    write('policy.yaml', budget(2, 'BLOCK'));
    const calls = [...echo('one', 2), ...echo('two', 2)];
    const plan = agent({ servers: ['one', 'two'], calls, bare: true });
    const flags = ['--strict', '--policy', 'policy.yaml', '--events', 'e'];
    const { code, stdout, stderr } = await run([...flags, ...plan], elsewhere());
    expect(outcomes(stdout).toSorted()).toEqual(['BLOCK', 'BLOCK', 'ok', 'ok']);
    expect(code).toBe(3);
    expect(stderr).toContain('4 calls, 2 refused. Trace');
    const events = eventsIn(read('e'));
    expect(endOf(events).run.summary).toMatchObject({ calls_total: 4, calls_blocked: 2 });
    expect(new Set(events.map(({ run_id }) => run_id)).size).toBe(1);
    expect(read('e')).not.toContain('args_preview');
    // What was made for the run alone has gone with it.
    expect(existsSync(join(folder, 'home', '.subluminal'))).toBe(false);
    expect(left()).toEqual([]);
  });

  test('find the policy that `sub run` has found, from whatever folder they are started', async () => {
    write('policy.yaml', deny('guardrails'));
    const [, ...command] = agent({ servers: ['one'], calls: [sum('one')], bare: true });
    const away = ['--', 'sh', '-c', 'cd / && "$0" "$@"', ...command];
    const { stdout } = await run(['--events', 'e', ...away], { ...elsewhere(), HOME: folder });
    expect(outcomes(stdout)).toEqual(['BLOCK']);
  });

  test('do not start when what tells of the run is damaged', async () => {
    const [, ...command] = agent({ servers: ['one'], calls: echo('one'), bare: true });
    // One is of `sub run`, the other of its agent, which is quicker than the file.
    const spoil =
      'cd "$HOME"/.subluminal/run; until [ "$(ls | wc -l)" = 2 ]; do sleep 0.05; done; for f in *; do : > $f; done; "$0" "$@"';
    const done = await run(['--strict', '--events', 'e', '--', 'sh', '-c', spoil, ...command]);
    expect(done.code).toBe(3);
    expect(done.stderr).toContain('no server of this run went through Subluminal');
    expect(eventsIn(read('e')).map(({ type }) => type)).toEqual(['run_start', 'run_end']);
  });

  test('are of the run also when its home was given by a relative path', async () => {
    mkdirSync(join(folder, 'away'));
    const [, ...command] = agent({ servers: ['one'], calls: echo('one') });
    const away = ['--', 'sh', '-c', 'cd away && echo "home $SUB_HOME" && "$0" "$@"', ...command];
    const env = { SUB_HOME: 'elsewhere', SUB_EVENTS: 'file:e', SUB_POLICY: 'policy.yaml' };
    write('policy.yaml', deny('guardrails'));
    const { code, stdout } = await run(away, env);
    expect(code).toBe(0);
    expect(stdout).toContain(`home ${join(folder, 'elsewhere')}\n`);
    expect(endOf(eventsIn(read('e'))).run.summary).toMatchObject({ calls_total: 1 });
    expect(readdirSync(join(folder, 'away'))).toEqual([]);
  });
});

describe('a full disk', () => {
  /** A limit on the size of a file, in blocks of 512 bytes: what is beyond fails. */
  function limited(blocks: number, args: readonly string[]): Promise<Ended> {
    const words = ['-c', `ulimit -f ${blocks}; exec "$0" "$@"`, process.execPath, SUB, 'run'];
    const env = { ...process.env, ...ownEnv() };
    const child = spawn('sh', [...words, ...args], { cwd: folder, env });
    return ended(child);
  }
  const meta = ['--meta', `long=${'x'.repeat(1_000)}`];

  test('keeps the agent from starting when the run cannot be written down', async () => {
    const done = await limited(0, ['--events', 'off', '--', 'touch', 'started']);
    expect(done.code).toBe(2);
    expect(done.stderr).toContain('[SUB_FILE_WRITE]');
    expect(existsSync(join(folder, 'started'))).toBe(false);
    expect(leftInHome()).toEqual([]);
  });

  test('keeps the agent from starting when the file for its events takes nothing', async () => {
    const done = await limited(3, [...meta, '--bundle', 'b', '--', 'touch', 'started']);
    expect(done.code).toBe(2);
    expect(done.stderr).toContain('[SUB_FILE_WRITE]');
    expect(existsSync(join(folder, 'started'))).toBe(false);
  });

  test.each(['--events', '--bundle'])('fails a run whose %s has gaps', async (flag) => {
    const { code, stderr } = await limited(4, [...meta, flag, 'kept', '--', 'true']);
    expect(stderr).toMatch(/kept\S* is not whole: its last event could not be written/);
    expect(code).toBe(2);
  });

  test.skipIf(process.getuid?.() !== 0)(
    'is told of when events for the ledger are lost',
    async (t) => {
      const disk = join(folder, 'home', 'sub');
      mkdirSync(disk, { mode: 0o700 });
      const mount = ['-t', 'tmpfs', '-o', 'size=256k,mode=700', 'tmpfs', disk];
      if (spawnSync('mount', mount).status !== 0) t.skip();
      try {
        const [, ...command] = agent({ servers: ['one'], calls: echo('one', 9) });
        const fill = `dd if=/dev/zero of=${disk}/fill bs=1k 2>/dev/null; "$0" "$@"`;
        const { stderr } = await run(['--', 'sh', '-c', fill, ...command]);
        expect(stderr).toMatch(/(?:were|may be) lost/);
        expect(stderr).not.toContain('wait in the spool');
      } finally {
        endBearing([mark, folder]);
        spawnSync('umount', ['-l', disk]);
      }
    },
  );
});

describe('an agent that writes to its trace', () => {
  test.each([
    ['calls a refusal an approval', 's/"BLOCK"/"ALLOW"/g'],
    ['leaves a call out', '/get-sum/d'],
    ['adds a call', '/tool_call_decision/{p;s/"call_id":"[^"]*"/"call_id":"x"/}'],
  ])('is found out when it %s', async (_, script) => {
    write('policy.yaml', deny('guardrails'));
    const [, ...command] = agent({ servers: ['one'], calls: [...echo('one'), sum('one')] });
    const change = `"$0" "$@"; sed '${script}' e > changed; cat changed > e`;
    const flags = ['--policy', 'policy.yaml', '--events', 'e'];
    const lie = ['--', 'sh', '-c', change, ...command];
    const strict = await run(['--strict', ...flags, ...lie]);
    expect(strict.code).toBe(3);
    expect(strict.stderr).toContain('2 calls, 1 refused (as the hub counted: ');
    expect(strict.stderr).toContain('strict: whether there were violations is not known: ');
    rmSync(join(folder, 'e'));
    expect((await run([...flags, ...lie])).code).toBe(2);
  });

  test('is found out when it kills a shim before that has told its counts', async () => {
    const plan = agent({ servers: ['one'], calls: echo('one'), linger: true });
    const child = start(['--strict', '--events', 'e', ...plan]);
    const done = ended(child);
    await said(child, 'agent:');
    for (const pid of bearing([mark])) {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'latin1');
      if (words.includes('\0shim\0--server-name\0')) process.kill(pid, 'SIGKILL');
    }
    child.kill('SIGTERM');
    const { code, stderr } = await done;
    expect(code).toBe(3);
    expect(stderr).toContain('the shim of server one ended without telling its counts');
  });
});

describe('an end that no rule has asked for', () => {
  test('is told with the one that did', async () => {
    const show = 'echo "hub $SUB_GOVERNANCE_ENDPOINT $SUB_RUN_ID."; sleep 600';
    const child = start(['--events', 'e', '--', 'sh', '-c', show]);
    const done = ended(child);
    let text = '';
    child.stdout?.on('data', (chunk: string) => (text += chunk));
    const found = () => /hub unix:(\S+) (\S+)\./.exec(text) ?? undefined;
    const [, socketPath = '', run_id = ''] = await until(found, 'the hub');
    const asked = request({ socketPath, path: '/governance/terminate', method: 'POST' });
    asked.on('error', () => undefined);
    asked.setHeader('content-type', 'application/json');
    asked.end(JSON.stringify({ run_id, code: 'ENOUGH', message: 'go home', server_id: 'mallory' }));
    const { code, stderr } = await done;
    expect(code).toBe(3);
    expect(stderr).toContain('the run ends, as server mallory asked: go home [ENOUGH]');
  });
});

describe('--events', () => {
  test.each(['off', 'ledger'])('%s means what it means for a shim', async (sink) => {
    const show = ['--', 'sh', '-c', 'echo "to $SUB_EVENTS"'];
    const { code, stdout } = await run(['--events', sink, ...show], { SUB_EVENTS: 'file:other' });
    expect({ code, stdout }).toEqual({ code: 0, stdout: `to ${sink}\n` });
    expect(readdirSync(folder)).toEqual(['home']);
  });

  test('prints whole lines while the agent runs, between what the agent prints', async () => {
    const plan = agent({ servers: ['one'], calls: echo('one', 3) });
    const done = await run(['--events', '-', ...plan]);
    expect(outcomes(done.stdout)).toEqual(['ok', 'ok', 'ok']);
    const events = eventsIn(done.stdout);
    expect(endOf(events).run.summary).toMatchObject({ calls_total: 3 });
    expect(events.filter(({ type }) => type === 'tool_call_end')).toHaveLength(3);
    expect(leftInHome()).toEqual([]);
  });

  test('prints an event before the run is over', async () => {
    const child = start(['--events', '-', '--', 'sleep', '600']);
    const done = ended(child);
    await said(child, '"run_start"');
    child.kill('SIGTERM');
    expect((await done).code).toBe(143);
  });

  test('goes on with the run when nobody reads any more', async () => {
    const wait = 'while [ ! -e gate ]; do sleep 0.05; done; touch over; exit 4';
    const child = start(['--events', '-', '--bundle', 'b', '--', 'sh', '-c', wait]);
    const done = ended(child);
    await said(child, '"run_start"');
    child.stdout?.destroy();
    write('gate', '');
    expect((await done).code).toBe(4);
    expect(existsSync(join(folder, 'over'))).toBe(true);
    expect(endOf(eventsIn(read('b/events.jsonl'))).run.status).toBe('FAILED');
  });

  test('appends to a file of many runs, private, behind half a line of another', async () => {
    write('e', '{"half":');
    await run(['--events', 'e', '--', 'true']);
    await run(['--events', 'file:e', '--bundle', 'b', '--', 'true']);
    const text = read('e').replace('{"half":\n', '');
    expect(eventsIn(text).map(({ type }) => type)).toEqual([
      'run_start',
      'run_end',
      'run_start',
      'run_end',
    ]);
    expect(eventsIn(read('b/events.jsonl'))).toEqual(eventsIn(text).slice(2));
    await run(['--events', 'new', '--', 'true']);
    expect(statSync(join(folder, 'new')).mode & 0o777).toBe(0o600);
  });

  test('refuses a file that it cannot make, before the agent starts', async () => {
    const done = await run(['--events', 'none/e', '--', 'touch', 'started']);
    expect(done).toMatchObject({ code: 2, stdout: '' });
    expect(done.stderr).toContain('[SUB_FILE_WRITE]');
    expect(existsSync(join(folder, 'started'))).toBe(false);
    expect(leftInHome()).toEqual([]);
  });
});

describe('--bundle', () => {
  test('keeps the run as files, also when the agent fails', async () => {
    verifies('T-H.2');
    write('policy.yaml', deny('guardrails'));
    const plan = agent({ servers: ['one'], calls: [...echo('one'), sum('one')], exit: 9 });
    const { code, stderr } = await run(['--policy', 'policy.yaml', '--bundle', 'b', ...plan]);
    expect(code).toBe(9);
    expect(stderr).toContain('2 calls, 1 refused');
    expect(readdirSync(join(folder, 'b')).toSorted()).toEqual(BUNDLE_FILES);
    for (const name of BUNDLE_FILES) {
      expect(statSync(join(folder, 'b', name)).mode & 0o077).toBe(0);
    }
    expect(JSON.parse(read('b/summary.json'))).toMatchObject({
      status: 'FAILED',
      totals: { calls_total: 2, calls_allowed: 1, calls_blocked: 1 },
      rules: [{ rule_id: 'no-sums', count: 1 }],
    });
    expect(read('b/summary.md')).toContain('no-sums');
    expect(endOf(eventsIn(read('b/events.jsonl'))).run.status).toBe('FAILED');
    const verified = await ended(startSub(['policy', 'verify', 'b/policy.json'], { cwd: folder }));
    expect(verified.code).toBe(0);
  });

  test('keeps a bundle that is there, unless it is told otherwise', async () => {
    await run(['--bundle', 'b', '--', 'true']);
    const before = read('b/events.jsonl');
    const again = await run(['--bundle', 'b', '--', 'true']);
    expect(again.code).toBe(2);
    expect(again.stderr).toContain('--force');
    expect(read('b/events.jsonl')).toBe(before);
    expect((await run(['--bundle', 'b', '--force', '--', 'true'])).code).toBe(0);
    expect(eventsIn(read('b/events.jsonl'))).toHaveLength(2);
    expect(read('b/events.jsonl')).not.toBe(before);
  });
});

describe('what cannot start', () => {
  test.each([
    [['--', 'no-such-agent'], 127, 'SUB_AGENT_START'],
    [['--', './plain'], 126, 'SUB_AGENT_START'],
    [['true'], 2, 'SUB_USAGE'],
    [['true', '--', 'true'], 2, 'SUB_USAGE'],
    [['--nonsense', '--', 'true'], 2, 'SUB_USAGE'],
    [['--env', 'moon', '--', 'true'], 2, 'SUB_USAGE'],
    [['--meta', 'novalue', '--', 'true'], 2, 'SUB_USAGE'],
    [['--meta', 'parent_run_id=x', '--', 'true'], 2, 'SUB_USAGE'],
    [['--policy', 'missing.yaml', '--', 'true'], 2, 'SUB_FILE_READ'],
    [['--policy', '-', '--', 'true'], 2, 'SUB_USAGE'],
    [['--events', 'off', '--', 'true'], 2, 'SUB_USAGE'],
    [['--events', 'ledger', '--', 'true'], 2, 'SUB_USAGE'],
    [['--allow-no-server', '--', 'true'], 2, 'SUB_USAGE'],
  ])('%j: exit code %i, %s, and nothing is left behind', async (args, code, name) => {
    write('plain', 'no program');
    const done = await run(['--bundle', 'b', ...args]);
    expect(done).toMatchObject({ code, stdout: '' });
    expect(done.stderr).toContain(`[${name}]`);
    expect(existsSync(join(folder, 'b'))).toBe(false);
    expect(leftInHome()).toEqual([]);
  });

  test('a broken policy stops it with the words of `sub policy lint`', async () => {
    write('policy.yaml', deny('guardrails').replace('kind: deny', 'kind: denny'));
    const lint = ended(startSub(['policy', 'lint', 'policy.yaml'], { cwd: folder }));
    const [problem = ''] = (await lint).stdout.split('\n');
    expect(problem).toContain('SUB_BUNDLE_UNKNOWN_KIND');
    const done = await run(['--policy', 'policy.yaml', '--', 'touch', 'started']);
    expect(done.code).toBe(2);
    expect(done.stderr).toContain(problem);
    expect(existsSync(join(folder, 'started'))).toBe(false);
  });
});

test('each problem of the configuration has a line of its own', async () => {
  const { code, stderr } = await run(['--', 'true'], { SUB_PROFILE: 'x', SUB_PREVIEWS: 'y' });
  expect(code).toBe(2);
  expect(stderr.match(/^sub: SUB_\w+: .* \[SUB_CONFIG_VALUE\]$/gm)).toHaveLength(2);
});

describe('a run that nobody hosts', () => {
  /** A server that ends with its input, behind a shim that this process has started. */
  function shim(...flags: readonly string[]) {
    const server = ['--', 'sh', '-c', 'echo up >&2; cat'];
    const args = ['shim', '--server-name', 'one', '--events', 'file:e', ...flags, ...server];
    const child = startSub(args, { cwd: folder, env: ownEnv() });
    const done = ended(child);
    const isUp = new Promise<void>((resolve) => child.stderr?.once('data', () => resolve()));
    return { done, isUp, end: () => (child.stdin?.end(), done) };
  }
  const told = () =>
    eventsIn(read('e')).filter(({ type }) => type === 'run_start' || type === 'run_end');

  test('begins with the first shim that starts, not with one that cannot', async () => {
    write('broken.yaml', 'nonsense');
    expect((await shim('--policy', 'broken.yaml').done).code).toBe(2);
    expect(leftInHome()).toEqual([]);
    await shim().end();
    expect(told().map(({ type }) => type)).toEqual(['run_start', 'run_end']);
    expect(leftInHome()).toEqual([]);
  });

  test('ends with its last shim; the next one begins another', async () => {
    const first = shim();
    await first.isUp;
    const second = shim();
    await second.isUp;
    await first.end();
    const third = shim();
    await third.isUp;
    await second.end();
    expect(told().map(({ type }) => type)).toEqual(['run_start']);
    await third.end();
    expect(told().map(({ type }) => type)).toEqual(['run_start', 'run_end']);
    await shim().end();
    const [begun, over, again, ...rest] = told().map(({ type, run_id }) => ({ type, run_id }));
    expect(over).toEqual({ type: 'run_end', run_id: begun?.run_id });
    expect(rest).toEqual([{ type: 'run_end', run_id: again?.run_id }]);
    expect(again?.run_id).not.toBe(begun?.run_id);
    expect(leftInHome()).toEqual([]);
  });
});

describe('the sockets of runs that were killed', () => {
  test('are removed by the next run, and those of living ones are not', async () => {
    const dir = join(folder, 'home', 'sub', 'run');
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const living = join(dir, 'hub-0123456789abcdef.sock');
    const server = createServer().listen(living);
    await once(server, 'listening');
    const killed = start(['--events', '-', '--', 'sh', '-c', 'echo started; exec sleep 600']);
    await said(killed, 'started');
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    const dead = leftInHome().filter((name) => name.startsWith('hub-') && !living.endsWith(name));
    // The sockets of the hub and of hooks, and the events that were handed on.
    expect(dead).toHaveLength(3);
    for (const name of [...dead, 'hub-0123456789abcdef.sock']) {
      utimesSync(join(dir, name), new Date(0), new Date(0));
    }
    await run(['--events', 'e', '--', 'true']);
    expect(leftInHome().filter((name) => dead.includes(name))).toEqual([]);
    expect(existsSync(living)).toBe(true);
    server.close();
  });

  test('a home with a long name has its socket elsewhere, and leaves nothing there', async () => {
    const home = join(folder, 'x'.repeat(90));
    const show = ['--', 'sh', '-c', 'echo "$SUB_GOVERNANCE_ENDPOINT"'];
    const env = { SUB_HOME: home, SUB_LEDGER_SOCKET: join(folder, 'ledger.sock') };
    const { code, stdout } = await run(['--events', 'e', ...show], env);
    expect(code).toBe(0);
    const path = stdout.trim().replace('unix:', '');
    expect(path.startsWith(home)).toBe(false);
    expect(Buffer.byteLength(path)).toBeLessThanOrEqual(103);
    expect(existsSync(join(path, '..'))).toBe(false);
  });
});
