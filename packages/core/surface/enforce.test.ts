import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { enforceCall, enforcePrompt, enforceResource, type SurfaceCall } from './enforce.ts';
import { GMAIL_YAML, manifestOf } from './gmail.test-support.ts';
import { answerLimit } from './manifest/lookup.ts';
import type { Manifest } from './manifest/types.ts';
import { carrySurfaceState, initialSurfaceState, type SurfaceState } from './state.ts';

const MINUTE_MS = 60_000;

function decisionOf(manifest: Manifest, tool: string, args: SurfaceCall['args'] = {}) {
  return enforceCall(manifest, { tool, args }, { state: initialSurfaceState(), nowMs: 0 }).decision;
}

/** Makes calls one after the other, and tells how each was decided. */
function calls(manifest: Manifest, tool: string, timesMs: readonly number[]) {
  let state: SurfaceState = initialSurfaceState();
  return timesMs.map((nowMs) => {
    const enforced = enforceCall(manifest, { tool, args: {} }, { state, nowMs });
    ({ state } = enforced);
    return enforced.decision;
  });
}

describe('a call to the mail server', () => {
  it('is refused when the manifest forbids or does not list the tool', async () => {
    verifies('ST-8.10.1');
    const manifest = await manifestOf(GMAIL_YAML);
    expect(decisionOf(manifest, 'gmail.delete')).toMatchObject({
      kind: 'refuse',
      reason_code: 'TOOL_FORBIDDEN',
      message: '`gmail.delete` is not available.',
    });
    expect(decisionOf(manifest, 'gmail.modify_labels')).toMatchObject({
      reason_code: 'TOOL_NOT_LISTED',
    });
  });

  it('is refused with a blocked parameter at any depth and in any case, and the hint says to leave it out', async () => {
    verifies('ST-8.10.1');
    const manifest = await manifestOf(GMAIL_YAML);
    const args = { id: '1', more: [{ message: { Bcc: 'x@y' } }] };
    expect(decisionOf(manifest, 'gmail.read', args)).toEqual({
      kind: 'refuse',
      reason_code: 'PARAM_BLOCKED',
      message: '`gmail.read`: `more.message.Bcc` must not be sent.',
      hint: 'Call it without `more.message.Bcc`.',
      suggested_args: { id: '1', more: [{ message: {} }] },
      retryAfterMs: undefined,
    });
    const wide = { ｂｃｃ: 'x@y' };
    expect(decisionOf(manifest, 'gmail.read', wide)).toMatchObject({
      reason_code: 'PARAM_BLOCKED',
    });
    expect(decisionOf(manifest, 'gmail.send', { bcc: 'x' })).toMatchObject({
      reason_code: 'PARAM_STRIPPED',
    });
  });

  it('is refused beyond a limit, and the hint names the limit', async () => {
    verifies('ST-8.10.1');
    const manifest = await manifestOf(GMAIL_YAML);
    expect(decisionOf(manifest, 'gmail.search', { query: 'a', max_results: 500 })).toMatchObject({
      reason_code: 'PARAM_LIMIT',
      hint: '`max_results` must be a number of at most 50.',
      suggested_args: { query: 'a', max_results: 50 },
    });
    for (const max_results of ['500', null, [500], { n: 1 }, true]) {
      const decision = decisionOf(manifest, 'gmail.search', { query: 'a', max_results });
      expect(decision).toMatchObject({ reason_code: 'PARAM_LIMIT' });
    }
    const six = ['a@x', 'b@x', 'c@x,d@x', 'e@x;f@x'];
    for (const to of [six, six.join(','), [{ email: 'a@x, b@x, c@x' }, { email: 'd@x,e@x,f@x' }]]) {
      expect(decisionOf(manifest, 'gmail.send', { to })).toMatchObject({
        hint: '`to` must be at most 5 recipients.',
        suggested_args: null,
      });
    }
    expect(decisionOf(manifest, 'gmail.send', { to: six.slice(0, 3) }).kind).toBe('approve');
    const attachments = [{ data: 'é'.repeat(6_000_000) }];
    expect(decisionOf(manifest, 'gmail.send', { attachments })).toMatchObject({
      hint: '`attachments` must be at most 10485760 bytes.',
    });
  });

  it('waits for a person where the tier says so', async () => {
    verifies('ST-8.10.2');
    const manifest = await manifestOf(GMAIL_YAML);
    expect(decisionOf(manifest, 'gmail.send', { to: 'kristen@example.com' })).toMatchObject({
      kind: 'approve',
      reason_code: 'APPROVAL_REQUIRED',
    });
    expect(decisionOf(manifest, 'gmail.search', { query: 'a' })).toEqual({
      kind: 'pass',
      tier: 'auto_execute',
      listed: true,
    });
  });

  it('is refused above its rate, with the time to wait', async () => {
    verifies('ST-8.10.3');
    const manifest = await manifestOf(GMAIL_YAML);
    const decisions = calls(
      manifest,
      'gmail.search',
      Array.from({ length: 31 }, () => 0),
    );
    expect(decisions.slice(0, 30).every(({ kind }) => kind === 'pass')).toBe(true);
    expect(decisions[30]).toMatchObject({
      reason_code: 'RATE_LIMITED',
      retryAfterMs: 2_000,
      hint: 'Wait 2 s, then try again.',
    });
    const later = calls(manifest, 'gmail.search', [
      ...Array.from({ length: 31 }, () => 0),
      1_999,
      2_000,
      2_001,
    ]);
    expect(later.slice(31).map(({ kind }) => kind)).toEqual(['refuse', 'pass', 'refuse']);
  });
});

describe('limits over time', () => {
  it('never let more pass than the rate allows, whatever the clock does', async () => {
    const manifest = await manifestOf(
      'server: s\nallowed_tools: [{ name: t, rate_limit: 7/minute }]',
    );
    const steps = fc.array(fc.integer({ min: -5_000, max: 20_000 }), {
      minLength: 1,
      maxLength: 100,
    });
    fc.assert(
      fc.property(steps, (deltas) => {
        let nowMs = 1_000_000;
        const times = deltas.map((delta) => (nowMs += delta));
        const passed = calls(manifest, 't', times).filter(({ kind }) => kind === 'pass').length;
        const forwardMs = deltas.slice(1).reduce((sum, delta) => sum + Math.max(0, delta), 0);
        expect(passed).toBeLessThanOrEqual(7 + Math.floor((forwardMs * 7) / MINUTE_MS));
      }),
    );
  });

  it('count tools of one glob together, and tools of one tier too', async () => {
    const manifest = await manifestOf(`
server: s
allowed_tools: [{ name: "t*", rate_limit: 2/hour }]
tiers: { log_and_execute: { actions: [a, b], constraints: { cooldown: 10s } } }
`);
    let state = initialSurfaceState();
    const call = (tool: string, nowMs = 0) => {
      const enforced = enforceCall(manifest, { tool, args: {} }, { state, nowMs });
      ({ state } = enforced);
      return enforced.decision.kind === 'refuse'
        ? enforced.decision.reason_code
        : enforced.decision.kind;
    };
    expect(['t1', 't2', 't3'].map((tool) => call(tool))).toEqual(['pass', 'pass', 'RATE_LIMITED']);
    expect([call('a'), call('b'), call('b', 9_999), call('b', 10_000)]).toEqual([
      'pass',
      'COOLDOWN',
      'COOLDOWN',
      'pass',
    ]);
    state = carrySurfaceState(state, manifest);
    expect(call('t4')).toBe('RATE_LIMITED');
    state = carrySurfaceState(state, await manifestOf('server: s'));
    expect(call('t4')).toBe('pass');
  });

  it.each([
    // 1970-01-01 was a Thursday.
    ['2026-11-16T07:59:59Z', { from: '09:00', to: '17:00', utc_offset: '+01:00' }, 1_000],
    ['2026-11-16T08:00:00Z', { from: '09:00', to: '17:00', utc_offset: '+01:00' }, 0],
    ['2026-11-16T15:59:59Z', { from: '09:00', to: '17:00', utc_offset: '+01:00' }, 0],
    [
      '2026-11-16T16:00:00Z',
      { from: '09:00', to: '17:00', utc_offset: '+01:00' },
      16 * 60 * MINUTE_MS,
    ],
    ['2026-11-14T12:00:00Z', { from: '09:00', to: '17:00', days: ['mon'] }, 45 * 60 * MINUTE_MS],
    ['2026-11-16T01:00:00Z', { from: '22:00', to: '06:00', days: ['sun'] }, 0],
    [
      '2026-11-17T01:00:00Z',
      { from: '22:00', to: '06:00', days: ['sun'] },
      (5 * 24 + 21) * 60 * MINUTE_MS,
    ],
    ['2026-11-16T23:59:00Z', { from: '00:00', to: '24:00', days: ['mon'] }, 0],
  ])('open the hours of a tool at %s for %j after %i ms', async (time, hours, waitMs) => {
    const manifest = await manifestOf(
      `server: s\nallowed_tools: [{ name: t, hours: ${JSON.stringify(hours)} }]`,
    );
    const moment = { state: initialSurfaceState(), nowMs: Date.parse(time) };
    const { decision } = enforceCall(manifest, { tool: 't', args: {} }, moment);
    const waited = decision.kind === 'refuse' ? decision.retryAfterMs : 0;
    expect(waited).toBe(waitMs);
    expect(decision.kind).toBe(waitMs === 0 ? 'pass' : 'refuse');
  });
});

describe('hostile calls', () => {
  it('that are too deep to be checked are refused', async () => {
    const manifest = await manifestOf(GMAIL_YAML);
    let deep: SurfaceCall['args'] = { bcc: 1 };
    for (let level = 0; level < 10_000; level++) deep = { a: deep };
    expect(decisionOf(manifest, 'gmail.read', deep)).toMatchObject({
      reason_code: 'ARGS_TOO_COMPLEX',
    });
  });

  it('cannot hide a parameter behind the name of a prototype', async () => {
    const manifest = await manifestOf(GMAIL_YAML);
    const args = JSON.parse('{"__proto__":{"bcc":"x"},"id":"1"}') as SurfaceCall['args'];
    const decision = decisionOf(manifest, 'gmail.read', args);
    expect(decision).toMatchObject({ reason_code: 'PARAM_BLOCKED' });
    expect(JSON.stringify(decision)).toContain('"suggested_args":{"__proto__":{},"id":"1"}');
  });

  it('put nothing into a message that moves a cursor', async () => {
    const manifest = await manifestOf(GMAIL_YAML);
    const decision = decisionOf(manifest, '\u001b[2Jgmail', {});
    expect(JSON.stringify(decision)).not.toContain('\\u001b');
    expect(decision).toMatchObject({ message: '`\\u{1b}[2Jgmail` is not available.' });
  });

  it('get no suggested arguments with numbers that have lost digits', async () => {
    const manifest = await manifestOf(GMAIL_YAML);
    const args = { id: 2 ** 60, bcc: 'x' };
    expect(decisionOf(manifest, 'gmail.read', args)).toMatchObject({ suggested_args: null });
  });
});

describe('prompts, resources and answers', () => {
  it('pass when they are listed', async () => {
    const manifest = await manifestOf(
      'server: s\nallowed_prompts: [{ name: hi }]\nallowed_resources: [{ uri: "file:///docs/*" }]',
    );
    expect(enforcePrompt(manifest, 'hi').kind).toBe('pass');
    expect(enforcePrompt(manifest, 'ho')).toMatchObject({ reason_code: 'PROMPT_NOT_LISTED' });
    expect(enforceResource(manifest, 'file:///docs/a..b/c.md').kind).toBe('pass');
    for (const uri of [
      'file:///etc/passwd',
      'file:///docs/../etc',
      'file:///docs/%2e%2e/etc',
      'file:///docs/%252e%252E%252fetc',
      'file:///docs/a\\..\\b',
    ]) {
      expect(enforceResource(manifest, uri)).toMatchObject({ reason_code: 'RESOURCE_NOT_LISTED' });
    }
  });

  it('are held to a size, which a tool may have for itself', async () => {
    const manifest = await manifestOf(
      'server: s\nanswers: { max_size_bytes: 1000, on_excess: truncate }\nallowed_tools: [{ name: big, max_answer_bytes: 5000 }]',
    );
    expect(answerLimit(manifest, 'small')).toEqual({ bytesMax: 1_000, onExcess: 'truncate' });
    expect(answerLimit(manifest, 'big')).toEqual({ bytesMax: 5_000, onExcess: 'truncate' });
  });
});
