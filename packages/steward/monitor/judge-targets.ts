// Whom Steward has reached, and whether that is new. Pure; what is known is bounded, the oldest is forgotten first.
import { visible } from '@subluminal/core/visible';
import type { Recipient } from '../egress/index.ts';
import type { Anomaly, MonitorSettings } from './judge-events.ts';

const KNOWN_MAX = 2_000;
const SHOWN_LENGTH_MAX = 80;

export interface ReachedTargets {
  readonly odd: readonly Anomaly[];
  /** What is known from now on. */
  readonly known: readonly string[];
}

/** The very first of a kind tells nothing: everything is new then. */
export function judgeTargets(
  known: readonly string[],
  reached: readonly Recipient[],
  settings: MonitorSettings,
): ReachedTargets {
  const seen = new Set(known);
  const odd: Anomaly[] = [];
  for (const { kind, value } of reached) {
    const group = kind === 'host' ? 'host' : 'recipient';
    const key = `${group}:${value}`;
    if (seen.has(key)) continue;
    const isFirst = ![...seen].some((one) => one.startsWith(`${group}:`));
    seen.add(key);
    const isTold = group === 'host' ? settings.new_hosts : settings.new_recipients;
    if (isFirst || !isTold) continue;
    const target = visible(value, SHOWN_LENGTH_MAX);
    odd.push({
      cause: `new_${group}`,
      text: `A ${group} was reached for the first time: ${target}`,
    });
  }
  return { odd, known: [...seen].slice(-KNOWN_MAX) };
}
