import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import {
  type ConnectionEvent,
  type ConnectionState,
  moveConnection,
  registered,
  routeCall,
} from './breaker.ts';
import type { BreakerSettings } from './manifest/types.ts';

const SETTINGS: BreakerSettings = {
  errorThreshold: 5,
  errorWindowMs: 60_000,
  latencyThresholdMs: 30_000,
  recoveryTimeoutMs: 120_000,
  recoveryProbes: 3,
  maxRecoveryBackoffMs: 900_000,
};
const FAILED = { kind: 'call_ended', ok: false, latencyMs: 5 } as const;
const DONE = { kind: 'call_ended', ok: true, latencyMs: 5 } as const;
const HEALTHY = { kind: 'probe_ended', ok: true, latencyMs: 5 } as const;
const SICK = { kind: 'probe_ended', ok: false, latencyMs: 5 } as const;

type Timed = readonly [nowMs: number, event: ConnectionEvent];

/** Sends events one after the other; tells the last state, and the wishes of the last one. */
function play(start: ConnectionState, script: readonly Timed[]) {
  let state = start;
  let wishes: readonly { readonly kind: string }[] = [];
  for (const [nowMs, event] of script) {
    ({ state, wishes } = moveConnection(state, event, { settings: SETTINGS, nowMs }));
  }
  return { state, wishes: wishes.map(({ kind }) => kind) };
}

const ACTIVE = play(registered(1), [
  [0, { kind: 'connect' }],
  [0, { kind: 'connected' }],
  [0, { kind: 'introspected', missing: [], extra: [] }],
]).state;
const TRIPPED = play(
  ACTIVE,
  Array.from({ length: 5 }, (): Timed => [0, FAILED]),
);

describe('a connection', () => {
  it('goes from registered to active, and tells what differs from the manifest', () => {
    verifies('ST-8.11');
    const connecting = play(registered(1), [[0, { kind: 'connect' }]]);
    expect(connecting).toMatchObject({ state: { phase: 'connecting' }, wishes: ['connect'] });
    const introspecting = play(connecting.state, [[0, { kind: 'connected' }]]);
    expect(introspecting).toMatchObject({
      state: { phase: 'introspecting' },
      wishes: ['introspect'],
    });
    expect(routeCall(introspecting.state, 0).kind).toBe('refuse');
    const event = { kind: 'introspected', missing: ['a'], extra: ['b'] } as const;
    const moved = moveConnection(introspecting.state, event, { settings: SETTINGS, nowMs: 0 });
    expect(moved.state.phase).toBe('active');
    expect(moved.wishes).toEqual([
      { kind: 'warn_unlisted', tools: ['b'] },
      { kind: 'mark_unavailable', tools: ['a'] },
    ]);
    expect(routeCall(moved.state, 0)).toEqual({ kind: 'route' });
  });

  it('breaks after so many errors in a row, and calls get a clean answer', () => {
    verifies('ST-8.11');
    expect(
      play(
        ACTIVE,
        Array.from({ length: 4 }, (): Timed => [0, FAILED]),
      ).state.phase,
    ).toBe('active');
    expect(TRIPPED.state.phase).toBe('circuit_broken');
    expect(TRIPPED.wishes).toEqual(['fail_pending', 'tell_agent', 'tell_user', 'wake']);
    expect(routeCall(TRIPPED.state, 0)).toMatchObject({
      kind: 'refuse',
      reason_code: 'SERVER_UNAVAILABLE',
    });
  });

  it('counts slow answers as errors, forgets errors after a success and after the window', () => {
    verifies('ST-8.11');
    const slow = { kind: 'call_ended', ok: true, latencyMs: 30_001 } as const;
    expect(
      play(
        ACTIVE,
        Array.from({ length: 5 }, (): Timed => [0, slow]),
      ).state.phase,
    ).toBe('circuit_broken');
    const four = Array.from({ length: 4 }, (): Timed => [0, FAILED]);
    expect(play(ACTIVE, [...four, [1, DONE], [2, FAILED]]).state.phase).toBe('active');
    expect(play(ACTIVE, [...four, [59_999, FAILED]]).state.phase).toBe('circuit_broken');
    expect(play(ACTIVE, [...four, [60_000, FAILED]]).state.phase).toBe('active');
  });

  it('comes back after enough healthy probes, and is looked at anew', () => {
    verifies('ST-8.11');
    const dueMs = TRIPPED.state.recovery?.probeAtMs ?? 0;
    expect(dueMs).toBeGreaterThanOrEqual(120_000);
    expect(play(TRIPPED.state, [[dueMs - 1, { kind: 'tick' }]]).wishes).toEqual([]);
    const probing = play(TRIPPED.state, [[dueMs, { kind: 'tick' }]]);
    expect(probing.wishes).toEqual(['probe']);
    expect(play(probing.state, [[dueMs, { kind: 'tick' }]]).wishes).toEqual([]);
    const twice = play(probing.state, [
      [dueMs, HEALTHY],
      [dueMs, HEALTHY],
    ]);
    expect(twice).toMatchObject({ state: { phase: 'circuit_broken' }, wishes: ['probe'] });
    const back = play(twice.state, [[dueMs, HEALTHY]]);
    expect(back).toMatchObject({
      state: { phase: 'introspecting' },
      wishes: ['introspect', 'tell_agent', 'tell_user'],
    });
  });

  it('waits twice as long after each failed probe, up to the maximum', () => {
    verifies('ST-8.11');
    let { state } = TRIPPED;
    const waitsMs: number[] = [];
    for (let attempt = 0; attempt < 8; attempt++) {
      const nowMs = state.recovery?.probeAtMs ?? 0;
      const failed = play(state, [
        [nowMs, { kind: 'tick' }],
        [nowMs, SICK],
      ]);
      ({ state } = failed);
      waitsMs.push((state.recovery?.probeAtMs ?? 0) - nowMs);
    }
    for (const [attempt, waitMs] of waitsMs.entries()) {
      const wantedMs = Math.min(120_000 * 2 ** (attempt + 1), 720_000);
      expect(waitMs).toBeGreaterThanOrEqual(wantedMs);
      expect(waitMs).toBeLessThanOrEqual(Math.min(wantedMs * 1.25, 900_000));
    }
    expect(new Set(waitsMs.slice(-3)).size).toBe(3);
  });

  it('ends for good when it is revoked or cannot work', () => {
    verifies('ST-8.11');
    const ended = play(ACTIVE, [[0, { kind: 'disconnect' }]]);
    expect(ended).toMatchObject({
      state: { phase: 'disconnected' },
      wishes: ['fail_pending', 'close'],
    });
    expect(
      play(ended.state, [
        [0, FAILED],
        [0, { kind: 'tick' }],
        [0, HEALTHY],
      ]).state,
    ).toEqual(ended.state);
    expect(routeCall(ended.state, 0)).toMatchObject({ kind: 'refuse', retryAfterMs: undefined });
    const failed = play(registered(1), [
      [0, { kind: 'connect' }],
      [0, { kind: 'connect_failed', isFinal: true }],
    ]);
    expect(failed.state.phase).toBe('disconnected');
  });

  it('never routes a call except while it is active, and never wakes in the past', () => {
    const event = fc.oneof(
      fc.constantFrom<ConnectionEvent>(
        { kind: 'connect' },
        { kind: 'connected' },
        { kind: 'connect_failed' },
        { kind: 'introspected', missing: [], extra: [] },
        { kind: 'lost' },
        { kind: 'tick' },
        { kind: 'disconnect' },
      ),
      fc.record({
        kind: fc.constantFrom('call_ended', 'probe_ended'),
        ok: fc.boolean(),
        latencyMs: fc.nat(60_000),
      }),
    );
    fc.assert(
      fc.property(
        fc.integer(),
        fc.array(fc.tuple(fc.nat(200_000), event), { maxLength: 60 }),
        (seed, script) => {
          let state = registered(seed);
          let nowMs = 0;
          for (const [stepMs, happened] of script) {
            nowMs += stepMs;
            const moved = moveConnection(state, happened, { settings: SETTINGS, nowMs });
            ({ state } = moved);
            const wakesMs = moved.wishes.map((wish) =>
              wish.kind === 'wake' ? wish.atMs - nowMs : 1,
            );
            expect(wakesMs.every((waitMs) => waitMs > 0)).toBe(true);
            expect(routeCall(state, nowMs).kind === 'route').toBe(state.phase === 'active');
            expect(state.recovery === undefined).toBe(state.phase !== 'circuit_broken');
            expect(state.errorsAtMs.length).toBeLessThan(SETTINGS.errorThreshold);
          }
        },
      ),
    );
  });
});
