// A working day of several agents, people and servers, for pictures of the page. It is the same at every start: what
// differs between calls comes out of a seeded sequence.
import { type RecordedCall, RecordedRun, type RecordedTurn } from './recorded-run.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const RUNS = 46;
const SEED = 20;

interface Agent {
  readonly agentId: string;
  readonly client: 'claude' | 'codex' | 'headless' | 'custom';
  readonly principal: string;
  readonly turn: RecordedTurn;
  /** What it does again and again. */
  readonly calls: readonly RecordedCall[];
  /** What is refused now and then, or fails. */
  readonly troubles: readonly RecordedCall[];
}

const read = (path: string, result: string): RecordedCall => ({
  tool: 'read_text_file',
  args: { path },
  result,
  latencyMs: 8,
});
const READS = [
  read('/srv/shop/src/checkout/total.ts', 'export function total(cart: Cart): Cents {'),
  read('/srv/shop/src/checkout/total.test.ts', "import { total } from './total.ts';"),
  read('/srv/shop/README.md', '# Shop'),
];
const EDIT: RecordedCall = {
  tool: 'edit_file',
  args: {
    path: '/srv/shop/src/checkout/total.ts',
    edits: [
      {
        oldText: 'return Math.round(net * rate);',
        newText: 'return roundHalfEven(net * rate);',
      },
    ],
  },
  latencyMs: 24,
};
const TESTS: RecordedCall = {
  server: 'claude-code',
  tool: 'Bash',
  args: { command: 'npm test -- checkout' },
  result: '42 passed (3.1 s)',
  latencyMs: 3_400,
};
const ISSUE: RecordedCall = {
  server: 'github',
  tool: 'get_issue',
  args: { owner: 'acme', repo: 'shop', issue_number: 1_482 },
  result: '{"title":"Totals are off by one cent","state":"open"}',
  latencyMs: 310,
};
const QUERY: RecordedCall = {
  server: 'postgres',
  tool: 'query',
  args: { sql: 'select status, count(*) from orders group by status' },
  result: '[{"status":"paid","count":18204},{"status":"open","count":311}]',
  latencyMs: 46,
};
const ENV_FILE: RecordedCall = {
  tool: 'read_text_file',
  args: { path: '/srv/shop/.env' },
  action: 'BLOCK',
  ruleId: 'no-secret-files',
  summary: 'Files with keys are closed to agents.',
  latencyMs: 1,
};
const OUTSIDE: RecordedCall = {
  tool: 'write_file',
  args: { path: '/etc/hosts', content: '127.0.0.1 shop.test\n' },
  action: 'BLOCK',
  ruleId: 'writes-in-project',
  summary: 'Files outside of the project are not written.',
  latencyMs: 1,
};
const TWICE: RecordedCall = {
  server: 'github',
  tool: 'create_issue',
  args: { owner: 'acme', repo: 'shop', title: 'Totals are off by one cent' },
  action: 'REJECT_WITH_HINT',
  ruleId: 'no-double-changes',
  summary: 'The same call was made 4 s ago.',
  hint: 'This exact call was made a moment ago. Look at its result before you repeat it.',
  latencyMs: 1,
};
const AGAIN: RecordedCall = {
  ...QUERY,
  action: 'REJECT_WITH_HINT',
  ruleId: 'repeats',
  summary: 'The same call was made 10 times in 60 s.',
  hint: 'You made this call ten times in a minute. Its result does not change; change the plan.',
  latencyMs: 1,
};
const PACE: RecordedCall = {
  server: 'github',
  tool: 'search_code',
  args: { q: 'repo:acme/shop roundHalfEven' },
  action: 'THROTTLE',
  ruleId: 'github-pace',
  summary: 'More than 60 calls in a minute.',
  latencyMs: 1,
};
const SLOW_QUERY: RecordedCall = {
  ...QUERY,
  args: { sql: 'select * from events where payload::text like $1', values: ['%refund%'] },
  status: 'ERROR',
  result: 'canceling statement due to statement timeout',
  latencyMs: 5_000,
};
const MERGED: RecordedCall = {
  server: 'github',
  tool: 'merge_pull_request',
  args: { owner: 'acme', repo: 'shop', pull_number: 1_490, merge_method: 'squash' },
  ruleId: 'ask-before-publishing',
  summary: 'A person approved it.',
  result: '{"merged":true}',
  latencyMs: 820,
  approval: { by: 'grace', waitedMs: 48_000 },
};

const AGENTS: readonly Agent[] = [
  {
    agentId: 'fixer',
    client: 'claude',
    principal: 'ada',
    turn: { model: 'claude-opus-4-7', tokensIn: 21_400, tokensOut: 820, costMicros: 127_500 },
    calls: [...READS, EDIT, TESTS, ISSUE],
    troubles: [ENV_FILE, TWICE, { ...TESTS, status: 'ERROR', result: '1 failed, 41 passed' }],
  },
  {
    agentId: 'reviewer',
    client: 'codex',
    principal: 'grace',
    turn: { provider: 'openai', model: 'gpt-5.5', tokensIn: 14_900, costMicros: 83_600 },
    calls: [
      ...READS,
      ISSUE,
      { ...ISSUE, tool: 'get_pull_request_files', args: { pull_number: 1_490 }, latencyMs: 540 },
      { ...ISSUE, tool: 'add_review_comment', args: { pull_number: 1_490, line: 31 } },
    ],
    troubles: [PACE, PACE, OUTSIDE],
  },
  {
    agentId: 'triage',
    client: 'headless',
    principal: 'ci',
    turn: { model: 'claude-haiku-4-5', tokensIn: 6_200, tokensOut: 210, costMicros: 7_250 },
    calls: [ISSUE, { ...ISSUE, tool: 'list_issues', args: { state: 'open' }, latencyMs: 420 }],
    troubles: [TWICE, PACE],
  },
  {
    agentId: 'analyst',
    client: 'custom',
    principal: 'linus',
    turn: { provider: 'openai', model: 'gpt-5.4-mini', tokensIn: 9_800, costMicros: 9_150 },
    calls: [QUERY, { ...QUERY, tool: 'list_tables', args: { schema: 'public' }, latencyMs: 18 }],
    troubles: [SLOW_QUERY, AGAIN],
  },
  {
    agentId: 'docs',
    client: 'claude',
    principal: 'margaret',
    turn: { model: 'claude-sonnet-4-6', tokensIn: 11_300, tokensOut: 1_900, costMicros: 62_400 },
    calls: [
      ...READS,
      { tool: 'search_files', args: { path: '/srv/shop', pattern: '*.md' }, latencyMs: 61 },
      {
        server: 'browser',
        tool: 'navigate',
        args: { url: 'https://shop.test/' },
        latencyMs: 1_240,
      },
    ],
    troubles: [OUTSIDE, ENV_FILE],
  },
];

/** What the active policy has besides the rules of `examples/policies/team.yaml`. */
export const MORE_RULES = `
  # The API of GitHub counts per hour: an agent that searches on and on would lock everybody out.
  - rule_id: github-pace
    kind: rate_limit
    severity: warn
    match: { server_name: { glob: [github] } }
    effect:
      rate_limit:
        scope: server_tool
        capacity: 60
        refill_tokens: 60
        refill_period_ms: 60000
        on_limit: THROTTLE
        backoff_ms: 1000

  # Five failures within a minute: something is broken, and more calls do not mend it.
  - rule_id: stop-when-stuck
    kind: breaker
    severity: critical
    match: {}
    effect:
      breaker:
        scope: run
        error_threshold: 5
        window_ms: 60000
        on_trip: TERMINATE_RUN
`;

/** All runs of a day that ends at this time. */
export function demoDay(nowMs: number): readonly RecordedRun[] {
  const random = seeded(SEED);
  const runs = Array.from({ length: RUNS }, (_, at) => {
    const agent = AGENTS[Math.floor(random() ** 1.3 * AGENTS.length)] ?? AGENTS[0];
    if (agent === undefined) throw new Error('no agent');
    const agoMs = (8 * HOUR_MS * (RUNS - at - 0.5)) / RUNS + random() * 9 * MINUTE_MS;
    const startMs = nowMs - agoMs;
    return recordedRun(agent, { runId: runId(random, startMs), startMs, random });
  });
  return [...runs, stuckRun(nowMs - 47 * MINUTE_MS), releaseRun(nowMs - 22 * MINUTE_MS)];
}

function recordedRun(
  { turn, calls, troubles, ...who }: Agent,
  { random, ...when }: { runId: string; startMs: number; random: () => number },
): RecordedRun {
  const run = new RecordedRun({ ...who, ...when });
  const between = (min: number, max: number) => Math.round(min + random() * (max - min));
  const varied = <T extends { readonly latencyMs?: number }>(one: T) => {
    const latencyMs = Math.max(1, Math.round((one.latencyMs ?? 900) * (0.6 + random())));
    return { ...one, latencyMs, afterMs: between(400, 6_000) };
  };
  const oneOf = (list: readonly RecordedCall[]) => list[Math.floor(random() * list.length)] ?? {};
  const steps = between(4, 16);
  for (let step = 0; step < steps; step++) {
    const share = 0.5 + random();
    const { tokensIn = 9_000, costMicros = 9_000 } = turn;
    run.turn({
      ...varied({ ...turn, latencyMs: 2_600 }),
      tokensIn: Math.round(tokensIn * share),
      costMicros: Math.round(costMicros * share),
    });
    for (let call = between(1, 3); call > 0; call--) run.call(varied(oneOf(calls)));
    if (random() < 0.16) run.call(varied(oneOf(troubles)));
  }
  return run.end(random() < 0.06 ? 'FAILED' : 'SUCCEEDED');
}

/** A run that failed on and on until it was ended. */
function stuckRun(startMs: number): RecordedRun {
  const run = new RecordedRun({
    runId: '01a1ed31-6f90-7a51-8c0e-4d7f41d0c2a6',
    agentId: 'analyst',
    client: 'custom',
    principal: 'linus',
    startMs,
  });
  run.call({ ...QUERY, tool: 'list_tables', args: { schema: 'public' }, latencyMs: 18 });
  for (let at = 0; at < 5; at++) run.call(SLOW_QUERY);
  run.call({
    ...SLOW_QUERY,
    status: 'OK',
    action: 'TERMINATE_RUN',
    ruleId: 'stop-when-stuck',
    summary: '5 errors in 60 s.',
    latencyMs: 1,
  });
  return run.end('TERMINATED');
}

export const RELEASE_RUN = '01a1ed4a-2b18-7e02-9f36-b13c9be5a8d7';

/** A run with something of everything: turns, a retry, refusals, a person who was asked, and a quiet time. */
function releaseRun(startMs: number): RecordedRun {
  const who = { agentId: 'release', client: 'claude', principal: 'ada' } as const;
  const run = new RecordedRun({ ...who, runId: RELEASE_RUN, startMs });
  const model = { model: 'claude-opus-4-7', tokensIn: 18_900, tokensOut: 640, costMicros: 111_300 };
  const think = (latencyMs: number) => run.turn({ ...model, latencyMs, afterMs: 300 });
  think(4_200);
  for (const one of [ISSUE, ...READS]) run.call({ ...one, afterMs: 700 });
  think(6_800);
  run.call({ ...ENV_FILE, afterMs: 900 });
  think(2_100);
  run.call(EDIT);
  run.call({ ...TESTS, status: 'ERROR', result: '1 failed, 41 passed', latencyMs: 9_300 });
  think(5_400);
  run.call({ ...EDIT, args: { ...EDIT.args, edits: [{ oldText: 'cents', newText: 'minor' }] } });
  run.call({ ...TESTS, latencyMs: 8_800 });
  think(3_000);
  const pull = { owner: 'acme', repo: 'shop', title: 'Round half to even', head: 'fix/rounding' };
  run.call({ ...ISSUE, tool: 'create_pull_request', args: pull, latencyMs: 1_100 });
  run.call({ ...TWICE, tool: 'create_pull_request', args: pull, afterMs: 1_500 });
  think(1_900);
  run.call({ ...QUERY, latencyMs: 2_200 });
  run.call({ ...PACE, afterMs: 400 });
  run.call(MERGED);
  think(2_400);
  return run.end();
}

/** As `sub` makes them, by the time and at random. */
function runId(random: () => number, startMs: number): string {
  const hex = (length: number) =>
    Array.from({ length }, () => Math.floor(random() * 16).toString(16)).join('');
  const time = Math.floor(startMs).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(3)}-8${hex(3)}-${hex(12)}`;
}

/** Numbers from 0 to 1 (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
