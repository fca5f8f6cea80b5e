// What the ledger records about itself, as events in its own chain. Nobody else may use its name.
import { isObject } from '@subluminal/contracts';
import { parseJson } from '../../../os/index.ts';

export const OWN_PRODUCER = 'subluminal.ledger';

export interface PolicyRecord {
  readonly policy_id: string;
  readonly version: string;
  readonly rules_hash: string;
  readonly mode: string | null;
  readonly rules_json: string | null;
  readonly created_at_ms: number;
}

/** After each prune: everything that is pruned by now, as one hash. */
export interface PruneRecord {
  readonly reason: string;
  /** Absent, like `runs`, in records of earlier versions. */
  readonly by?: 'retention' | 'request';
  readonly runs?: number;
  /** How many events this prune changed. */
  readonly events: number;
  /** How many are pruned in all, and the hash of what is left of them. */
  readonly count: number;
  readonly hash: string;
  /** The running hash after some of them, as [seq, hash], to find the place of a change. */
  readonly marks: readonly (readonly [seq: number, hash: string])[];
}

export type OwnRecord =
  | { readonly type: 'ledger_policy'; readonly policy: PolicyRecord }
  | { readonly type: 'ledger_prune'; readonly prune: PruneRecord }
  /** Lines that came under numbers that other lines had; the first of them is named. */
  | {
      readonly type: 'ledger_conflict';
      readonly conflict: { lines: number; producer: string; producer_seq: number };
    }
  /** Events that a crash left without a head, found and signed by the next writer. */
  | { readonly type: 'ledger_recovered'; readonly recovered: { from_seq: number; to_seq: number } }
  /** The ledger went on although it did not follow from what was signed. */
  | {
      readonly type: 'ledger_rollback';
      readonly rollback: { lost_head: unknown; found_seq: number; reason: string };
    }
  /** `ledger.head` was not put there by a version that seals it. */
  | { readonly type: 'ledger_unsealed'; readonly unsealed: { head_n: number } };

export function ownLine(record: OwnRecord, nowMs: number): string {
  const { type, ...body } = record;
  return JSON.stringify({ v: '0.2.0', type, ts: new Date(nowMs).toISOString(), ...body });
}

/** Undefined for a line that the ledger would not have written. */
export function readPrune(line: string): PruneRecord | undefined {
  const prune = readBody(line, 'ledger_prune', 'prune');
  if (prune === undefined) return undefined;
  const { reason, events, count, hash, marks } = prune;
  if (typeof reason !== 'string' || typeof hash !== 'string') return undefined;
  if (!Number.isSafeInteger(events) || !Number.isSafeInteger(count)) return undefined;
  if (!Array.isArray(marks) || !marks.every(isMark)) return undefined;
  const { by, runs } = prune;
  return {
    reason,
    ...((by === 'retention' || by === 'request') && { by }),
    ...(Number.isSafeInteger(runs) && { runs: Number(runs) }),
    events: Number(events),
    count: Number(count),
    hash,
    marks,
  };
}

function isMark(value: unknown): value is readonly [number, string] {
  return Array.isArray(value) && Number.isSafeInteger(value[0]) && typeof value[1] === 'string';
}

export function readPolicy(line: string): PolicyRecord | undefined {
  const policy = readBody(line, 'ledger_policy', 'policy');
  if (policy === undefined) return undefined;
  const { policy_id, version, rules_hash, mode, rules_json, created_at_ms } = policy;
  if (typeof policy_id !== 'string' || typeof version !== 'string') return undefined;
  if (typeof rules_hash !== 'string' || !Number.isSafeInteger(created_at_ms)) return undefined;
  return {
    policy_id,
    version,
    rules_hash,
    mode: typeof mode === 'string' ? mode : null,
    rules_json: typeof rules_json === 'string' ? rules_json : null,
    created_at_ms: Number(created_at_ms),
  };
}

export function readRecovery(
  line: string,
): { readonly fromSeq: number; readonly toSeq: number } | undefined {
  const { from_seq, to_seq } = readBody(line, 'ledger_recovered', 'recovered') ?? {};
  if (!Number.isSafeInteger(from_seq) || !Number.isSafeInteger(to_seq)) return undefined;
  return { fromSeq: Number(from_seq), toSeq: Number(to_seq) };
}

/** How many lines it counts; at least the one that it was written for. */
export function readConflict(line: string): number {
  const lines = readBody(line, 'ledger_conflict', 'conflict')?.['lines'];
  return Number.isSafeInteger(lines) ? Math.max(1, Number(lines)) : 1;
}

/** Why the ledger should not have gone on; empty in records of earlier versions. */
export function readRollback(line: string): string {
  const reason = readBody(line, 'ledger_rollback', 'rollback')?.['reason'];
  return typeof reason === 'string' ? reason : '';
}

function readBody(line: string, type: string, field: string): Record<string, unknown> | undefined {
  const value = parseJson(line);
  const body = isObject(value) && value['type'] === type ? value[field] : undefined;
  return isObject(body) ? body : undefined;
}
