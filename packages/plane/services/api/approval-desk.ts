// People's decisions, as the HTTP API gives and takes them.
import {
  API_APPROVALS_LIMIT,
  type ApiApproval,
  type ApiApprovals,
  type ApiApprovalsQuery,
  type ApiApprove,
  type ApiDecided,
  type ApiGrant,
  type ApiGrants,
  type ApiGrantsQuery,
  type ApiGrantWish,
  type ApiReject,
  type ApiRevoked,
  type Failure,
  type Grant,
  isFailure,
  type SubCode,
} from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import {
  type Damaged,
  type Desk,
  type Entry,
  type GrantEntry,
  type GrantWish,
  grantFor,
  grantWords,
  type Owner,
} from '../../stores/approvals/index.ts';
import { type HttpFailure, httpFailure } from './http-failure.ts';

export interface DeskOptions {
  readonly desk: Desk;
  /** The user for whom a holder of the token acts. */
  readonly by: string;
  readonly isGone: (owner: Owner) => boolean;
}

const CHANNEL = 'web';
const MINUTE_MS = 60_000;
const WHY_LENGTH_MAX = 500;

/** The endpoints of approvals and grants. Ids are whole ones. */
export class ApprovalDesk {
  readonly #options: DeskOptions;

  constructor(options: DeskOptions) {
    this.#options = options;
  }

  approvals({ state, limit }: ApiApprovalsQuery): ApiApprovals | HttpFailure {
    const all = this.#options.desk.queue.list(state === undefined ? {} : { state });
    if (isFailure(all)) return storeFault(all);
    // Many requests come from few processes, and looking one up may take a while.
    const known = new Map<string, boolean>();
    const isGone = (owner: Owner) => {
      const key = `${owner.pid} ${owner.start}`;
      const answer = known.get(key) ?? this.#options.isGone(owner);
      known.set(key, answer);
      return answer;
    };
    return page(all, limit, (entry) => approvalOf(entry, { isGone }));
  }

  approval(id: string): ApiApproval | HttpFailure {
    const entry = this.#options.desk.queue.get(id);
    return entry.kind === 'request' ? approvalOf(entry, this.#options) : absent(entry);
  }

  approve(id: string, wish: ApiApprove): ApiDecided | HttpFailure {
    return wish.dry_run === true
      ? shown(id, wish, this.#options)
      : decided(id, wish, this.#options);
  }

  reject(id: string, wish: ApiReject): ApiDecided | HttpFailure {
    return decided(id, wish, { ...this.#options, isRejected: true });
  }

  grants({ state, limit }: ApiGrantsQuery): ApiGrants | HttpFailure {
    const all = this.#options.desk.grants.list();
    if (isFailure(all)) return storeFault(all);
    const found = all.found.filter((one) => state === undefined || one.state === state);
    return page({ ...all, found }, limit, grantOf);
  }

  revoke(id: string): ApiRevoked | HttpFailure {
    const { desk, by } = this.#options;
    const change = desk.grants.revoke(id, by);
    if (change.kind === 'failure') return storeFault(change);
    if (change.kind !== 'done' && change.kind !== 'already') return absent(change);
    return { changed: change.kind === 'done', grant: grantOf(change.entry) };
  }
}

interface FoundRecords<T> {
  readonly found: readonly T[];
  readonly damaged: readonly Damaged[];
  readonly cut: boolean;
}

/** The newest first; ids sort by time. */
function page<T, R>(
  { found, damaged, cut }: FoundRecords<T>,
  given: number | undefined,
  rowOf: (one: T) => R,
) {
  const limit = given ?? API_APPROVALS_LIMIT.fallback;
  const rows = found.slice(-limit).toReversed().map(rowOf);
  return {
    rows,
    // No paths: only what helps to find the file.
    damaged: damaged.map(({ id, why }) => ({ id, why: visible(why, WHY_LENGTH_MAX) })),
    cut: cut || found.length > limit,
  };
}

function approvalOf(entry: Entry, { isGone }: Pick<DeskOptions, 'isGone'>): ApiApproval {
  const { request, state, sha256, outcome } = entry;
  const asker = isGone(request.asked_by) ? 'gone' : 'there';
  return { id: request.id, state, asker, request, request_sha256: sha256, outcome };
}

function grantOf({ grant, state, end }: GrantEntry): ApiGrant {
  return { id: grant.id, state, covers: grantWords(grant), grant, end };
}

function activeGrant(grant: Grant): ApiGrant {
  return grantOf({ kind: 'grant', grant, state: 'active', end: null });
}

/** What a grant would cover; nothing is changed. */
function shown(id: string, wish: ApiApprove, options: DeskOptions): ApiDecided | HttpFailure {
  const { desk, by } = options;
  const entry = desk.queue.get(id);
  if (entry.kind !== 'request') return absent(entry);
  if (entry.sha256 !== wish.request_sha256) return changed();
  const approval = approvalOf(entry, options);
  if (wish.grant === undefined) return { changed: false, approval, grant: null, lost: null };
  const { ports } = desk;
  const giver = { id: ports.uuid(), by, channel: CHANNEL, note: wish.note, nowMs: ports.nowMs() };
  const grant = grantFor(entry.request, wishOf(wish.grant), giver);
  if (grant.kind === 'failure') return storeFault(grant);
  return { changed: false, approval, grant: activeGrant(grant), lost: null };
}

function decided(
  id: string,
  wish: ApiApprove | ApiReject,
  { isRejected = false, ...options }: DeskOptions & { readonly isRejected?: boolean },
): ApiDecided | HttpFailure {
  const { desk, by } = options;
  const lasting = 'grant' in wish && wish.grant !== undefined ? wishOf(wish.grant) : undefined;
  const result = desk.decide(id, {
    state: isRejected ? 'rejected' : 'approved',
    by,
    channel: CHANNEL,
    note: wish.note,
    sha256: wish.request_sha256,
    wish: lasting,
  });
  switch (result.kind) {
    case 'ended':
    case 'already': {
      const approval = approvalOf(result.entry, options);
      if (result.kind === 'already') return { changed: false, approval, grant: null, lost: null };
      const grant = result.grant === null ? null : activeGrant(result.grant);
      return { changed: true, approval, grant, lost: result.lost };
    }
    case 'changed':
      return changed();
    case 'too_large':
      return refuse(400, 'SUB_API_REQUEST', 'The note is too long.');
    case 'failure':
      return storeFault(result);
    default:
      return absent(result);
  }
}

function wishOf(wish: ApiGrantWish): GrantWish {
  if (wish.kind === 'once') return { kind: 'once' };
  const args =
    wish.args.kind === 'pattern'
      ? {
          kind: 'pattern' as const,
          like: new Map(Object.entries(wish.args.like ?? {})),
          free: new Set(wish.args.free ?? []),
        }
      : wish.args;
  if (wish.kind !== 'minutes') return { kind: wish.kind, args };
  return { kind: 'minutes', durationMs: wish.minutes * MINUTE_MS, args };
}

/** The table's words: those of the store may name files. */
function refuse(status: HttpFailure['status'], code: SubCode, detail = ''): HttpFailure {
  return httpFailure(status, code, visible(detail, WHY_LENGTH_MAX));
}

function absent(one: Damaged | { readonly kind: 'missing' }): HttpFailure {
  if (one.kind === 'missing') return refuse(404, 'SUB_APPROVAL_UNKNOWN');
  return refuse(500, 'SUB_APPROVAL_DAMAGED', `It is ${one.id}: ${one.why}.`);
}

function changed(): HttpFailure {
  return refuse(409, 'SUB_APPROVAL_UNKNOWN', 'It is not the request that was seen.');
}

/** A failure of the disk names files, so its text stays out; the log of the daemon has it. */
function storeFault({ code, message, fix }: Failure): HttpFailure {
  if (code !== 'SUB_GRANT_REFUSED') return refuse(503, code);
  return refuse(409, code, `It is not given: ${message} ${fix}`);
}
