// Puts together the gates beside the rules: the surface of a server, and the content that may travel.
import { fullContent } from '@subluminal/contracts';
import type { GateVerdict, GuardedCall, SurfaceNotice } from '../session/guard.ts';
import { closedCircuit } from '../surface/circuit-breaker.ts';
import { carrySurfaceState } from '../surface/index.ts';
import { aroundPassage, outboundCall } from './content.ts';
import { type Memory, newMemory } from './guard-memory.ts';
import type { GuardOptions, ServerGuard } from './guard-options.ts';
import { leakAround, leakStop } from './leaks.ts';
import { passageOf } from './messages.ts';
import { oversizedPassage } from './oversized-messages.ts';
import { newPins, renewPins } from './pinned.ts';
import { selfStopByTexts } from './self-protection.ts';
import { breakerEnded, isLimitedAtHub, limitsFor, surfacePassed, surfaceStops } from './surface.ts';
import { seenMessages } from './table.ts';
import { taintPassed, taintStops } from './tainted.ts';
import { clean, mergedNote, PASS, SAME, verdictFor } from './verdicts.ts';

/** The gates of one server for one session. */
export function createGuard(options: GuardOptions): ServerGuard {
  return guardOf(newMemory(options));
}

function guardOf(memory: Memory): ServerGuard {
  const { options } = memory;
  const seen = seenMessages(options);
  const hasAround = options.leaks !== undefined || options.content !== undefined;
  return {
    ...(hasAround && { around: aroundOf(memory) }),
    ...(options.hubCounts === true && {
      isLimited: (tool: string) => isLimitedAtHub(memory, tool),
      limits: (call: Pick<GuardedCall, 'tool' | 'args'>, nowMs: number) =>
        limitsFor(memory, call, nowMs),
    }),
    manifestHash: options.manifest?.manifest_hash,
    surface(call, nowMs) {
      const stops = surfaceStops(memory, call, nowMs);
      return stops.length === 0 ? PASS : verdictFor(memory.options, call, stops);
    },
    content: (call, nowMs) => contentVerdict(memory, call, nowMs),
    ...(options.selfProtection && {
      gathered(call, texts) {
        const stop = selfStopByTexts(memory.options, call, texts);
        return verdictFor(memory.options, call, stop === undefined ? [] : [stop]);
      },
    }),
    passed(call, nowMs) {
      surfacePassed(memory, call, nowMs);
      if (memory.options.taint !== undefined) taintPassed(memory, call);
    },
    ended: (end, nowMs) => breakerEnded(memory, end, nowMs),
    wants: (way, kind, method) => seen[way][kind](method),
    passing: (way, message, nowMs) => passageOf(memory, seen, { way, message, nowMs }),
    unseen: (way, kind, method) => oversizedPassage(memory, seen, { way, kind, method }),
    notices: () => takeNotices(memory),
    // Called after each message: most change nothing.
    pins: () => (memory.review === memory.savedReview ? undefined : newPins(memory)),
    renewed(changed) {
      renew(memory, changed);
      return guardOf(memory);
    },
  };
}

function contentVerdict(memory: Memory, call: GuardedCall, nowMs: number): GateVerdict {
  const { options } = memory;
  const { content, taint, leaks } = options;
  if (content === undefined && taint === undefined && leaks === undefined) return PASS;
  const leak = leaks && leakStop(leaks, call);
  if (leak !== undefined) {
    const note = mergedNote([{ action: 'block', findings: leak.findings }], options);
    return { ...verdictFor(options, call, [leak.stop]), note };
  }
  const out = outboundCall(memory, call, nowMs);
  const tainted = taintStops(memory, call);
  const note = mergedNote([out.note, tainted.note], options);
  const verdict = verdictFor(options, call, [...out.stops, ...tainted.stops]);
  if (note === undefined && out.args === undefined) return verdict;
  if (verdict.kind === 'stop') return { ...verdict, note };
  return { ...verdict, note, ...(out.args !== undefined && { args: out.args }) };
}

/** Judges everything around the value of a message: injected secrets, and content that the policy stops. */
function aroundOf(memory: Memory): NonNullable<ServerGuard['around']> {
  return (way, envelope, nowMs) => {
    const { options } = memory;
    const { method, rest } = envelope;
    const leaked = options.leaks && leakAround(options.leaks, envelope);
    if (leaked !== undefined) return leaked;
    if (rest === undefined) return SAME;
    const direction = way === 'in' ? 'inbound' : 'outbound';
    const passage = aroundPassage(memory, { direction, place: method, nowMs, value: rest });
    const note = mergedNote([passage.note], options);
    if (passage.kind !== 'refused') return { ...passage, note };
    return { ...passage, note, summary: clean(passage.summary, options) };
  };
}

const NO_NOTICES: readonly SurfaceNotice[] = [];

function takeNotices(memory: Memory): readonly SurfaceNotice[] {
  const { notices } = memory;
  if (notices.length === 0) return NO_NOTICES;
  memory.notices = [];
  return notices;
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
