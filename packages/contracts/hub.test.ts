import { describe, expect, it } from 'vitest';
import {
  HUB_ENDPOINTS,
  HUB_OBSERVED_CHARS_MAX,
  HUB_READINESS,
  HUB_TIMEOUTS,
  parseEvaluateRequest,
  parseEvaluateResponse,
  parseHealthResponse,
  parseHeartbeatRequest,
  parseHeartbeatResponse,
  parseObserveRequest,
  parseObserveResponse,
  parseTaskResponse,
} from './hub.ts';
import { sampleOf } from './testing/samples.ts';

const REQUEST = {
  server_id: 'github',
  direction: 'agent_to_server',
  method: 'tools/call',
  id: 7,
  params: { name: 'create_issue' },
  message_type: 'request',
  profile: 'production',
};

describe('the API of the hub', () => {
  it('takes a request with absent, null, text and number ids', () => {
    for (const id of [undefined, null, '', 'a', 7, -1]) {
      expect(parseEvaluateRequest({ ...REQUEST, id }).ok).toBe(true);
    }
    for (const id of [true, 1.5, {}, 2 ** 53]) {
      expect(parseEvaluateRequest({ ...REQUEST, id }).ok).toBe(false);
    }
  });

  it('takes what shims of one run share', () => {
    const shared = {
      ...REQUEST,
      run_id: 'r1',
      call_id: 'c1',
      tool_name: 'create_issue',
      args_hash: 'a'.repeat(64),
      identity: { agent_id: 'a', client: 'claude', env: 'ci', workload: { repo: 'o/r' } },
      call_decision: sampleOf('hint decision').value,
    };
    expect(parseEvaluateRequest(shared).ok).toBe(true);
    const wrong = { ...shared, call_decision: { action: 'THROTTLE' } };
    expect(parseEvaluateRequest(wrong).ok).toBe(false);
  });

  it.each(['server_id', 'direction', 'method', 'message_type', 'profile'])(
    'misses %s of a request',
    (field) => {
      expect(parseEvaluateRequest({ ...REQUEST, [field]: undefined }).ok).toBe(false);
    },
  );

  it('takes answers of servers, also empty ones and those of no call', () => {
    const observed = {
      run_id: 'r1',
      server_id: 'web',
      policy_hash: 'a'.repeat(64),
      call_id: '',
      tool_name: 'resources/read',
      text: '',
    };
    expect(parseObserveRequest(observed).ok).toBe(true);
    const long = 'x'.repeat(2 * HUB_OBSERVED_CHARS_MAX);
    expect(parseObserveRequest({ ...observed, text: long, partial: true }).ok).toBe(true);
    expect(parseObserveRequest({ ...observed, tool_name: '' }).ok).toBe(false);
    expect(parseObserveRequest({ ...observed, policy_hash: undefined }).ok).toBe(false);
    expect(parseObserveResponse({ heard: true, shutdown: false }).ok).toBe(true);
    expect(parseObserveResponse({ shutdown: false }).ok).toBe(false);
  });

  it('tells who else decides, and what arguments have to do with what was read', () => {
    expect(parseHealthResponse({ status: 'ok', judges: ['cedar'] }).ok).toBe(true);
    const content = { action: 'tag', findings: ['taint:recipient'] };
    const answer = { decision: 'forward', shutdown: false };
    expect(parseEvaluateResponse({ ...answer, content }).ok).toBe(true);
    expect(parseEvaluateResponse({ ...answer, content: { action: 'burn' } }).ok).toBe(false);
  });

  it('wants a task to poll with a pending approval', () => {
    const pending = { decision: 'pending_approval', shutdown: false, poll_interval_ms: 500 };
    for (const parse of [parseEvaluateResponse, parseTaskResponse]) {
      expect(parse({ ...pending, task_id: 't1' }).ok).toBe(true);
      expect(parse(pending).ok).toBe(false);
      expect(parse({ ...pending, task_id: null }).ok).toBe(false);
      expect(parse({ decision: 'deny', shutdown: true, task_id: null, reason: null }).ok).toBe(
        true,
      );
      expect(parse({ decision: 'forward' }).ok).toBe(false);
    }
  });

  it('reads heartbeats and health', () => {
    expect(parseHeartbeatRequest({ server_id: 's' }).ok).toBe(true);
    expect(parseHeartbeatRequest({}).ok).toBe(false);
    expect(parseHeartbeatResponse({ shutdown: true }).ok).toBe(true);
    expect(parseHeartbeatResponse({ shutdown: 'no' }).ok).toBe(false);
    expect(parseHealthResponse({ status: 'ok', v: '0.2.0' }).ok).toBe(true);
    expect(parseHealthResponse({ status: 'fine' }).ok).toBe(false);
  });

  it('has each endpoint once', () => {
    const names = Object.values(HUB_ENDPOINTS).map(({ method, path }) => `${method} ${path}`);
    expect(names).toEqual([
      'GET /healthz',
      'POST /governance/evaluate',
      'GET /governance/task/{task_id}',
      'POST /governance/heartbeat',
      'POST /governance/policy',
      'POST /governance/result',
      'POST /governance/observe',
      'POST /governance/terminate',
      'GET /metrics',
    ]);
  });

  it('keeps the times that are fixed', () => {
    expect(HUB_READINESS).toEqual({ attemptsMax: 20, backoffFirstMs: 50, backoffMaxMs: 2_000 });
    expect(HUB_TIMEOUTS.evaluate).toEqual({ connectMs: 500, totalMs: 2_000 });
    expect(HUB_TIMEOUTS.task).toEqual({ connectMs: 500, totalMs: 5_000 });
  });
});

describe('the counts of a shim', () => {
  const COUNTS = {
    profile: 'production',
    server_state: 'running',
    messages: [{ direction: 'agent_to_server', method: 'tools/call', count: 3 }],
    decisions: [{ decision: 'forward', count: 2 }],
    framing_errors: [{ error_type: 'json', count: 1 }],
  };
  const parse = (counts: object) => parseHeartbeatRequest({ server_id: 'github', counts });

  it('go with a heartbeat, or do not', () => {
    expect(parse(COUNTS).ok).toBe(true);
    expect(parseHeartbeatRequest({ server_id: 'github' }).ok).toBe(true);
  });

  it.each([
    ['a negative count', { decisions: [{ decision: 'forward', count: -1 }] }],
    ['half a message', { messages: [{ direction: 'up', method: 'ping', count: 0.5 }] }],
    ['a long label', { framing_errors: [{ error_type: 'x'.repeat(65), count: 1 }] }],
    ['many labels', { decisions: Array.from({ length: 65 }, () => COUNTS.decisions[0]) }],
    ['a state that is none', { server_state: 'asleep' }],
  ])('are bounded: %s', (_what, wrong) => {
    expect(parse({ ...COUNTS, ...wrong }).ok).toBe(false);
  });
});
