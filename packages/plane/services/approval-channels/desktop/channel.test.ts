import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Bench } from '../../../stores/approvals/testing/bench.ts';
import type { RunningChannel } from '../shared/announce-requests.ts';
import { startDesktop } from './channel.ts';

let bench: Bench;
let running: RunningChannel;
beforeEach(() => {
  bench = new Bench();
});
afterEach(async () => {
  await running.stop();
  bench.end();
});

/** A program that leaves its arguments in a file of its own, in place of the real one. */
function programs(name: string, script = ''): string {
  const folder = join(bench.home, '..', 'bin');
  const record = `printf '%s\\n' "$@" > "${folder}/said.$$.next"; mv "${folder}/said.$$.next" "${folder}/said.$$"`;
  mkdirSync(folder);
  writeFileSync(join(folder, name), `#!/bin/sh\n${record}\n${script}\n`, { mode: 0o755 });
  return folder;
}

function start(folder: string, platform: NodeJS.Platform, perMinuteMax = 6): void {
  const env = { PATH: `${folder}:/usr/bin:/bin` };
  running = startDesktop(bench.desk, { perMinuteMax, platform, env });
}

async function said(folder: string, count: number): Promise<readonly (readonly string[])[]> {
  for (;;) {
    const names = readdirSync(folder).filter((name) => /^said\.\d+$/.test(name));
    if (names.length >= count) {
      return names.map((name) => readFileSync(join(folder, name), 'utf8').trimEnd().split('\n'));
    }
    await new Promise(setImmediate);
  }
}

test('shows a notification on Linux, with text that is only text', async () => {
  const folder = programs('notify-send');
  start(folder, 'linux');
  const id = bench.ask({}, { tool: '<b>x</b>&\u202e`touch y`', server: '--hint=x' });
  const [args] = await said(folder, 1);
  expect(args).toEqual([
    '--app-name=Subluminal',
    '--',
    'An agent asks for approval',
    `--hint=x/&lt;b&gt;x&lt;/b&gt;&amp;\\u{202e}\`touch y\` waits: sub approvals show ${id.slice(-8)}`,
  ]);
});

test('shows a notification on macOS, with the text outside of the script', async () => {
  const folder = programs('osascript');
  start(folder, 'darwin');
  const id = bench.ask({}, { tool: 'x" & (do shell script "id") & "' });
  const [args] = await said(folder, 1);
  expect(args?.slice(0, 6)).toEqual([
    ...['-e', 'on run argv'],
    ...['-e', 'display notification (item 2 of argv) with title (item 1 of argv)'],
    ...['-e', 'end run'],
  ]);
  expect(args?.slice(6)).toEqual([
    'An agent asks for approval',
    `files/x" & (do shell script "id") & " waits: sub approvals show ${id.slice(-8)}`,
  ]);
});

test('is bounded in a minute, and tells of the rest as a number', async () => {
  const folder = programs('notify-send');
  start(folder, 'linux', 2);
  for (let count = 0; count < 5; count++) bench.ask();
  await said(folder, 2);
  bench.nowMs += 60_000;
  const late = bench.ask({ timeoutMs: 120_000 });
  const all = await said(folder, 3);
  expect(all).toHaveLength(3);
  const last = all.find((args) => args.at(-1)?.includes(late.slice(-8)));
  expect(last?.at(-1)).toMatch(/ 3 more wait\.$/);
});

test('says when the program is not there, fails, or does not exist for the system', async () => {
  const folder = programs('notify-send', 'exit 3');
  start(folder, 'linux');
  bench.ask();
  await said(folder, 1);
  await running.stop();
  start('/nowhere', 'darwin');
  bench.ask({}, { call_id: 'call-2' });
  while (bench.warnings.length < 2) await new Promise(setImmediate);
  await running.stop();
  start(folder, 'win32');
  expect(bench.warnings).toEqual([
    'notify-send has failed.',
    'osascript cannot be started.',
    'There are no desktop notifications on win32.',
  ]);
});
