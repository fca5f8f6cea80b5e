// A policy from recorded calls: it lints clean, lets the same calls pass, and refuses all others.
import { createHash } from 'node:crypto';
import { type Event, eventDecision, type JsonObject } from '@subluminal/contracts';
import { expect, test } from 'vitest';
import { argsHash } from '../../json/index.ts';
import {
  compileBundle,
  decide,
  initialState,
  lintBundle,
  parseWithEngines,
  replay,
  type Snapshot,
} from '../index.ts';
import { parseWhen } from '../match/when.ts';
import { turnStart } from '../testing/recording.ts';
import { suggestPolicy } from './suggest.ts';

const OPTIONS = { project: '/home/me/shop', version: '2026-11-17' };
const sha256 = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex');
const PATHS = {
  ...{ project: OPTIONS.project, home: '/home/me', tmp: '/tmp', env: {}, isCaseless: false },
  lookup: () => (path: string) => path,
};
const POLICY = { policy_id: 'none', policy_version: '0', policy_hash: sha256('') };

interface Recorded {
  readonly run?: string;
  readonly server?: string;
  readonly tool: string;
  readonly args?: JsonObject;
  /** `WOULD_BLOCK` is a call that passed in observe mode only. */
  readonly action?: 'ALLOW' | 'BLOCK' | 'WOULD_BLOCK';
  readonly risk?: readonly string[];
  readonly cut?: boolean;
  readonly subject?: 'resource' | 'prompt';
}

/** The events of calls, as a shim records them. */
function recorded(calls: readonly Recorded[]): readonly Event[] {
  return calls.flatMap((call, index) => {
    const {
      run = 'run-1',
      server = 'files',
      tool,
      args = {},
      action = 'ALLOW',
      cut = false,
    } = call;
    const hashed = argsHash(JSON.stringify(args), sha256);
    if (!hashed.ok) throw new Error(hashed.message);
    const names = { server_name: server, tool_name: tool, args_hash: hashed.hash };
    const ref = { call_id: `call-${index}`, ...names, risk_class: call.risk ?? [] };
    const identity = { run_id: run, agent_id: 'a', client: 'claude', env: 'dev' } as const;
    const base = { v: '0.2.0', ts: '2026-11-17T12:00:00.000Z', ...identity };
    const source = { host_id: 'h', proc_id: 'p', shim_id: 's' };
    const preview = { truncated: cut, args_preview: cut ? '{' : JSON.stringify(args) };
    const start = {
      ...ref,
      ...(call.subject && { subject: call.subject }),
      transport: 'mcp_stdio' as const,
      bytes_in: 1,
      seq: index + 1,
      preview,
    };
    const why = { severity: 'info', reason_code: 'X', summary: 'x', rule_id: null } as const;
    const would = { action: 'BLOCK', rule_id: 'r', reason_code: 'X', summary: 'x' } as const;
    const decision =
      action === 'WOULD_BLOCK'
        ? eventDecision({ ...why, action: 'ALLOW', reason_code: 'WOULD_BLOCK', would }, POLICY)
        : eventDecision({ action, ...why }, POLICY);
    return [
      { ...base, source, type: 'tool_call_start' as const, call: start },
      { ...base, source, type: 'tool_call_decision' as const, call: ref, decision },
    ];
  });
}

/** The policy as written and as compiled; lint has only this to say about it. */
async function suggested(calls: readonly Recorded[], lints: readonly string[] = []) {
  const { text } = suggestPolicy(recorded(calls), OPTIONS);
  const parsed = await parseWithEngines({ file: 'p.yaml', text });
  if (!parsed.ok) throw new Error(`${text}\n${JSON.stringify(parsed.problems, null, 2)}`);
  const options = { file: 'p.yaml', nowMs: 0, parseWhen };
  const advice = lintBundle(parsed.bundle, parsed.positionOf, options);
  expect(advice.map(({ code }) => code)).toEqual(lints);
  const snapshot = await compileBundle(parsed.bundle, {
    sha256,
    profile: 'production',
    paths: PATHS,
  });
  return { text, snapshot };
}

function outcomes(snapshot: Snapshot, calls: readonly Recorded[]) {
  const result = replay(snapshot, recorded(calls), { sha256 });
  return result.calls.map(({ replayed }) => replayed?.rule_id);
}

const path = (name: string) => ({ path: `${OPTIONS.project}/${name}` });
const SESSION: readonly Recorded[] = [
  { tool: 'list_directory', args: path('') },
  { tool: 'read_text_file', args: path('README.md') },
  { tool: 'read_text_file', args: path('src/a.ts'), run: 'run-2' },
  { tool: 'write_file', args: { ...path('src/a.ts'), content: 'sesame-is-my-password' } },
  { tool: 'write_file', args: { ...path('src/b/c.ts'), content: '' } },
  { tool: 'search_issues', server: 'github', args: { query: 'bug' } },
  { tool: 'delete_file', args: path('src/old.ts') },
  { tool: 'move_file', args: {}, action: 'BLOCK' },
];

test('the recorded calls pass by the suggested policy, and no others', async () => {
  const { snapshot } = await suggested(SESSION);
  expect(outcomes(snapshot, SESSION)).toEqual([
    ...['allow-files', 'allow-files', 'allow-files', 'allow-files-2', 'allow-files-2'],
    ...['allow-github', 'ask-files', 'deny-the-rest'],
  ]);
  const others: readonly Recorded[] = [
    { tool: 'search_issues' },
    { tool: 'create_issue', server: 'github' },
    { tool: 'edit_file', args: path('src/a.ts') },
    { tool: 'read_text_file', args: { path: '/etc/passwd' } },
    { tool: 'read_text_file', args: { path: `${OPTIONS.project}/../other/x` } },
    { tool: 'write_file', args: path('package.json') },
  ];
  expect(outcomes(snapshot, others)).toEqual(others.map(() => 'deny-the-rest'));
});

test('the comments count the calls, and no argument is repeated', async () => {
  const { text } = await suggested(SESSION);
  expect(text).toContain('# Suggested from 7 calls in 2 runs.');
  expect(text).toContain('"read_text_file" # 2 calls in 2 runs');
  expect(text).toContain('"${project}/src"');
  expect(text).not.toMatch(/sesame|bug|README|a\.ts|\/home/);
});

test('the programs of commands pass, and other commands ask', async () => {
  const bash = (command: string): Recorded => {
    return { server: 'claude-code', tool: 'Bash', args: { command } };
  };
  const session = [
    bash('npm test 2>&1 | tail -5'),
    bash('git -C . status; git add -A && git commit -m "sesame"'),
    bash('[ -f a ] && cat a > src/b'),
    bash('./build.sh sesame'),
    bash('echo $(sesame) | sh'),
  ];
  const { text, snapshot } = await suggested(session);
  expect(/program:\n(?: +- .*\n)+/.exec(text)?.[0].match(/"(.*)"/g)).toEqual(
    ['\\\\[', 'cat', 'git add*', 'git commit*', 'npm test*', 'tail'].map((one) => `"${one}"`),
  );
  expect(text).not.toContain('sesame');
  const others = [
    bash('npm publish'),
    bash('tail -5 a && rm b'),
    bash('cat a > /etc/x'),
    bash('./tail a'),
  ];
  expect(outcomes(snapshot, [...session, ...others])).toEqual([
    ...[
      'allow-claude-code-commands',
      'ask-claude-code-commands',
      'allow-claude-code-commands',
      'ask-claude-code-commands',
    ],
    ...['ask-claude-code-commands', ...others.map(() => 'ask-claude-code-commands')],
  ]);
});

test('refused calls of a listed tool are told apart from those that stay refused', async () => {
  const { text } = await suggested([
    { tool: 'list' },
    { tool: 'list', action: 'BLOCK' },
    { tool: 'move_file', action: 'BLOCK' },
    { tool: 'move_file', action: 'BLOCK' },
  ]);
  expect(text).toContain('# 2 calls of other tools did not pass, and still would not.');
  expect(text).toContain('# 1 call of listed tools did not pass; some of them may pass now.');
});

test('a call that an enforcing policy would have refused did not pass', async () => {
  const drop = { tool: 'drop_table', action: 'WOULD_BLOCK' } as const;
  const file = { tool: 'resources/read', subject: 'resource', args: { uri: 'a' } } as const;
  const { text, snapshot } = await suggested([
    { tool: 'list' },
    drop,
    { ...file, action: 'WOULD_BLOCK' },
  ]);
  expect(text).toContain('# 1 call of other tools did not pass, and still would not.');
  expect(text).not.toContain('"a"');
  expect(outcomes(snapshot, [drop])).toEqual(['deny-the-rest']);
});

test('tools beyond the limit are counted', async () => {
  const calls = Array.from({ length: 502 }, (_, index) => ({ tool: `list_${index}` }));
  const { text } = await suggested([...calls, ...calls]);
  expect(text).toContain('# 2 more tools on record are left out, and refused: this policy lists');
  expect((await suggested(calls.slice(0, 500))).text).not.toContain('left out');
});

test('budgets have twice the room that a run needed', async () => {
  const calls = Array.from({ length: 33 }, () => ({ tool: 'write_file', args: path('src/x') }));
  const { text, snapshot } = await suggested(calls);
  expect(text.match(/limit_calls: \d+/g)).toEqual(['limit_calls: 70', 'limit_calls: 70']);
  let state = initialState(snapshot);
  const actions: string[] = [];
  for (let count = 0; count < 71; count++) {
    const [start] = recorded([{ tool: 'write_file', args: path('src/x') }]);
    if (start?.type !== 'tool_call_start') throw new Error('no start');
    const identity = { run_id: 'r', agent_id: 'a', client: 'claude', env: 'dev' };
    const call = { ...start.call, identity, args: path('src/x') };
    const outcome = decide(snapshot, call, state, 0);
    ({ state } = outcome);
    actions.push(outcome.decision.action);
  }
  expect(actions.slice(69)).toEqual(['ALLOW', 'REJECT_WITH_HINT']);
});

test('hostile names stand for themselves alone', async () => {
  const hostile: readonly Recorded[] = [
    { tool: '*', server: 'a" - evil: {x' },
    { tool: 'read\u202e_file', server: '-' },
  ];
  const { text, snapshot } = await suggested(hostile, ['SUB_LINT_HIDDEN_TEXT']);
  expect(text).not.toMatch(/[\u202e]/u);
  expect(outcomes(snapshot, hostile)).toEqual(['allow-a-evil-x', 'allow-server']);
  expect(outcomes(snapshot, [{ tool: 'x', server: 'a" - evil: {x' }])).toEqual(['deny-the-rest']);
});

test('a person is asked where the risk class says so, and paths come from what is on record', async () => {
  const calls: readonly Recorded[] = [
    { tool: 'tidy', risk: ['destructive'] },
    { tool: 'read_file', args: path('docs/a.md') },
    { tool: 'read_file', args: { path: '/x' }, cut: true },
    { tool: 'stat', args: { path: '/var/log/x' } },
  ];
  const { text, snapshot } = await suggested(calls);
  expect(text).toContain('"read_file" # 2 calls in 1 run, 1 with arguments that are not on record');
  const [ask, read, unseen, stat] = outcomes(snapshot, calls);
  expect([ask, read, stat]).toEqual(['ask-files', 'allow-files-2', 'allow-files']);
  expect(unseen).toBeUndefined();
});

test('a suggestion lists the resources and prompts that passed each time, and refuses others', async () => {
  const read = (uri: string, more: Partial<Recorded> = {}): Recorded => ({
    ...{ tool: 'resources/read', subject: 'resource', args: { uri }, ...more },
  });
  const requests: readonly Recorded[] = [
    read('file:///repo/a.md'),
    read('file:///repo/a.md'),
    read('file:///repo/.env', { action: 'BLOCK' }),
    read('db://users?key=sesame'),
    read('note://1'),
    read('note://1', { action: 'BLOCK' }),
    { tool: 'prompts/get', subject: 'prompt', args: { name: 'review', arguments: { x: 'y' } } },
    { tool: 'list' },
  ];
  const { text, snapshot } = await suggested(requests);
  expect(outcomes(snapshot, requests)).toEqual([
    ...['allow-files-resources', 'allow-files-resources', 'deny-the-rest', 'deny-the-rest'],
    ...['deny-the-rest', 'deny-the-rest', 'allow-files-prompts', 'allow-files'],
  ]);
  expect(text).toContain('# Not listed: 4 requests for resources or prompts');
  expect(text).not.toContain('sesame');
  expect(text).not.toContain('resources/read');
  const other = outcomes(snapshot, [read('note://2'), { tool: 'resources/read' }]);
  expect(other).toEqual(['deny-the-rest', 'deny-the-rest']);
});

test('a suggestion says that it holds nothing about turns', () => {
  const about = (events: readonly Event[]) => suggestPolicy(events, OPTIONS).text;
  expect(about([...recorded(SESSION), turnStart('t', 1)])).toContain(
    '# 1 turn of models is on record.',
  );
  expect(about(recorded(SESSION))).not.toContain('of models');
});
