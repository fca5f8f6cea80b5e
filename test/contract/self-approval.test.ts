// An agent under `sub run` tries to approve its own call, whatever it does to hide where it comes from.

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { type Desk, openDesk } from '@subluminal/plane/approvals';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ended, ensureBuilt, HAS_TERMINAL, SUB, startSub } from '../e2e/sub.ts';
import { openTerminal, personSub } from '../person.ts';
import { until } from './proc.ts';

beforeAll(async () => {
  ensureBuilt();
  if (HAS_TERMINAL) await openTerminal();
});

interface Stage {
  readonly folder: string;
  readonly home: string;
  readonly desk: Desk;
  readonly id: string;
  /** The answer of the command that the agent ran. */
  said(): string | undefined;
  /** Runs this shell script as the agent, to the end of the run. */
  run(script: string): ReturnType<typeof ended>;
}

function stage(): Stage {
  const folder = mkdtempSync(join(tmpdir(), 'sub-self-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const home = join(folder, 'home');
  mkdirSync(home, { mode: 0o700 });
  let count = 0;
  const uuid = () => `0189abcd-0000-7000-8000-${String(++count).padStart(12, '0')}`;
  const desk = openDesk({ home, ports: { nowMs: () => Date.now(), uuid } });
  if (isFailure(desk)) throw new Error(desk.message);
  const hash = 'ab'.repeat(32);
  const asked = desk.queue.ask({
    call: {
      run_id: 'run-1',
      call_id: 'call-1',
      server: 'files',
      tool: 'write_file',
      args_hash: hash,
      policy_hash: hash,
      rule_id: 'ask',
      args: {},
      args_complete: true,
      risk: [],
      reason: 'Writing needs a person.',
    },
    agent: { agent_id: 'coder', client: 'claude', env: 'dev' },
    wait: 'hold',
    timeoutMs: 600_000,
    askedBy: { pid: process.pid, start: 'x' },
  });
  if (asked.kind !== 'asked') throw new Error(asked.kind);
  const answer = join(folder, 'answer');
  // The words of the agent: a clean environment, and the answer in a file.
  const clean = `env -i PATH="$PATH" HOME="${folder}" SUB_HOME="${home}"`;
  const approve = join(folder, 'approve.sh');
  writeFileSync(
    approve,
    `#!/bin/sh\n${clean} "${process.execPath}" "${SUB}" approvals approve ${asked.id} >"${answer}.part" 2>&1\nmv "${answer}.part" "${answer}"\n`,
  );
  chmodSync(approve, 0o700);
  return {
    folder,
    home,
    desk,
    id: asked.id,
    said: () => (existsSync(answer) ? readFileSync(answer, 'utf8') : undefined),
    run: (script) => {
      const file = join(folder, 'agent.sh');
      writeFileSync(file, script);
      const env = { HOME: folder, SUB_HOME: home, APPROVE: approve, ANSWER: answer };
      const child = startSub(['run', '--events', 'off', '--', 'sh', file], { cwd: folder, env });
      onTestFinished(() => void child.kill('SIGKILL'));
      child.stdin?.end();
      return ended(child);
    },
  };
}

function stateOf({ desk, id }: Stage): string {
  const entry = desk.queue.get(id);
  return entry.kind === 'request' ? entry.state : entry.kind;
}

/** Waits until the agent's own shell is not above any more, then approves. */
const ORPHANED =
  'while [ "$(cut -d" " -f4 /proc/$PPID/stat)" = "$LAUNCHER" ]; do sleep 0.02; done; exec "$APPROVE"';
const WAITS = 'while [ ! -e "$ANSWER" ]; do sleep 0.05; done\n';

const UNSHARE = 'unshare -Urpf --mount-proc';
const CAN_UNSHARE = spawnSync('sh', ['-c', `${UNSHARE} true`]).status === 0;

describe('an agent under `sub run` cannot approve its own call', () => {
  it('with a clean environment', async () => {
    const place = stage();
    await place.run('"$APPROVE"');
    expect(place.said()).toContain('[SUB_INSIDE_RUN]');
    expect(stateOf(place)).toBe('pending');
  });

  it.skipIf(!HAS_TERMINAL)('with a terminal that it has made', async () => {
    const place = stage();
    await place.run('script -qfc "$APPROVE" /dev/null </dev/null >/dev/null');
    expect(place.said()).toContain('[SUB_INSIDE_RUN]');
    expect(stateOf(place)).toBe('pending');
  });

  it.skipIf(!HAS_TERMINAL)('with a terminal in a process that it has left behind', async () => {
    const place = stage();
    const hidden = `export LAUNCHER=$$; env -u SUB_RUN_ID -u SUB_GOVERNANCE_ENDPOINT setsid script -qfc '${ORPHANED}' /dev/null </dev/null >/dev/null 2>&1 &`;
    writeFileSync(join(place.folder, 'hide.sh'), hidden);
    await place.run(`sh hide.sh\n${WAITS}`);
    expect(place.said()).toContain('[SUB_INSIDE_RUN]');
    expect(stateOf(place)).toBe('pending');
  });

  it.skipIf(!HAS_TERMINAL)('with another name of the home, left behind', async () => {
    const place = stage();
    const hidden = `export LAUNCHER=$$; env -u SUB_RUN_ID -u SUB_GOVERNANCE_ENDPOINT setsid script -qfc '${ORPHANED}' /dev/null </dev/null >/dev/null 2>&1 &`;
    writeFileSync(join(place.folder, 'hide.sh'), hidden);
    const renamed = `ln -s "$SUB_HOME" other\nsed -i "s#SUB_HOME=\\"[^\\"]*\\"#SUB_HOME=\\"$PWD/other\\"#" "$APPROVE"\n`;
    await place.run(`${renamed}sh hide.sh\n${WAITS}`);
    expect(place.said()).toContain('[SUB_INSIDE_RUN]');
    expect(stateOf(place)).toBe('pending');
  });

  it.skipIf(!HAS_TERMINAL)('below a program that it has called like init', async () => {
    const place = stage();
    const below = `./tini -c "script -qfc \\"$APPROVE\\" /dev/null; true" </dev/null >/dev/null`;
    await place.run(`cp "$(command -v sh)" tini\n${below}`);
    expect(place.said()).toContain('[SUB_INSIDE_RUN]');
    expect(stateOf(place)).toBe('pending');
  });

  it.skipIf(!HAS_TERMINAL || !CAN_UNSHARE)('where nobody sees the processes above it', async () => {
    const place = stage();
    const apart = `env -u SUB_RUN_ID -u SUB_GOVERNANCE_ENDPOINT ${UNSHARE}`;
    await place.run(`${apart} script -qfc "$APPROVE" /dev/null </dev/null >/dev/null`);
    expect(place.said()).toContain('[SUB_INSIDE_RUN]');
    expect(stateOf(place)).toBe('pending');
  });

  it.skipIf(!HAS_TERMINAL)('although the files that tell of the run are gone', async () => {
    const place = stage();
    const hidden = `export LAUNCHER=$$; setsid env -i PATH="$PATH" LAUNCHER=$$ APPROVE="$APPROVE" script -qfc '${ORPHANED}' /dev/null </dev/null >/dev/null 2>&1 &`;
    writeFileSync(join(place.folder, 'hide.sh'), hidden);
    await place.run(`rm -rf "$SUB_HOME/run"/*.json\nsh hide.sh\n${WAITS}`);
    expect(place.said()).toContain('an agent may have started it');
    expect(place.said()).toContain('[SUB_INSIDE_RUN]');
    expect(stateOf(place)).toBe('pending');
  });
});

/** What a program asks of the daemon with all that the user has: the token, and a link that it has seen. */
const ASKS = `
const { readFileSync, renameSync, writeFileSync } = require('node:fs');
const [home, id, code, answer] = process.argv.slice(2);
const { url, token } = JSON.parse(readFileSync(home + '/run/ledger.json', 'utf8'));
const post = async (path, body, headers = {}) => {
  const all = { 'content-type': 'application/json', ...headers };
  const got = await fetch(url + '/api/v1/' + path, { method: 'POST', headers: all, body });
  const { error } = await got.json();
  return [path.replace(id, 'ID').split('?')[0], got.status, error?.code].join(' ').trim();
};
const authorization = 'Bearer ' + token;
(async () => {
  const lines = { authorization, 'content-type': 'application/x-ndjson' };
  const shown = await fetch(url + '/api/v1/approvals/' + id, { headers: { authorization } });
  const { request_sha256 } = await shown.json();
  const said = [
    await post('login', JSON.stringify({ code })),
    await post('login/link', '{}', { authorization }),
    await post('approvals/' + id + '/approve', JSON.stringify({ request_sha256 }), { authorization }),
    await post('ingest?producer=x&seq=0', '', lines),
  ];
  writeFileSync(answer + '.part', said.join('\\n'));
  renameSync(answer + '.part', answer);
})();
`;

describe.runIf(process.platform === 'linux')('the HTTP API', () => {
  it('takes no login and no decision from a governed agent, and both from outside of its run', async () => {
    const place = stage();
    const env = { HOME: place.folder, SUB_HOME: place.home };
    const daemon = startSub(['ledgerd', '--foreground'], { cwd: place.folder, env });
    onTestFinished(() => void daemon.kill('SIGKILL'));
    const daemonEnded = ended(daemon);
    const served = join(place.home, 'run', 'ledger.json');
    await until(() => existsSync(served) || undefined, 'the daemon');
    const { url, token } = JSON.parse(readFileSync(served, 'utf8')) as Record<string, string>;
    const link = async () => {
      const authorization = `Bearer ${token}`;
      const headers = { authorization, 'content-type': 'application/json' };
      const got = await fetch(`${url}/api/v1/login/link`, { method: 'POST', headers, body: '{}' });
      return ((await got.json()) as { readonly path: string }).path.split('#')[1] ?? '';
    };
    const asks = join(place.folder, 'asks.cjs');
    writeFileSync(asks, ASKS);
    const clean = `env -i PATH="$PATH" "${process.execPath}"`;
    await place.run(`${clean} ${asks} "$SUB_HOME" ${place.id} ${await link()} "$ANSWER"`);
    const refused = '403 SUB_INSIDE_RUN';
    expect(place.said()?.split('\n')).toEqual([
      `login ${refused}`,
      `login/link ${refused}`,
      `approvals/ID/approve ${refused}`,
      'ingest 200',
    ]);
    expect(stateOf(place)).toBe('pending');
    const outside = join(place.folder, 'outside');
    const code = await link();
    spawnSync(process.execPath, [asks, place.home, place.id, code, outside]);
    expect(readFileSync(outside, 'utf8').split('\n')).toEqual([
      'login 200',
      'login/link 200',
      'approvals/ID/approve 200',
      'ingest 200',
    ]);
    expect(stateOf(place)).toBe('approved');
    daemon.kill('SIGTERM');
    const { stderr } = await daemonEnded;
    expect(stderr).toContain('has refused to decide for an agent');
    expect(stderr).toMatch(/inside a governed run: the process \d+ is /);
  });
});

it.skipIf(!HAS_TERMINAL)(
  'a person approves in a terminal of their own while the run is alive',
  async () => {
    const place = stage();
    const running = place.run(`touch started\n${WAITS}`);
    await until(() => existsSync(join(place.folder, 'started')) || undefined, 'the agent');
    const env = { HOME: place.folder, SUB_HOME: place.home, SUB_RUN_ID: '' };
    const approved = await personSub(['approvals', 'approve', place.id], {
      cwd: place.folder,
      env,
    });
    expect(approved).toMatchObject({ code: 0 });
    expect(stateOf(place)).toBe('approved');
    writeFileSync(join(place.folder, 'answer'), '');
    await running;
  },
);

it.each([
  [['pins', 'reset', '--yes']],
  [['secrets', 'get', 'x']],
  [['secrets', 'remove', 'x', '--yes']],
  [['ledger', 'prune', '--keep-runs', '0', '--yes']],
  [['ledger', 'accept', '--yes']],
  [['restore', '--all', '--yes']],
  [['unwrap']],
  [['import', 'claude', '--yes']],
])('an agent cannot run `sub %s` with a clean environment', async (words) => {
  const place = stage();
  const command = `env -i PATH="$PATH" HOME="$HOME" SUB_HOME="$SUB_HOME" "${process.execPath}" "${SUB}" ${words.join(' ')} >"$ANSWER" 2>&1`;
  await place.run(command);
  expect(place.said()).toContain('[SUB_INSIDE_RUN]');
});
