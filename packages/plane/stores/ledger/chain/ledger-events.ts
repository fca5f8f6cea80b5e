// What the ledger itself has to say, as events in its own chain. Nobody else may use its name.
import { isObject } from '@subluminal/contracts';

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
  /** Whoever asked for it; records of before say nothing of it, nor of the runs. */
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

/** Events that a crash left without a head, found and signed by the next writer. */
interface RecoveryRecord {
  readonly from_seq: number;
  readonly to_seq: number;
}

/** The ledger went on although it did not follow from what was signed. */
interface RollbackRecord {
  readonly lost_head: unknown;
  readonly found_seq: number;
  readonly reason: string;
}

/** `ledger.head` was not put there by a version that seals it. */
interface UnsealedRecord {
  readonly head_n: number;
}

/** Lines that came under numbers that other lines had. */
interface ConflictRecord {
  readonly lines: number;
  /** The first of them. */
  readonly producer: string;
  readonly producer_seq: number;
}

export type OwnRecord =
  | { readonly type: 'ledger_policy'; readonly policy: PolicyRecord }
  | { readonly type: 'ledger_prune'; readonly prune: PruneRecord }
  | { readonly type: 'ledger_conflict'; readonly conflict: ConflictRecord }
  | { readonly type: 'ledger_recovered'; readonly recovered: RecoveryRecord }
  | { readonly type: 'ledger_rollback'; readonly rollback: RollbackRecord }
  | { readonly type: 'ledger_unsealed'; readonly unsealed: UnsealedRecord };

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

/** How many lines it tells of; at least the one that it was written for. */
export function readConflict(line: string): number {
  const lines = readBody(line, 'ledger_conflict', 'conflict')?.['lines'];
  return Number.isSafeInteger(lines) ? Math.max(1, Number(lines)) : 1;
}

/** Why the ledger should not have gone on; empty in records of before. */
export function readRollback(line: string): string {
  const reason = readBody(line, 'ledger_rollback', 'rollback')?.['reason'];
  return typeof reason === 'string' ? reason : '';
}

function readBody(line: string, type: string, field: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    const body = isObject(value) && value['type'] === type ? value[field] : undefined;
    return isObject(body) ? body : undefined;
  } catch {
    return undefined;
  }
}
