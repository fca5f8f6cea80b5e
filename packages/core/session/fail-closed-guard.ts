// A guard that looks at hostile content and breaks on it must not take the session down, nor let
// pass what it has not judged.
import type { Decision } from '@subluminal/contracts';
import type {
  CallEnd,
  Envelope,
  GateVerdict,
  GatheredTexts,
  Guard,
  GuardedCall,
  Passage,
  Passing,
  SurfaceNotice,
  Way,
} from './guard.ts';

const WHY = { rule_id: null, reason_code: 'POLICY_ERROR' } as const;
const SUMMARY = 'A gate could not look at this, so it does not pass.';
const STOP: Decision = { action: 'BLOCK', severity: 'critical', ...WHY, summary: SUMMARY };
const BROKEN: GateVerdict = { kind: 'stop', decision: STOP };
const SPARED: GateVerdict = {
  kind: 'pass',
  would: { action: 'BLOCK', ...WHY, summary: SUMMARY },
};
const REFUSED: Passage = { kind: 'refused', reason_code: WHY.reason_code, summary: SUMMARY };
const SAME: Passage = { kind: 'same' };

class SoundGuard implements Guard {
  private readonly guard: Guard;
  private readonly enforcing: boolean;
  readonly around?: NonNullable<Guard['around']>;
  readonly isLimited?: NonNullable<Guard['isLimited']>;
  readonly limits?: NonNullable<Guard['limits']>;
  readonly gathered?: NonNullable<Guard['gathered']>;

  constructor(guard: Guard, enforcing: boolean) {
    this.guard = guard;
    this.enforcing = enforcing;
    if (guard.isLimited !== undefined) {
      this.isLimited = (tool) => tried(() => guard.isLimited?.(tool) ?? false, true);
      // What breaks here breaks in `surface` too, which says what becomes of the call.
      this.limits = (call, nowMs) => tried(() => guard.limits?.(call, nowMs) ?? [], []);
    }
    if (guard.gathered !== undefined) {
      this.gathered = (call: GuardedCall, texts: GatheredTexts) => {
        try {
          return guard.gathered?.(call, texts) ?? BROKEN;
        } catch {
          return this.unjudged();
        }
      };
    }
    if (guard.around === undefined) return;
    this.around = (way: Way, envelope: Envelope, nowMs: number) => {
      try {
        return guard.around?.(way, envelope, nowMs) ?? SAME;
      } catch {
        return this.broken();
      }
    };
  }

  surface(call: GuardedCall, nowMs: number): GateVerdict {
    try {
      return this.guard.surface(call, nowMs);
    } catch {
      return this.unjudged();
    }
  }

  content(call: GuardedCall, nowMs: number): GateVerdict {
    try {
      return this.guard.content(call, nowMs);
    } catch {
      return this.unjudged();
    }
  }

  passed(call: GuardedCall, nowMs: number): void {
    this.guard.passed(call, nowMs);
  }

  ended(end: CallEnd, nowMs: number): void {
    this.guard.ended(end, nowMs);
  }

  wants(way: Way, kind: Passing['kind'], method: string): boolean {
    return this.guard.wants(way, kind, method);
  }

  passing(way: Way, message: Passing, nowMs: number): Passage {
    try {
      return this.guard.passing(way, message, nowMs);
    } catch {
      return this.broken();
    }
  }

  unseen(way: Way, kind: Passing['kind'], method: string): Passage {
    try {
      return this.guard.unseen(way, kind, method);
    } catch {
      return this.broken();
    }
  }

  notices(): readonly SurfaceNotice[] {
    return this.guard.notices();
  }

  private unjudged(): GateVerdict {
    return this.enforcing ? BROKEN : SPARED;
  }

  private broken(): Passage {
    return this.enforcing ? REFUSED : SAME;
  }
}

function tried<T>(act: () => T, otherwise: T): T {
  try {
    return act();
  } catch {
    return otherwise;
  }
}

export function failClosedGuard(guard: Guard | undefined, enforcing: boolean): Guard | undefined {
  return guard === undefined ? undefined : new SoundGuard(guard, enforcing);
}
