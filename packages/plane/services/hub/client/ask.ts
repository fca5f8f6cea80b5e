// Asking the hub for one call, and giving it the policy when it has not got it.
import {
  type EvaluateRequest,
  type EvaluateResponse,
  parseEvaluateResponse,
  parsePolicyResponse,
  type SnapshotFile,
} from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import { type Line, REASON_LENGTH_MAX } from './line.ts';
import type { Evaluated } from './types.ts';

interface HubQuery {
  readonly request: EvaluateRequest;
  readonly snapshotFile: () => SnapshotFile;
  /** When it is too late. */
  readonly untilMs: number;
  /** How much longer it may take when the policy must be sent first. */
  readonly policyMs: number;
}

export async function ask(line: Line, asked: HubQuery): Promise<Evaluated> {
  const body = JSON.stringify(asked.request);
  const first = await askOnce(line, body, asked.untilMs);
  if (first.kind === 'unavailable' || first.response.needs_policy !== true) return first;
  const untilMs = performance.now() + asked.policyMs;
  const problem = await sendPolicy(line, asked.snapshotFile(), untilMs);
  if (problem !== undefined) return unavailable(problem);
  const second = await askOnce(line, body, untilMs);
  if (second.kind === 'unavailable' || second.response.needs_policy !== true) return second;
  return unavailable('the hub does not keep the policy');
}

async function askOnce(line: Line, body: string, untilMs: number): Promise<Evaluated> {
  const read = await line.send({ to: 'evaluate', body, untilMs, parse: parseEvaluateResponse });
  if (!read.ok) return unavailable(read.reason);
  if (isSound(read.value)) return { kind: 'answer', response: read.value };
  return unavailable('the answer of the hub contradicts itself');
}

export async function sendPolicy(
  line: Line,
  file: SnapshotFile,
  untilMs: number,
): Promise<string | undefined> {
  const body = JSON.stringify(file);
  const read = await line.send({ to: 'policy', body, untilMs, parse: parsePolicyResponse });
  if (!read.ok) return read.reason;
  if (read.value.accepted) return undefined;
  const why = visible(read.value.reason ?? 'no reason given', REASON_LENGTH_MAX);
  return `the hub does not take the policy: ${why}`;
}

/** What passes must have been allowed, and what was allowed must pass. */
function isSound({ decision, call_decision, needs_policy }: EvaluateResponse): boolean {
  if (needs_policy === true) return decision === 'deny';
  if (call_decision === undefined) return false;
  return (decision === 'forward') === (call_decision.action === 'ALLOW');
}

export function unavailable(reason: string): Evaluated {
  return { kind: 'unavailable', reason };
}
