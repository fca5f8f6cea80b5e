// A request that the hub can answer only when it has the policy: given when the hub asks for it.
import {
  type EvaluateResponse,
  type Parsed,
  parseEvaluateResponse,
  parsePolicyResponse,
  type SnapshotFile,
} from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import type { Connection, HubRead } from './connection.ts';
import { REASON_LENGTH_MAX } from './open-socket.ts';
import { unread } from './unread.ts';

interface PolicyRequest<T> {
  readonly to: 'evaluate' | 'observe' | 'lease';
  readonly body: string;
  readonly parse: (value: unknown) => Parsed<T>;
  readonly untilMs: number;
  /** How much longer it may take when the policy must be sent first. */
  readonly policyMs: number;
  readonly snapshotFile: () => SnapshotFile;
  readonly late?: (body: unknown) => void;
}

/** Sends a request, and once more after giving the hub the policy when it lacks it. */
export async function sendWithPolicy<T extends { readonly needs_policy?: boolean }>(
  connection: Connection,
  { policyMs, snapshotFile, ...message }: PolicyRequest<T>,
): Promise<HubRead<T>> {
  const first = await connection.send(message);
  if (!first.ok || first.value.needs_policy !== true) return first;
  const untilMs = performance.now() + policyMs;
  const body = JSON.stringify(snapshotFile());
  const sent = await connection.send({ to: 'policy', body, untilMs, parse: parsePolicyResponse });
  if (!sent.ok) return sent;
  if (!sent.value.accepted) {
    const why = visible(sent.value.reason ?? 'no reason given', REASON_LENGTH_MAX);
    return unread(`the hub does not take the policy: ${why}`);
  }
  const second = await connection.send({ ...message, untilMs });
  const isLacking = second.ok && second.value.needs_policy === true;
  return isLacking ? unread('the hub does not keep the policy') : second;
}

/** An answer that contradicts itself is none: what passes was allowed, and what was allowed passes. */
export function parseEvaluated(value: unknown): Parsed<EvaluateResponse> {
  const parsed = parseEvaluateResponse(value);
  if (!parsed.ok) return parsed;
  const { decision, call_decision, needs_policy } = parsed.value;
  const isConsistent =
    needs_policy === true
      ? decision === 'deny'
      : call_decision !== undefined &&
        (decision === 'forward') === (call_decision.action === 'ALLOW');
  return isConsistent ? parsed : { ok: false, mismatches: [] };
}
