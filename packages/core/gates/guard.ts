// The gates beside the rules, put together: what a server may show, and what content may travel.
import { fullContent } from '@subluminal/contracts';
import { visible } from '../policy/visible.ts';
import type { GateVerdict, GuardedCall } from '../session/guard.ts';
import { carrySurfaceState } from '../surface/index.ts';
import { breakerEnded } from './connection.ts';
import { outboundCall } from './content.ts';
import { leaksIn } from './leaks.ts';
import { connected, type Memory, newMemory } from './memory.ts';
import { passageOf } from './messages.ts';
import type { GuardOptions, ServerGuard } from './options.ts';
import { newPins, renewPins } from './pinned.ts';
import { noteOf, PASS, type Saying, type Stop, verdictOf } from './say.ts';
import { surfacePassed, surfaceStops } from './surface.ts';
import { isWanted, wantedBy } from './table.ts';
import { taintPassed, taintStops } from './tainted.ts';
import { unseenPassage } from './unseen.ts';
import { isWalkable } from './walk.ts';

/** The gates of one server for one session. */
function createGuard(options: GuardOptions): ServerGuard {
  return guardOf(newMemory(options));
}

function guardOf(memory: Memory): ServerGuard {
  const wanted = wantedBy(memory.options);
  return {
    surface(call, nowMs) {
      const stops = surfaceStops(memory, call, nowMs);
      if (stops.length === 0) return PASS;
      return verdictOf({ stops, isApproved: approvedBy(call), saying: sayingOf(memory) });
    },
    content: (call, nowMs) => contentVerdict(memory, call, nowMs),
    passed(call, nowMs) {
      surfacePassed(memory, call, nowMs);
      taintPassed(memory, call);
    },
    ended: (end, nowMs) => breakerEnded(memory, end, nowMs),
    wants: (way, kind, method) => isWanted(wanted, { way, kind, method }),
    passing: (way, message, nowMs) => passageOf(memory, wanted, { way, message, nowMs }),
    unseen: (way, kind, method) => unseenPassage(memory, wanted, { way, kind, method }),
    notices: () => memory.board.take(),
    pins: () => newPins(memory),
    renewed(options) {
      renew(memory, options);
      return guardOf(memory);
    },
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
    return { ...verdictOf({ stops: [leak.stop], isApproved, saying }), note };
  }
  const out = outboundCall(memory, call, nowMs);
  const tainted = taintStops(memory, call);
  const note = noteOf([out.note, tainted.note], saying);
  const verdict = verdictOf({ stops: [...out.stops, ...tainted.stops], isApproved, saying });
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
  const { args, tool } = call;
  const base = { rule: 'gate:leak', enforced: true, severity: 'critical' } as const;
  const shown = `\`${visible(tool, 120)}\``;
  if (args === undefined || !isWalkable(args)) {
    const stop: Stop = {
      ...base,
      reason_code: 'ARGS_NOT_INSPECTED',
      summary: `${shown} is blocked: its arguments are too large to be searched for secrets of the server.`,
      advice: 'Send fewer or flatter arguments.',
    };
    return { stop, findings: ['unscanned:too_long'] };
  }
  const names = leaksIn(leaks, [tool, args]);
  if (names.length === 0) return undefined;
  const stop: Stop = {
    ...base,
    reason_code: 'LEAK_BLOCKED',
    summary: `${shown} is blocked: its arguments hold a secret that was entrusted to the server.`,
    advice: 'Leave the secret out; the server has it already and needs it from nobody.',
  };
  return { stop, findings: names.map((name) => `leak:${name}`) };
}

/** Other options for the same session. */
function renew(memory: Memory, options: GuardOptions): void {
  const { manifest, content, taint } = options;
  renewPins(memory, options);
  if (manifest !== undefined) memory.counters = carrySurfaceState(memory.counters, manifest);
  if (memory.options.manifest === undefined) memory.connection = connected(options);
  if (content === undefined) {
    memory.bad.clear();
    memory.areInstructionsBad = false;
  }
  memory.content = content === undefined ? undefined : fullContent(content);
  const trustedClears = taint?.trustedClears ?? memory.taint.trustedClears;
  memory.taint = { ...memory.taint, trustedClears };
  memory.options = options;
}

export { createGuard };
