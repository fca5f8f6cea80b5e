// Approvals of turns: asked for, and used again by a client that was told instead of held. An approval counts once,
// for the same request of the same key, and for what the person was asked.
import { createHash } from 'node:crypto';
import { isObject, type JsonObject, type JsonValue } from '@subluminal/contracts';
import type { GatewayConfig } from '../config/index.ts';
import type { AuditRow, BudgetLimit, TurnApprovalRow, TurnApprovalStore } from '../store/types.ts';
import type { TurnRequest } from '../turns/types.ts';
import type { HeldAnswer } from './held-turns.ts';
import { auditRow, type TurnFacts } from './turn-records.ts';

/** What a person is asked about: a rule of the policy, or a limit that the turn is beyond. */
export type ApprovalScope = 'policy' | BudgetLimit['scope'];

const SCOPES: readonly ApprovalScope[] = ['policy', 'team_month', 'user_day', 'run'];

export interface TurnApprovalsOptions {
  readonly store: TurnApprovalStore;
  readonly write: (audit: AuditRow) => Promise<void>;
  readonly emit: (event: 'approval_pending', data: { readonly [name: string]: JsonValue }) => void;
  readonly nowMs: () => number;
  readonly newId: () => string;
}

export interface ApprovalAsk {
  readonly request: TurnRequest;
  readonly facts: TurnFacts;
  readonly why: string;
  readonly scope: ApprovalScope;
  readonly config: GatewayConfig;
}

export type PresentedApproval =
  | { readonly kind: 'used' }
  | { readonly kind: 'pending' }
  | { readonly kind: 'refused'; readonly why: string };

type ApprovalRefusal =
  | 'unknown'
  | 'other_request'
  | 'other_scope'
  | 'rejected'
  | 'expired'
  | 'used';

const WORDS: { readonly [R in ApprovalRefusal]: string } = {
  unknown: 'is not known to this key',
  other_request: 'was asked for with another request',
  other_scope: 'was asked for with another reason',
  rejected: 'was rejected',
  expired: 'has expired',
  used: 'was used already',
};

/** Those of one turn. */
export class TurnApprovals {
  readonly #options: TurnApprovalsOptions;
  /** What a person was asked about this turn. */
  #covered: ReadonlySet<ApprovalScope> = new Set<ApprovalScope>();

  constructor(options: TurnApprovalsOptions) {
    this.#options = options;
  }

  get isAsked(): boolean {
    return this.#covered.size > 0;
  }

  /** When the answer was yes: the turn may go beyond the limits that were asked about. */
  waive(limits: readonly BudgetLimit[]): readonly BudgetLimit[] {
    return limits.map((limit) =>
      limit.onExceeded === 'require_approval' && this.#covered.has(limit.scope)
        ? { ...limit, onExceeded: 'warn' }
        : limit,
    );
  }

  /** `isTold`: the client does not wait, and sends the request again. */
  async open(
    { request, facts, why, scope, config }: ApprovalAsk,
    isTold: boolean,
  ): Promise<TurnApprovalRow> {
    const { store, write, emit, nowMs, newId } = this.#options;
    const { traceId, caller, repoId } = facts;
    this.#covered = new Set([...this.#covered, scope]);
    const covers = [...this.#covered];
    const id = newId();
    const createdMs = nowMs();
    const audit = auditRow(facts, { eventMs: createdMs, eventType: 'approval_pending' });
    const { decision, requestSummary } = audit;
    const row: TurnApprovalRow = {
      id,
      traceId,
      tenantId: caller.tenantId,
      requestor: caller.userId,
      teamId: caller.teamId,
      repoId,
      snapshot: { decision, request: requestSummary, why, covers, session_id: facts.sessionId },
      state: 'pending',
      createdMs,
      expiresMs: createdMs + config.settings.approvals.expiresMs,
      resolvedMs: null,
      resolver: null,
      note: null,
      keyId: caller.keyId,
      requestHash: isTold ? requestHash(request) : null,
      usedMs: null,
    };
    await write({ ...audit, detail: { approval_id: id, why } });
    // Whoever hears of it finds it.
    await store.add(row);
    emit('approval_pending', {
      approval_id: id,
      trace_id: traceId,
      user_id: caller.userId,
      team_id: caller.teamId,
      repo_id: repoId,
      owners: ownersOf(config, repoId),
      expires_at_ms: row.expiresMs,
      why,
    });
    return row;
  }

  /** Uses the approval that a client presents. What does not fit is refused and recorded. */
  async present(
    id: string,
    { request, facts }: Pick<ApprovalAsk, 'request' | 'facts'>,
    scope: ApprovalScope,
  ): Promise<PresentedApproval> {
    const { store, nowMs } = this.#options;
    const { caller, repoId } = facts;
    const row = await store.get(caller.tenantId, id);
    // Another key learns nothing of it.
    if (row === undefined || row.keyId !== caller.keyId) return this.#refuse(facts, id, 'unknown');
    if (row.requestHash !== requestHash(request) || row.repoId !== repoId) {
      return this.#refuse(facts, id, 'other_request');
    }
    const covers = coveredScopes(row.snapshot, facts);
    if (!covers.has(scope)) return this.#refuse(facts, id, 'other_scope');
    if (row.state === 'rejected') return this.#refuse(facts, id, 'rejected');
    if (row.state === 'expired' || row.expiresMs <= nowMs()) {
      return this.#refuse(facts, id, 'expired');
    }
    if (row.state === 'pending') return { kind: 'pending' };
    if (!(await store.use(caller.tenantId, id, nowMs()))) return this.#refuse(facts, id, 'used');
    await this.#record(facts, 'approval_used', { approval_id: id, resolver: row.resolver });
    this.#covered = covers;
    return { kind: 'used' };
  }

  async #refuse(facts: TurnFacts, id: string, reason: ApprovalRefusal): Promise<PresentedApproval> {
    const isKnown = reason !== 'unknown';
    await this.#record(facts, 'approval_refused', {
      approval_id: isKnown ? id : null,
      reason,
    });
    return { kind: 'refused', why: WORDS[reason] };
  }

  #record(facts: TurnFacts, eventType: string, detail: JsonObject): Promise<void> {
    return this.#options.write(
      auditRow(facts, { eventMs: this.#options.nowMs(), eventType, detail }),
    );
  }
}

/** Who answers for the repository, and how to reach them. */
function ownersOf({ identity }: GatewayConfig, repoId: string | null) {
  const { owners = [] } = identity.repos.get(repoId ?? '') ?? {};
  return owners.map((userId) => ({
    user_id: userId,
    email: identity.users.get(userId)?.email ?? null,
  }));
}

/** What a client that waited hears when the answer was no. */
export function answerWords(
  answer: HeldAnswer['answer'],
  { id, resolver, note }: TurnApprovalRow,
): string {
  const by = resolver === null ? '' : ` by ${resolver}`;
  const said = note === null || note === '' ? '.' : `: ${note.replace(/\.?$/, '.')}`;
  return `The approval ${id} was ${answer}${by}${said}`;
}

/**
 * What the person was asked about, as far as it is asked of this turn: the same bytes may come on another branch or in
 * another session, where other rules and the limit of another run hold.
 */
function coveredScopes(
  { covers, decision, session_id: sessionId }: JsonObject,
  facts: TurnFacts,
): ReadonlySet<ApprovalScope> {
  const rules = isObject(decision) ? decision['reasons'] : undefined;
  const isAsked: { readonly [S in ApprovalScope]: boolean } = {
    policy: Array.isArray(rules) && facts.decision.reasons.every((rule) => rules.includes(rule)),
    run: sessionId === facts.sessionId,
    user_day: true,
    team_month: true,
  };
  return new Set(
    SCOPES.filter((scope) => Array.isArray(covers) && covers.includes(scope) && isAsked[scope]),
  );
}

/** Of all that says what is asked for: another wire, path or byte is another request. */
function requestHash({ wire, path, body }: TurnRequest): string {
  return createHash('sha256').update(`${wire}\n${path}\n`).update(body).digest('hex');
}
