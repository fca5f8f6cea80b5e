// permissions.yaml: what is read, what is refused, and that the compiled policy decides as the tiers say.
import {
  type GuardrailsFile,
  STEWARD_CHANNELS,
  STEWARD_CONFIG_FILES,
  type StewardChannel,
  withDefaults,
} from '@subluminal/contracts';
import {
  decide,
  formatProblem,
  initialState,
  parseWithEngines,
  type Snapshot,
} from '@subluminal/core/policy';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { runs } from '../../../test/runs.ts';
import { compilePermissions } from './compile-permissions.ts';
import { permissionsSnapshot } from './permissions-snapshot.ts';
import { readPermissions } from './read-permissions.ts';
import { tierOf } from './tier-of.ts';
import type { Permissions } from './types.ts';

const NOW = Date.parse('2026-11-16T12:00:00Z');

function read(text: string): Permissions {
  const permissions = readPermissions({
    file: 'permissions.yaml',
    bytes: new TextEncoder().encode(text),
  });
  if (permissions.kind === 'permissions') return permissions;
  throw new Error(permissions.problems.map(formatProblem).join('\n'));
}

function guardrails(fields: object = {}): GuardrailsFile {
  const { shape, parse } = STEWARD_CONFIG_FILES['guardrails.yaml'];
  const parsed = parse(withDefaults(shape, fields));
  if (parsed.ok) return parsed.value;
  throw new Error('guardrails');
}

interface Policy {
  readonly snapshot: Snapshot;
  readonly run: ReturnType<typeof runOf>;
}

async function policyOf(
  text: string,
  channel: StewardChannel = 'terminal',
  rails: object = {},
): Promise<Policy> {
  const snapshot = await permissionsSnapshot(read(text), {
    channel,
    guardrails: guardrails(rails),
  });
  return { snapshot, run: runOf(snapshot) };
}

const IDENTITY = { run_id: 'run', agent_id: 'steward', client: 'custom', env: 'dev' };

interface Asked {
  readonly approved?: readonly string[];
  readonly nowMs?: number;
  readonly args?: { readonly [name: string]: string };
}

/** Calls of one run, one after the other. */
function runOf(snapshot: Snapshot) {
  let state = initialState(snapshot);
  let calls = 0;
  return (action: string, { approved = [], nowMs = NOW, args = {} }: Asked = {}) => {
    const [server_name = '', ...tool] = action.split('.');
    const call = {
      identity: IDENTITY,
      server_name,
      tool_name: tool.join('.'),
      args_hash: String(calls++),
      args,
      bytes_in: 2,
      approved,
    };
    const outcome = decide(snapshot, call, state, nowMs);
    ({ state } = outcome);
    return outcome;
  };
}

function verdict({ decision, risk_class }: ReturnType<ReturnType<typeof runOf>>): string {
  if (decision.approval !== undefined) return 'human_approval';
  if (decision.action === 'BLOCK') return 'forbidden';
  if (decision.action !== 'ALLOW') return decision.reason_code;
  return risk_class.includes('log_and_execute') ? 'log_and_execute' : 'auto_execute';
}

const SPEC = `
tiers:
  auto_execute:
    description: "Safe read-only operations"
    actions:
      - calendar.read
      - email.read
      - weather.check
      - memory.search
    constraints:
      rate_limit: 60/minute
  log_and_execute:
    description: "Low-risk writes, auto-allowed but audited"
    actions: [reminder.create, note.create, message.draft]
    constraints:
      rate_limit: 30/minute
  human_approval:
    description: "High-risk actions requiring explicit confirmation"
    actions: [email.send, message.send, file.modify, calendar.create, purchase.any]
    confirmation:
      channel: same_as_request
      show: [action, params, reasoning, guardian_verdict]
      timeout: 5m
  forbidden:
    description: "Hard-blocked regardless of LLM output"
    actions: [credentials.read_raw, system_prompt.modify, permissions.modify, data.bulk_delete, agent.self_modify]
`;

test.each([
  ['email.read', 'auto_execute'],
  ['note.create', 'log_and_execute'],
  ['email.send', 'human_approval'],
  ['nobody.knows', 'human_approval'],
  ['credentials.read_raw', 'forbidden'],
  ['Credentials.Read_Raw', 'forbidden'],
])('the permissions of the specification put %s into %s', async (action, tier) => {
  verifies('ST-4-ring1');
  const { run } = await policyOf(SPEC);
  expect(verdict(run(action))).toBe(tier);
  const [server = '', tool = ''] = action.split('.');
  expect(tierOf(read(SPEC), { server, tool, channel: 'terminal' })).toBe(tier);
});

test('a person who agrees lets an action pass, and no other', async () => {
  verifies('ST-4-ring1');
  const { run } = await policyOf(SPEC);
  const asked = run('email.send').decision;
  expect(asked.approval).toEqual({ wait: 'hold', timeout_ms: 300_000 });
  const approved = [asked.rule_id ?? ''];
  expect(run('email.send', { approved }).decision.action).toBe('ALLOW');
  expect(verdict(run('nobody.knows', { approved }))).toBe('human_approval');
  expect(verdict(run('credentials.read_raw', { approved }))).toBe('forbidden');
});

test('a rate counts each action, and tells how long to wait', async () => {
  const { run } = await policyOf(`
tiers: { auto_execute: { actions: ["a.*"], constraints: { rate_limit: 2/minute } } }`);
  expect([run('a.x'), run('a.x'), run('a.y')].map(verdict)).toEqual(Array(3).fill('auto_execute'));
  const { decision } = run('a.x');
  expect(decision).toMatchObject({ action: 'REJECT_WITH_HINT', reason_code: 'RATE_LIMITED' });
  expect(verdict(run('a.x', { nowMs: NOW + 60_000 }))).toBe('auto_execute');
});

test('an action of its own limits has them on top of its tier', async () => {
  const { run } = await policyOf(`
tiers: { auto_execute: { actions: ["a.*"] } }
limits:
  a.x: { cooldown: 30s }
  a.y: { hours: { from: "13:00", to: "17:00", utc_offset: "-02:00" } }`);
  expect(verdict(run('a.x'))).toBe('auto_execute');
  expect(run('a.x').decision.reason_code).toBe('COOLDOWN');
  expect(verdict(run('a.x', { nowMs: NOW + 30_000 }))).toBe('auto_execute');
  expect(run('a.y').decision).toMatchObject({ action: 'BLOCK', reason_code: 'OUTSIDE_HOURS' });
  expect(verdict(run('a.y', { nowMs: NOW + 3 * 3_600_000 }))).toBe('auto_execute');
  expect(verdict(run('a.z'))).toBe('auto_execute');
});

test('a channel refuses what is beyond its tier, unknown actions too', async () => {
  verifies('ST-10-security');
  const text = `${SPEC}
channels:
  discord: { max_tier: auto_execute, forbidden: [email.*] }
  slack: { max_tier: log_and_execute, human_approval: [memory.search] }
  telegram: { human_approval: [email.read], constraints: { cooldown: 1s } }`;
  const on = async (channel: StewardChannel, actions: readonly string[]) => {
    const { run } = await policyOf(text, channel);
    return actions.map((action) => verdict(run(action)));
  };
  const actions = ['email.read', 'memory.search', 'note.create', 'email.send', 'nobody.knows'];
  expect(await on('discord', actions)).toEqual([
    'forbidden',
    'auto_execute',
    'forbidden',
    'forbidden',
    'forbidden',
  ]);
  expect(await on('slack', actions)).toEqual([
    'auto_execute',
    'forbidden',
    'log_and_execute',
    'forbidden',
    'forbidden',
  ]);
  expect(await on('telegram', ['email.read', 'memory.search', 'memory.search'])).toEqual([
    'human_approval',
    'auto_execute',
    'COOLDOWN',
  ]);
});

test('guardrails stop texts, loops and floods', async () => {
  const { run } = await policyOf('tiers: { auto_execute: { actions: ["*.*"] } }', 'terminal', {
    forbidden_patterns: [{ pattern: '(?i)project falcon', why: 'It is secret.' }],
    circuit_breaker: { actions: '3/minute' },
  });
  const args = { body: 'About Project Falcon' };
  expect(run('a.b', { args }).decision).toMatchObject({
    action: 'BLOCK',
    summary: 'It is secret.',
  });
  expect([run('a.b'), run('a.c'), run('a.d')].map(verdict)).toEqual([
    'auto_execute',
    'auto_execute',
    'RATE_LIMITED',
  ]);
});

test('contacts and hosts are good whoever named them, and the list of contacts is trusted', () => {
  const bundle = compilePermissions(read(SPEC), {
    channel: 'web',
    guardrails: guardrails({
      egress: { contacts: [{ name: 'Ann', emails: ['ann@example.com'] }], hosts: ['example.org'] },
    }),
  });
  expect(bundle).toMatchObject({
    mode: 'control',
    self_protection: 'on',
    hint_delivery: 'tool_result',
    content: { approval: { timeout_ms: 300_000 } },
    taint: { allow: { emails: ['ann@example.com'], hosts: ['example.org'] } },
  });
});

test('the same permissions always compile into the same policy, which is read as any other', async () => {
  const choice = { channel: 'discord', guardrails: guardrails() } as const;
  const bundle = compilePermissions(read(SPEC), choice);
  const text = JSON.stringify(bundle);
  expect(JSON.stringify(compilePermissions(read(SPEC), choice))).toBe(text);
  const parsed = await parseWithEngines({ file: 'bundle', text });
  if (!parsed.ok) throw new Error(parsed.problems.map(formatProblem).join('\n'));
  expect(parsed.bundle).toEqual(bundle);
});

test.each([
  ['tiers: { auto_execute: { actions: [email] } }', 'not of the form `SERVER.TOOL`'],
  ['tiers: { auto_execute: { actions: ["email.[a"] } }', 'the action `email.[a` cannot be used'],
  ['tiers: { auto_run: {} }', 'unknown field `auto_run`'],
  ['tiers: { forbidden: { constraints: {} } }', 'unknown field `constraints`'],
  ['limits: { a.b: { rate_limit: often } }', '`rate_limit` is no rate'],
  ['limits: { a.b: { hours: { from: "9", to: "10:00" } } }', '`from` is no time of this form'],
  ['limits: { all: { cooldown: 1s } }', 'the action `all` cannot be used'],
  ['channels: { fax: {} }', 'there is no channel `fax`'],
  ['channels: { discord: { max_tier: forbidden } }', 'max_tier'],
  ['channels: { discord: { constraints: { cooldown: soon } } }', '`cooldown` is no duration'],
  ['tiers: { human_approval: { confirmation: { timeout: 5 } } }', 'got `5`'],
  ['tiers: { human_approval: { confirmation: { show: [action] } } }', 'always shows the whole'],
  ['tiers: [', 'permissions.yaml:1'],
])('%s is refused with its place', (text, words) => {
  const found = readPermissions({
    file: 'permissions.yaml',
    bytes: new TextEncoder().encode(text),
  });
  const problems = found.kind === 'broken' ? found.problems.map(formatProblem) : [];
  expect(problems.join('\n')).toContain(words);
  expect(problems.every((problem) => problem.startsWith('permissions.yaml:1:'))).toBe(true);
});

const SERVERS = ['a', 'b', '*'];
const TOOLS = ['x', 'y', 'x*', '*', 'xy'];
const action = fc
  .tuple(fc.constantFrom(...SERVERS), fc.constantFrom(...TOOLS))
  .map((parts) => parts.join('.'));
const actions = fc.array(action, { maxLength: 3 });
const maxTier = fc.constantFrom('auto_execute', 'log_and_execute', 'human_approval');
const file = fc.record({
  tiers: fc.record({
    auto_execute: fc.record({ actions }),
    log_and_execute: fc.record({ actions }),
    human_approval: fc.record({ actions }),
    forbidden: fc.record({ actions }),
  }),
  channels: fc.record(
    { discord: fc.record({ max_tier: maxTier, human_approval: actions, forbidden: actions }) },
    { requiredKeys: [] },
  ),
});
const name = fc.record({
  server: fc.constantFrom('a', 'b', 'c', 'A'),
  tool: fc.constantFrom('x', 'y', 'xy', 'z', 'X'),
  channel: fc.constantFrom(...STEWARD_CHANNELS),
});

/** What the tiers say, written down in another way. */
function expected(
  { tiers, channels }: Exclude<ReturnType<typeof file.generate>['value'], undefined>,
  { server, tool, channel }: { server: string; tool: string; channel: StewardChannel },
): string {
  const has = (list: readonly string[], flags = '') =>
    list.some((one) =>
      new RegExp(`^${one.replace('.', '\\.').replaceAll('*', '.*')}$`, flags).test(
        `${server}.${tool}`,
      ),
    );
  const here = channel === 'discord' ? channels.discord : undefined;
  if (has(tiers.forbidden.actions, 'i') || has(here?.forbidden ?? [], 'i')) return 'forbidden';
  const order = ['auto_execute', 'log_and_execute', 'human_approval'] as const;
  const isAsked = has([...tiers.human_approval.actions, ...(here?.human_approval ?? [])]);
  const found = isAsked
    ? 2
    : has(tiers.log_and_execute.actions)
      ? 1
      : has(tiers.auto_execute.actions)
        ? 0
        : 2;
  const max = order.findIndex((tier) => tier === (here?.max_tier ?? 'human_approval'));
  return found > max ? 'forbidden' : (order[found] ?? '');
}

test('the compiled policy decides as the tiers say, forbidden wins, and a channel only tightens', async () => {
  verifies('ST-4-ring1');
  const order = ['auto_execute', 'log_and_execute', 'human_approval', 'forbidden'];
  await fc.assert(
    fc.asyncProperty(file, name, async (written, { server, tool, channel }) => {
      const text = JSON.stringify(written);
      const { run } = await policyOf(text, channel);
      const outcome = run(`${server}.${tool}`);
      const tier = expected(written, { server, tool, channel });
      expect(verdict(outcome)).toBe(tier);
      expect(tierOf(read(text), { server, tool, channel })).toBe(tier);
      const elsewhere = tierOf(read(text), { server, tool, channel: 'terminal' });
      expect(order.indexOf(tier)).toBeGreaterThanOrEqual(order.indexOf(elsewhere));
      // An approval opens what asks, and nothing that is forbidden.
      const approved = run(`${server}.${tool}`, { approved: [outcome.decision.rule_id ?? ''] });
      expect(approved.decision.action).toBe(tier === 'forbidden' ? 'BLOCK' : 'ALLOW');
    }),
    runs(400),
  );
});
