// The gates beside the rules, put together: what a server may show, and what content may travel.
import { fullContent, type JsonObject } from '@subluminal/contracts';
import type { Envelope, GateVerdict, GuardedCall, Passage } from '../session/guard.ts';
import { closedCircuit } from '../surface/circuit-breaker.ts';
import { carrySurfaceState } from '../surface/index.ts';
import { visible } from '../text/visible.ts';
import { breakerEnded } from './connection.ts';
import { aroundPassage, outboundCall } from './content.ts';
import type { LeakFinder } from './leak-finder.ts';
import { leaksIn, leaksInNumbers } from './leaks.ts';
import { type Memory, newMemory } from './memory.ts';
import { passageOf } from './messages.ts';
import type { GuardOptions, ServerGuard } from './options.ts';
import { oversizedPassage } from './oversized-messages.ts';
import { newPins, renewPins } from './pinned.ts';
import { selfStopByTexts } from './self-protection.ts';
import { isLimitedAtHub, limitsFor, surfacePassed, surfaceStops } from './surface.ts';
import { isWanted, wantedBy } from './table.ts';
import { taintPassed, taintStops } from './tainted.ts';
import { clean, noteOf, PASS, type Saying, type Stop, verdictFor } from './verdicts.ts';
import { isWalkable } from './walk.ts';

/** The gates of one server for one session. */
export function createGuard(options: GuardOptions): ServerGuard {
  return guardOf(newMemory(options));
}

function guardOf(memory: Memory): ServerGuard {
  const wanted = wantedBy(memory.options);
  const { leaks, content } = memory.options;
  const isMinded = leaks !== undefined || content !== undefined;
  return {
    ...(isMinded && { around: aroundOf(memory) }),
    ...(memory.options.hubCounts === true && {
      isLimited: (tool: string) => isLimitedAtHub(memory, tool),
      limits: (call: Pick<GuardedCall, 'tool' | 'args'>, nowMs: number) =>
        limitsFor(memory, call, nowMs),
    }),
    surface(call, nowMs) {
      const stops = surfaceStops(memory, call, nowMs);
      if (stops.length === 0) return PASS;
      const { tool } = call;
      return verdictFor({ tool, stops, isApproved: approvedBy(call), saying: sayingOf(memory) });
    },
    content: (call, nowMs) => contentVerdict(memory, call, nowMs),
    ...(memory.options.selfProtection && { gathered: gatheredOf(memory) }),
    passed(call, nowMs) {
      surfacePassed(memory, call, nowMs);
      taintPassed(memory, call);
    },
    ended: (end, nowMs) => breakerEnded(memory, end, nowMs),
    wants: (way, kind, method) => isWanted(wanted, { way, kind, method }),
    passing: (way, message, nowMs) => passageOf(memory, wanted, { way, message, nowMs }),
    unseen: (way, kind, method) => oversizedPassage(memory, wanted, { way, kind, method }),
    notices: () => memory.board.take(),
    pins: () => newPins(memory),
    renewed(options) {
      renew(memory, options);
      return guardOf(memory);
    },
  };
}

function gatheredOf(memory: Memory): NonNullable<ServerGuard['gathered']> {
  return (call, texts) => {
    const stop = selfStopByTexts(memory, call, texts);
    if (stop === undefined) return PASS;
    return verdictFor({
      tool: call.tool,
      stops: [stop],
      isApproved: () => false,
      saying: sayingOf(memory),
    });
  };
}

function sayingOf({ options }: Memory): Saying {
  return { redact: options.redact, asks: options.enforces.asks };
}

function approvedBy(call: GuardedCall): (ruleId: string) => boolean {
  return (ruleId) => call.isApproved(ruleId);
}

function contentVerdict(memory: Memory, call: GuardedCall, nowMs: number): GateVerdict {
  const { content, taint, leaks } = memory.options;
  if (content === undefined && taint === undefined && leaks === undefined) return PASS;
  const saying = sayingOf(memory);
  const isApproved = approvedBy(call);
  const leak = leakStop(memory, call);
  if (leak !== undefined) {
    const note = noteOf([{ action: 'block', findings: leak.findings }], saying);
    return { ...verdictFor({ tool: call.tool, stops: [leak.stop], isApproved, saying }), note };
  }
  const out = outboundCall(memory, call, nowMs);
  const tainted = taintStops(memory, call);
  const note = noteOf([out.note, tainted.note], saying);
  const stops = [...out.stops, ...tainted.stops];
  const verdict = verdictFor({ tool: call.tool, stops, isApproved, saying });
  if (note === undefined && out.args === undefined) return verdict;
  if (verdict.kind === 'stop') return { ...verdict, note };
  return { ...verdict, note, ...(out.args !== undefined && { args: out.args }) };
}

interface Leak {
  readonly stop: Stop;
  readonly findings: readonly string[];
}

/** A secret of the server in a call is not sent, whatever the policy says. */
function leakStop({ options }: Memory, call: GuardedCall): Leak | undefined {
  const { leaks } = options;
  if (leaks === undefined) return undefined;
  const { args, tool, envelope } = call;
  const base = { rule: 'gate:leak', enforced: true, severity: 'critical' } as const;
  const shown = `\`${visible(tool, 120)}\``;
  if (args === undefined || !isWalkable(args) || !isWalkable(envelope?.rest)) {
    const stop: Stop = {
      ...base,
      reason_code: 'ARGS_NOT_INSPECTED',
      summary: `${shown} is blocked: its arguments are too large to be searched for secrets of the server.`,
      advice: 'Send fewer or flatter arguments.',
    };
    return { stop, findings: ['unscanned:too_long'] };
  }
  const rest = envelope?.rest;
  const seen = leaksIn(leaks, [tool, args, envelope?.written ?? '', rest ?? null]);
  const names = seen.length > 0 ? seen : numbersOf(leaks, { call, args, rest });
  if (names.length === 0) return undefined;
  const stop: Stop = {
    ...base,
    reason_code: 'LEAK_BLOCKED',
    summary: `${shown} is blocked: it holds a secret that was entrusted to the server.`,
    advice: 'Leave the secret out; the server has it already and needs it from nobody.',
  };
  return { stop, findings: names.map((name) => `leak:${name}`) };
}

interface Sent {
  readonly call: GuardedCall;
  readonly args: JsonObject;
  readonly rest: JsonObject | undefined;
}

function numbersOf(leaks: LeakFinder, { call, args, rest }: Sent): readonly string[] {
  const own = leaksInNumbers(leaks, {
    value: args,
    get text() {
      return call.argsText;
    },
  });
  return own.length > 0 ? own : numbersAround(leaks, call.envelope, rest);
}

function numbersAround(
  leaks: LeakFinder,
  envelope: Envelope | undefined,
  rest: JsonObject | undefined,
): readonly string[] {
  return leaksInNumbers(leaks, {
    value: rest,
    get text() {
      return envelope?.restText;
    },
  });
}

/** What stands around a message: an injected secret does not pass there, nor what the policy stops. */
function aroundOf(memory: Memory): NonNullable<ServerGuard['around']> {
  return (way, envelope, nowMs) => {
    const { options } = memory;
    const { written, method, rest } = envelope;
    if (options.leaks !== undefined) {
      const isRead = isWalkable(rest);
      const seen = isRead ? leaksIn(options.leaks, [written, rest ?? null]) : ['injected'];
      const names = seen.length > 0 ? seen : numbersAround(options.leaks, envelope, rest);
      if (names.length > 0) return leakedAround(names);
    }
    if (rest === undefined) return SAME;
    const direction = way === 'in' ? 'inbound' : 'outbound';
    const passage = aroundPassage(memory, { direction, place: method, nowMs }, rest);
    const note = noteOf([passage.note], options);
    if (passage.kind !== 'refused') return { ...passage, note };
    return { ...passage, note, summary: clean(passage.summary, options) };
  };
}

const SAME: Passage = { kind: 'same' };

function leakedAround(names: readonly string[]): Passage {
  return {
    kind: 'refused',
    reason_code: 'LEAK_BLOCKED',
    summary:
      'A message is held back: around what it is about, it holds a secret that was entrusted to the server.',
    hint: 'Go on without it, and do not try to send or read the secret.',
    note: { action: 'block', findings: names.map((name) => `leak:${name}`) },
  };
}

/** Other options for the same session. */
function renew(memory: Memory, options: GuardOptions): void {
  const { manifest, content, taint } = options;
  renewPins(memory, options);
  if (manifest !== undefined) memory.counters = carrySurfaceState(memory.counters, manifest);
  if (memory.options.manifest === undefined) memory.circuit = closedCircuit(options.seed ?? 1);
  if (content === undefined) {
    memory.bad.clear();
    memory.areInstructionsBad = false;
  }
  memory.content = content === undefined ? undefined : fullContent(content);
  const trustedClears = taint?.trustedClears ?? memory.taint.trustedClears;
  memory.taint = { ...memory.taint, trustedClears };
  memory.options = options;
}
