// Which run is meant, and what cannot be meant, when the built `sub` is asked about the ledger.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Shim } from '../../packages/plane/stores/ledger/testing/events.ts';
import { askSub } from './ask-sub.ts';
import { ensureBuilt, ROOT } from './sub.ts';

const SESSION = readFileSync(`${ROOT}examples/events/session.jsonl`, 'utf8');
const RUN = 'run-2026-01-31';

let folder = '';
beforeAll(async () => {
  ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), 'sub-query-'));
  const older = SESSION.replaceAll(RUN, 'older').replaceAll('2026-01', '2025-12');
  writeFileSync(join(folder, 'events.jsonl'), SESSION + older);
  await sub('ingest', 'events.jsonl');
});
afterAll(async () => {
  await sub('ledgerd', '--stop');
  rmSync(folder, { recursive: true, force: true });
});

function sub(...args: readonly string[]) {
  return askSub(args, { cwd: folder, env: { SUB_HOME: join(folder, 'home'), HOME: folder } });
}

interface Answer {
  readonly calls?: readonly { readonly run_id: string; readonly status: string | null }[];
  readonly runs?: readonly { readonly run_id: string }[];
}

async function asked(...args: readonly string[]): Promise<Answer> {
  const { code, stdout, stderr } = await sub('query', '--json', ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Answer;
}

describe('the last run', () => {
  test('is known to queries about calls and about runs', async () => {
    const { calls = [] } = await asked('--run', 'last');
    expect(calls).toHaveLength(17);
    expect(new Set(calls.map(({ run_id }) => run_id))).toEqual(new Set([RUN]));
    const { runs = [] } = await asked('--runs', '--run', 'last');
    expect(runs.map(({ run_id }) => run_id)).toEqual([RUN]);
  });

  test('can be written as files', async () => {
    const { code, stdout } = await sub('export', 'run', 'last', '-o', 'trace');
    expect(code).toBe(0);
    expect(stdout).toContain(`of ${RUN} to trace: 17 calls`);
  });
});

test.each([[[]], [['--runs']]])('a run that is not there is told, with %j', async (args) => {
  expect(await sub('query', '--run', 'nobody', ...args)).toMatchObject({
    code: 2,
    stdout: '',
    stderr: 'sub: the ledger has no run `nobody`. See `sub query --runs`. [SUB_LEDGER_QUERY]\n',
  });
});

test.each([
  [['--since', '1h', '--until', '2h'], '--until `2h` is not after --since `1h`'],
  [['--since', '2026-01-01', '--until', '2026-01-01'], 'is not after --since'],
  [['--args-hash', 'abc'], '--args-hash `abc` is not a SHA-256 hash'],
  [['--args-hash', 'A'.repeat(64)], 'is not a SHA-256 hash'],
  [['--run', ''], '--run is empty'],
])('%j is an error', async (args, words) => {
  const { code, stdout, stderr } = await sub('query', ...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(words);
  expect(stderr).toContain('[SUB_USAGE]');
});

test('a call that was refused is shown as such, and ended with an error for its agent', async () => {
  const { stdout } = await sub('query', '--run', 'last', '--status', 'FAILED');
  const refused = stdout.split('\n').filter((line) => line.includes('REJECT_WITH_HINT'));
  expect(refused).toHaveLength(2);
  for (const line of refused) expect(line).toMatch(/ REJECT_WITH_HINT +REFUSED +/);
  const { calls = [] } = await asked('--run', 'last', '--decision', 'REFUSED');
  expect(calls.map(({ status }) => status)).toEqual(['ERROR', 'ERROR']);
});

describe('who did what to a file', () => {
  const NOW_MS = Date.now();
  beforeAll(async () => {
    const mia = new Shim('mia', names('mia@laptop', 'files', 'write_file'), NOW_MS - 60_000);
    const bot = new Shim('bot', names('ci:deploy', 'shell', 'run'), NOW_MS - 30_000);
    const blocked = {
      action: 'BLOCK',
      rule_id: 'no-shell',
      reason_code: 'DENYLIST_MATCH',
    } as const;
    const step = { rule_id: 'calls', kind: 'budget', outcome: 'counted', note: null } as const;
    const trace = [
      { ...step, tally: { count: 7, limit: 200 } },
      { ...step, rule_id: 'no-shell', kind: 'deny', outcome: 'decided', tally: null } as const,
    ];
    const hint = { hint_text: 'Ask a person.', suggested_args: null, retry_advice: null };
    const approved = { rule_id: 'ask', state: 'approved', by: 'ada', channel: 'terminal' } as const;
    const lines = [
      mia.runStart(),
      ...mia.callWith('write-1', { path: 'src/x.ts', content: '\u001b[2Jhello' }),
      mia.approval('write-1', approved),
      mia.start('write-2', { preview: { truncated: true } }),
      bot.runStart(),
      bot.start('run-1', {
        preview: { truncated: false, args_preview: '{"command":"rm src/x.ts"}' },
      }),
      bot.decision('run-1', blocked, { trace }),
      bot.line('hint_issued', {
        call: { call_id: 'run-1' },
        hint: { ...hint, hint_kind: 'SAFETY' },
      }),
      ...bot.callWith('run-2', { command: `echo ${'long '.repeat(60)}`, token: '[REDACTED]' }),
    ];
    writeFileSync(join(folder, 'who.jsonl'), `${lines.map(({ line }) => line).join('\n')}\n`);
    await sub('ingest', 'who.jsonl');
  });

  function names(principal: string, server: string, tool: string) {
    return { run: `run-of-${principal}`, principal, server, tool, folder };
  }

  test('is one command: who, with which client, when, by which tool, and the decision', async () => {
    const { code, stdout, stderr } = await sub('query', '--path', 'src/x.ts', '--since', '7d');
    expect(code).toBe(0);
    expect(stderr).toBe(
      'sub: 1 call, whose arguments were cut or not kept, may be missing here.\n',
    );
    const [titles = '', ...rows] = stdout.trimEnd().split('\n');
    expect(titles).toMatch(/^TIME +WHO +CLIENT +DECISION +STATUS +MS +SERVER +TOOL +ARGUMENT /);
    expect(rows.map((row) => row.replaceAll(/ {2,}/g, '|').slice(21).split('|', 8))).toEqual([
      ['ci:deploy', 'claude', 'BLOCK', 'REFUSED', '-', 'shell', 'run', 'command=rm src/x.ts'],
      ['mia@laptop', 'claude', 'ALLOW', 'OK', '12', 'files', 'write_file', 'path=src/x.ts'],
    ]);
    expect(rows[1]).toContain('ada');
  });

  test.each([
    [
      ['--principal', 'ci:*'],
      ['run-2', 'run-1'],
    ],
    [['--approved-by', 'ada'], ['write-1']],
    [
      ['--tool', 'write_*', '--server', 'f?les'],
      ['write-2', 'write-1'],
    ],
    [['--arg', 'command=rm *'], ['run-1']],
    [['--arg', 'command=*', '--arg', 'token=*'], ['run-2']],
    [['--path', 'src', '--principal', 'mia@laptop'], ['write-1']],
    [['--path', 'other.ts'], []],
  ])('%j finds %j', async (args, expected) => {
    const { stdout } = await sub('query', '--json', '--since', '1h', ...args);
    const { calls } = JSON.parse(stdout) as { calls: readonly { readonly call_id: string }[] };
    expect(calls.map(({ call_id }) => call_id)).toEqual(expected);
  });

  test('all arguments are shown harmless, and piped output is whole', async () => {
    const { stdout } = await sub('query', '--since', '1h', '--args');
    expect(stdout).not.toContain('\u001b');
    expect(stdout).toContain(String.raw`"content":"\u001b[2Jhello"`);
    expect(stdout).toContain('long '.repeat(60).trimEnd());
    expect(stdout).toContain('(not kept)');
  });

  function narrow(...args: readonly string[]) {
    const env = { SUB_HOME: join(folder, 'home'), HOME: folder, COLUMNS: '80', TZ: 'UTC' };
    return askSub(['query', ...args], { cwd: folder, env });
  }

  test('at 80 columns a table has who, when, what, the decision and the id for `sub show`', async () => {
    const { stdout } = await narrow('--run', RUN, '--decision', 'REFUSED');
    const [titles = '', row = ''] = stdout.split('\n');
    expect(titles).toMatch(/^TIME +WHO +DECISION .*TOOL +ARGUMENT .*CALL$/);
    expect(row).toMatch(/^01-31 12:\d\d:\d\d {2}\S+ +◆ HINT +/);
    const id = row.split(/ +/).at(-1) ?? '';
    expect((await sub('show', id, '--run', RUN)).stdout).toContain('REJECT_WITH_HINT');
  });

  test('at 80 columns the counts of runs are whole, and a part of an id names a run', async () => {
    const { stdout } = await narrow('--runs');
    const [titles = '', row = ''] = stdout.split('\n');
    expect(titles).toMatch(/^STARTED +RUN +.*STATUS +CALLS +REFUSED +ERRORS$/);
    expect(row).toMatch(/ +\d+ +\d+ +\d+$/);
    expect(stdout).not.toContain('…');
    const part = await asked('--runs', '--run', RUN.slice(-8));
    expect(part.runs?.map(({ run_id }) => run_id)).toEqual([RUN]);
    expect((await sub('query', '--run', 'run-')).stderr).toMatch(/`run-` fits 3 runs\. Give more/);
  });

  test('a table is as wide as the terminal at most', async () => {
    const { stdout } = await narrow('--since', '1h');
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(5);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
    expect(lines[0]).toMatch(/^TIME +WHO +DECISION +.*TOOL +ARGUMENT/);
  });

  test.each([
    [['--arg', 'path'], 'is not written as NAME=GLOB', 'SUB_LEDGER_QUERY'],
    [['--tool', 'a['], 'The glob `a[` cannot be used', 'SUB_LEDGER_QUERY'],
    [['--runs', '--path', 'x'], '--path is about calls', 'SUB_USAGE'],
    [['--runs', '--arg', 'a=b'], '--arg is about calls', 'SUB_USAGE'],
  ])('%j is an error that says why', async (args, words, failureCode) => {
    const { code, stderr } = await sub('query', ...args);
    expect(code).toBe(2);
    expect(stderr).toContain(words);
    expect(stderr).toContain(`[${failureCode}]`);
  });

  test('runs are found by who started them', async () => {
    const { runs = [] } = await asked('--runs', '--principal', 'mia@*');
    expect(runs.map(({ run_id }) => run_id)).toEqual(['run-of-mia@laptop']);
  });

  test('one call is shown whole, by a part of its id', async () => {
    const { code, stdout } = await sub('show', 'run-1');
    expect(code).toBe(0);
    for (const line of [
      'call run-1',
      '  tool       shell/run',
      '  who        ci:deploy, agent fixer (claude, dev)',
      '  decision   ■ BLOCK by no-shell, DENYLIST_MATCH (info)',
      '  calls     budget  counted  7 of 200  -',
      '  no-shell  deny    decided  -         -',
      '  Ask a person.',
      '    "command": "rm src/x.ts"',
      '  (none: the call was refused)',
    ]) {
      expect(stdout.split('\n')).toContain(line);
    }
    expect(stdout).toMatch(
      /SEQ +TIME +TYPE\n.*tool_call_start\n.*tool_call_decision\n.*hint_issued/,
    );

    const approved = await sub('show', 'write-1', '--json');
    expect(JSON.parse(approved.stdout)).toMatchObject({
      call: { call_id: 'write-1', principal: 'mia@laptop', approved_by: ['ada'] },
      arguments: { path: 'src/x.ts' },
      not_whole: { arguments: null, result: null },
      approvals: [{ state: 'approved', by: 'ada', channel: 'terminal', rule_id: 'ask' }],
      trace: null,
    });
    expect(approved.stdout).not.toContain('\u001b');
  });

  test('a call is shown with its result, and with who approved it when', async () => {
    const { stdout } = await sub('show', 'write-1');
    const [, approved] = /^approval\n {2}(.*)$/m.exec(stdout) ?? [];
    // The fifth event of its shim, a millisecond after each other.
    const approvedAt = new Date(NOW_MS - 60_000 + 4).toISOString();
    expect(approved).toBe(`${approvedAt}  approved by ada (terminal), rule ask`);
    expect(stdout).toMatch(/^result\n {2}result of write-1\nevents$/m);

    const { stdout: json } = await sub('show', 'write-1', '--json');
    expect(JSON.parse(json)).toMatchObject({
      call: { result_preview: 'result of write-1' },
      approvals: [{ ts: approvedAt }],
    });
  });

  test('what was not kept of a call is said', async () => {
    const { stdout } = await sub('show', 'write-2');
    expect(stdout).toContain('(not kept: previews are off, or it is larger than');
    expect(stdout).toContain('(none: the call has no end on record)');
    expect(stdout).toContain('  decision   none on record');
  });

  test.each([
    ['run-', 'fits 2 calls'],
    ['run-of-', '`run-of-` fits 2 runs. Give more of it'],
    ['nothing', 'the ledger has neither a call nor a run `nothing`. See `sub query`'],
    ['', 'the id of the call is empty'],
  ])('`sub show %s` is an error that says what to do', async (id, words) => {
    const { code, stderr } = await sub('show', id);
    expect(code).toBe(2);
    expect(stderr).toContain(words);
  });
});

describe('a run whose tools reached no hook', () => {
  const REASON = '2 uses of tools of codex reached no hook: write_stdin';
  beforeAll(async () => {
    const shim = new Shim('hooks', { run: 'run-of-silence', client: 'codex' }, Date.now() - 60_000);
    const health = { status: 'degraded', reason: REASON, uptime_ms: 1 } as const;
    const lines = [shim.runStart(), ...shim.call('a'), shim.line('shim_health', { health })];
    const text = [...lines, shim.runEnd(1)].map(({ line }) => `${line}\n`).join('');
    writeFileSync(join(folder, 'silence.jsonl'), text);
    await sub('ingest', 'silence.jsonl');
  });

  test('says so in `sub show`, with when', async () => {
    const { code, stdout } = await sub('show', 'run-of-silence');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^run run-of-silence\n/);
    expect(stdout).toMatch(/^ {2}calls {6}1 call, 1 allowed, 0 refused, 0 errors$/m);
    expect(stdout).toContain('  policy     team 1.2.0, guardrails\n');
    expect(stdout).toMatch(new RegExp(`^warnings\\n  20\\S+Z  ${REASON}$`, 'm'));
    const { stdout: json } = await sub('show', 'of-silence', '--json');
    const run = { run_id: 'run-of-silence', degraded_reason: REASON };
    expect(JSON.parse(json)).toMatchObject({ run, warnings: [{ reason: REASON }] });
  });

  test('says so among the runs, and can be asked for', async () => {
    const { stdout } = await sub('query', '--runs');
    expect(stdout).toMatch(/^STARTED .* WARNING$/m);
    expect(stdout).toMatch(new RegExp(`run-of-silence .* ${REASON}$`, 'm'));
    const { runs = [] } = await asked('--runs', '--degraded');
    expect(runs.map(({ run_id }) => run_id)).toEqual(['run-of-silence']);
    expect((await sub('query', '--degraded')).stderr).toContain(
      '--degraded is about runs. Add --runs.',
    );
  });

  test('says so in `sub status`', async () => {
    const { stdout } = await sub('status');
    expect(stdout).toMatch(
      /^Warning: a run of codex, \S+ \S+ ago: 2 uses of tools of codex reached/m,
    );
    expect(stdout).toContain('(sub show run-of-silence)');
    const { stdout: json } = await sub('status', '--json');
    expect(JSON.parse(json)).toMatchObject({ degraded_runs: [{ degraded_reason: REASON }] });
  });
});
