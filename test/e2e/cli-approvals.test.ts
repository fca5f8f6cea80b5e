// Approvals and grants by the built `sub`, on files as another process leaves them.
import type { ChildProcess } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openTerminal, personSub } from '../person.ts';
import { writeSignedRequest } from '../signed-record.ts';
import {
  type Ended,
  ended,
  ensureBuilt,
  HAS_TERMINAL,
  runSub,
  SUB,
  startOnTerminal,
  startSub,
} from './sub.ts';

const EVIL = 'x\u001b[2J\u202e\u200b::error::y';
const HASH = 'ab'.repeat(32);

let root = '';
let home = '';
let count = 0;
const running = new Set<ChildProcess>();
beforeAll(async () => {
  ensureBuilt();
  await openTerminal();
  root = mkdtempSync(join(tmpdir(), 'sub-approvals-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeEach(() => {
  home = join(root, String(++count));
});
afterEach(async () => {
  for (const child of running) child.kill('SIGKILL');
  await Promise.all([...running].map((child) => new Promise((done) => child.once('close', done))));
});

const env = () => ({ SUB_HOME: home, HOME: root, TZ: 'UTC', SUB_RUN_ID: '' });

function sub(...args: readonly string[]): Promise<Ended> {
  return personSub(args, { cwd: root, env: env() });
}

interface Wish {
  readonly tool?: string;
  readonly args?: unknown;
  readonly reason?: string;
  readonly wait?: 'hold' | 'hint';
  readonly leftMs?: number;
}

/** A request as a shim leaves it; its id. */
function ask(wish: Wish = {}): string {
  const { tool = 'write_file', args = { path: 'src/a.ts', content: 'x' }, leftMs = 600_000 } = wish;
  const random = () =>
    Math.floor(Math.random() * 0x1_0000_0000)
      .toString(16)
      .padStart(8, '0');
  const id = `0189abcd-0000-7000-8000-${random()}${random().slice(0, 4)}`;
  const request = {
    v: 1,
    id,
    created_at: new Date().toISOString(),
    expires_at: new Date(Date.now() + leftMs).toISOString(),
    call: {
      run_id: 'run-1',
      call_id: 'call-1',
      server: 'files',
      tool,
      args_hash: HASH,
      policy_hash: HASH,
      rule_id: 'ask-writes',
      args,
      args_complete: true,
      risk: ['write_like'],
      reason: wish.reason ?? 'Writing needs a person.',
    },
    agent: { agent_id: 'coder', client: 'claude', env: 'dev', principal: 'ann' },
    wait: wish.wait ?? 'hold',
    asked_by: { pid: process.pid, start: 'another' },
  };
  const folder = join(home, 'approvals');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeSignedRequest(home, request);
  return id;
}

const short = (id: string) => id.slice(-8);

function endOf(id: string): unknown {
  const path = join(home, 'approvals', `${id}.end.json`);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8').split('\n')[0] ?? '') : null;
}

describe('sub approvals', () => {
  test('says that nothing waits, and makes nothing', async () => {
    const { code, stdout, stderr } = await sub('approvals');
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: 'Nothing waits for approval.\n',
      stderr: '',
    });
    expect(existsSync(home)).toBe(false);
  });

  test('lists what waits, and with --all what has ended', async () => {
    const [one, two] = [ask({ tool: 'one', wait: 'hint' }), ask({ tool: 'two' })];
    // The process that asked is another one than there is.
    ask({ tool: 'three', wait: 'hold' });
    expect((await sub('approvals', 'reject', two)).code).toBe(0);
    const pending = await sub('approvals');
    expect(pending.stdout).toContain(short(one));
    expect(pending.stdout).toMatch(
      /pending\s+files\/one\s+path=src\/a\.ts\s+coder\s+9 min\s+Writing needs a person\./,
    );
    expect(pending.stdout).toMatch(/pending\s+files\/three\s.*\snobody waits\s/);
    expect(pending.stdout).not.toContain(short(two));
    expect((await sub('approvals', 'list', '--all')).stdout).toMatch(/rejected\s+files\/two/);
    const { stdout } = await sub('approvals', '--state', 'rejected', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      approvals: [{ id: two, state: 'rejected', asker: 'gone', outcome: { channel: 'terminal' } }],
      damaged: [],
    });
  });

  test('shows the whole call, and nothing in it acts on the terminal', async () => {
    const id = ask({ tool: EVIL, args: { [EVIL]: [EVIL, 'line\nline'] }, reason: EVIL });
    const { code, stdout } = await sub('approvals', 'show', short(id));
    expect(code).toBe(0);
    expect(stdout).toContain(`approval ${id}\n`);
    expect(stdout).toContain(`sha256 ${HASH}`);
    expect(stdout).toContain('line\\nline');
    expect(stdout).toContain('which has ended: nothing will come of an approval');
    for (const args of [['show', id], ['list'], ['show', id, '--json']]) {
      const shown = (await sub('approvals', ...args)).stdout;
      expect(shown).toMatch(/write_like|files\//);
      expect(shown.replaceAll('\n', '')).not.toMatch(/\p{C}/u);
      expect(shown).not.toMatch(/^\s*::/m);
    }
  });

  test('approves and rejects exactly one, and says who was first', async () => {
    const [one, two] = [ask(), ask()];
    const approved = await sub('approvals', 'approve', short(one), '--note', 'fine', '--json');
    expect(approved.code).toBe(0);
    expect(JSON.parse(approved.stdout)).toMatchObject({
      changed: true,
      outcome: { state: 'approved', note: 'fine', channel: 'terminal' },
      grant: null,
    });
    expect(endOf(two)).toBeNull();
    const late = await sub('approvals', 'reject', one);
    expect(late.code).toBe(1);
    expect(late.stdout).toMatch(/^Nothing was changed\. .*approved by .*: fine\n$/);
    expect(endOf(one)).toMatchObject({ state: 'approved' });
  });

  test('lets one of two that decide at once win', async () => {
    for (let round = 0; round < 4; round++) {
      const id = ask();
      const both = await Promise.all([
        sub('approvals', 'approve', id),
        sub('approvals', 'reject', id),
      ]);
      expect(
        both.map(({ code }) => code).toSorted((one, two) => Number(one) - Number(two)),
      ).toEqual([0, 1]);
      expect(endOf(id)).toMatchObject({ state: both[0]?.code === 0 ? 'approved' : 'rejected' });
    }
  });

  test('does not approve what nobody waits for any more', async () => {
    const id = ask({ leftMs: -1 });
    const { code, stdout } = await sub('approvals', 'approve', id);
    expect(code).toBe(1);
    expect(stdout).toContain('expired by time (clock)');
    expect(endOf(id)).toMatchObject({ state: 'expired' });
  });

  test.each(['approve', 'reject'])('refuse to %s a call for an agent', async (verb) => {
    const id = ask();
    const inside = { cwd: root, env: { ...env(), SUB_RUN_ID: 'run-1' } };
    const refused = await personSub(['approvals', verb, id], inside);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('[SUB_INSIDE_RUN]');
    expect(endOf(id)).toBeNull();
  });

  test.each(['approve', 'reject'])('refuse to %s a call without a terminal', async (verb) => {
    const id = ask();
    const refused = await runSub(['approvals', verb, id], { cwd: root, env: env() });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('its input is not a terminal');
    expect(refused.stderr).toContain('[SUB_TERMINAL_NEEDED]');
    expect(endOf(id)).toBeNull();
  });

  test.each([
    [['approve', 'ffffffff'], 'SUB_APPROVAL_UNKNOWN'],
    [['show', '0189abcd'], 'SUB_APPROVAL_UNKNOWN'],
    [['show', '../../etc'], 'SUB_APPROVAL_UNKNOWN'],
    [['approve', 'x', '--run', '--always'], 'SUB_USAGE'],
    [['approve', 'x', '--any-args'], 'SUB_USAGE'],
    [['approve', 'x', '--for', 'ever'], 'SUB_USAGE'],
    [['approve', 'x', '--always', '--like', 'path'], 'SUB_USAGE'],
  ])('says what is wrong with %j', async (args, code) => {
    const ids = [ask(), ask()];
    const result = await sub('approvals', ...args);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain(`[${code}]`);
    expect(ids.map(endOf)).toEqual([null, null]);
  });

  test('reports damaged files, which approve nothing', async () => {
    const id = ask();
    const path = join(home, 'approvals', `${id}.end.json`);
    writeFileSync(path, '{"state":"approved"}', { mode: 0o600 });
    const listed = await sub('approvals');
    expect(listed.code).toBe(1);
    expect(listed.stderr).toContain(`${path} is damaged and approves nothing`);
    const shown = await sub('approvals', 'show', id);
    expect(shown.code).toBe(2);
    expect(shown.stderr).toContain('[SUB_APPROVAL_DAMAGED]');
  });
});

describe('sub grants', () => {
  test('lists what was granted in words, and takes it back', async () => {
    const id = ask();
    const flags = [
      '--for',
      '30m',
      '--like',
      'path=src/*',
      '--free',
      'content',
      '--note',
      'reviewed',
    ];
    const dry = await sub('approvals', 'approve', id, ...flags, '--dry-run');
    expect(dry.code).toBe(0);
    expect(endOf(id)).toBeNull();
    const approved = await sub('approvals', 'approve', id, ...flags);
    expect(approved.code).toBe(0);
    const { code, stdout } = await sub('grants');
    expect(code).toBe(0);
    const words = [
      'The tool write_file of the server files, where the rule ask-writes asks.',
      'By the agent coder (dev), started by ann, in any run.',
      'With these arguments and no others:',
      '  path is a text like src/*, with no step up (..) in it.',
      '  content is anything, or is not there.',
    ];
    for (const text of [dry.stdout, approved.stdout, stdout]) {
      for (const line of words) expect(text).toContain(`  ${line}\n`);
    }
    expect(stdout).toMatch(/Given by .* \(terminal\) at .*: reviewed\n$/);
    const [, grant = ''] = /^grant (\w{8}) {2}minutes, active\n/.exec(stdout) ?? [];
    expect((await sub('grants', 'revoke', grant)).code).toBe(0);
    expect((await sub('grants', 'revoke', grant)).code).toBe(1);
    expect((await sub('grants')).stdout).toBe('Nothing is granted.\n');
    expect((await sub('grants', 'list', '--all')).stdout).toContain('minutes, revoked by');
  });

  test('is not given when it would not cover what was shown', async () => {
    const id = ask();
    const { code, stderr } = await sub(
      'approvals',
      'approve',
      id,
      '--always',
      '--like',
      'path=lib/*',
    );
    expect(code).toBe(2);
    expect(stderr).toContain('[SUB_GRANT_REFUSED]');
    expect(endOf(id)).toBeNull();
    expect(existsSync(join(home, 'grants'))).toBe(false);
  });

  test('has one for once when a call may be tried again', async () => {
    await sub('approvals', 'approve', ask({ wait: 'hint' }));
    const { stdout } = await sub('grants', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      grants: [{ state: 'active', grant: { kind: 'once' } }],
    });
    expect(readdirSync(join(home, 'grants'))).toHaveLength(1);
  });
});

/** A running `sub`, and what it has printed. */
function watched(child: ChildProcess) {
  running.add(child);
  child.once('close', () => running.delete(child));
  const end = ended(child);
  let text = '';
  const looks = new Set<() => void>();
  child.stdout?.on('data', (chunk: string) => {
    text += chunk;
    for (const look of looks) look();
  });
  const until = (part: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (!text.includes(part)) return;
        looks.delete(look);
        resolve();
      };
      looks.add(look);
      void end.then(() => reject(new Error(`it ended before it printed ${part}: ${text}`)));
      look();
    });
  return { child, end, until };
}

describe('sub approvals watch', () => {
  test('tells of requests and their ends as they come, one JSON object per line', async () => {
    const first = ask();
    const watch = watched(startSub(['approvals', 'watch', '--json'], { cwd: root, env: env() }));
    await watch.until(first);
    const second = ask({ args: { evil: EVIL } });
    await watch.until(second);
    await sub('approvals', 'reject', first);
    await watch.until('"event":"end"');
    watch.child.kill('SIGINT');
    const { code, stdout, stderr } = await watch.end;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { event: 'request', id: first, state: 'pending' },
      { event: 'request', id: second, request: { call: { args: { evil: EVIL } } } },
      { event: 'end', id: first, state: 'rejected' },
    ]);
    expect(lines.join('')).not.toMatch(/\p{C}/u);
  });

  test.skipIf(!HAS_TERMINAL)('takes keys on a terminal', async () => {
    const first = ask({ tool: 'one' });
    const words = [process.execPath, SUB, 'approvals', 'watch'];
    const inherited = { ...process.env, ...env(), NO_COLOR: '1' };
    const child = startOnTerminal(words, { cwd: root, env: inherited });
    const watch = watched(child);
    await watch.until('files/one');
    await watch.until('a approve');
    // A key is not taken at once: whoever reads needs a moment.
    const typing = setInterval(() => child.stdin?.write('a'), 50);
    await watch.until(`${short(first)} files/one: approved by`);
    clearInterval(typing);
    const second = ask({ tool: 'two' });
    await watch.until('files/two');
    child.stdin?.write('q');
    expect((await watch.end).code).toBe(0);
    expect(endOf(first)).toMatchObject({ state: 'approved', channel: 'terminal' });
    expect(endOf(second)).toBeNull();
  });
});
