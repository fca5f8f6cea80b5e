// People's decisions, as the HTTP API gives and takes them.
import {
  API_APPROVALS_LIMIT,
  type ApiApproval,
  type ApiApprove,
  type ApiDecided,
  type ApiGrant,
  type ApiGrantWish,
  type ApiReject,
  type Failure,
  type Grant,
  isFailure,
  type SubCode,
  tableFailure,
} from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import {
  type Damaged,
  type Decided,
  type Desk,
  type Entry,
  type GrantEntry,
  type GrantWish,
  grantFor,
  grantWords,
  type Owner,
} from '../../stores/approvals/index.ts';
import type { ApiDesk, HttpFailure } from '../api/index.ts';

interface DeskOptions {
  readonly desk: Desk;
  /** Whoever holds the token acts for this user. */
  readonly by: string;
  readonly isGone: (owner: Owner) => boolean;
  /** Each time somebody asks. */
  readonly touch: () => void;
}

const CHANNEL = 'web';
const MINUTE_MS = 60_000;
const WHY_LENGTH_MAX = 500;

export function apiDesk(options: DeskOptions): ApiDesk {
  const { desk, touch } = options;
  const { queue, grants } = desk;
  const entryOf = (entry: Entry) => approvalOf(entry, options);
  /** Many requests come from few processes, and to look for one may take a while. */
  const entriesOf = () => {
    const known = new Map<string, boolean>();
    const isGone = (owner: Owner) => {
      const key = `${owner.pid} ${owner.start}`;
      const answer = known.get(key) ?? options.isGone(owner);
      known.set(key, answer);
      return answer;
    };
    return (entry: Entry) => approvalOf(entry, { isGone });
  };
  return {
    approvals: ({ state, limit = API_APPROVALS_LIMIT.fallback }) => {
      touch();
      const all = queue.list(state === undefined ? {} : { state });
      return isFailure(all) ? storeFault(all) : page(all, limit, entriesOf());
    },
    approval: (id) => {
      touch();
      const entry = queue.get(id);
      return entry.kind === 'request' ? entryOf(entry) : absent(entry);
    },
    approve: (id, wish) => {
      touch();
      return wish.dry_run === true ? shown(id, wish, options) : decided(id, wish, options);
    },
    reject: (id, wish) => {
      touch();
      return decided(id, wish, { ...options, isRejected: true });
    },
    grants: ({ state, limit = API_APPROVALS_LIMIT.fallback }) => {
      touch();
      const all = grants.list();
      if (isFailure(all)) return storeFault(all);
      const found = all.found.filter((one) => state === undefined || one.state === state);
      return page({ ...all, found }, limit, grantOf);
    },
    revoke: (id) => {
      touch();
      const change = grants.revoke(id, options.by);
      if (change.kind === 'failure') return storeFault(change);
      if (change.kind !== 'done' && change.kind !== 'already') return absent(change);
      return { changed: change.kind === 'done', grant: grantOf(change.entry) };
    },
  };
}

interface FoundRecords<T> {
  readonly found: readonly T[];
  readonly damaged: readonly Damaged[];
  readonly cut: boolean;
}

/** The newest first; ids sort by time. */
function page<T, R>({ found, damaged, cut }: FoundRecords<T>, limit: number, rowOf: (one: T) => R) {
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

function given(grant: Grant): ApiGrant {
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
  const giver = { id: desk.ports.uuid(), by, channel: CHANNEL, note: wish.note };
  const grant = grantFor(entry.request, wishOf(wish.grant), {
    ...giver,
    nowMs: desk.ports.nowMs(),
  });
  if (grant.kind === 'failure') return storeFault(grant);
  return { changed: false, approval, grant: given(grant), lost: null };
}

function decided(
  id: string,
  wish: ApiApprove | ApiReject,
  { isRejected = false, ...options }: DeskOptions & { readonly isRejected?: boolean },
): ApiDecided | HttpFailure {
  const { desk, by } = options;
  const lasting = 'grant' in wish && wish.grant !== undefined ? wishOf(wish.grant) : undefined;
  const result: Decided = desk.decide(id, {
    state: isRejected ? 'rejected' : 'approved',
    by,
    channel: CHANNEL,
    note: wish.note,
    sha256: wish.request_sha256,
    wish: lasting,
  });
  switch (result.kind) {
    case 'ended': {
      const { entry, grant, lost } = result;
      const approval = approvalOf(entry, options);
      return { changed: true, approval, grant: grant === null ? null : given(grant), lost };
    }
    case 'already':
      return {
        changed: false,
        approval: approvalOf(result.entry, options),
        grant: null,
        lost: null,
      };
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
  return { ...tableFailure(code, visible(detail, WHY_LENGTH_MAX)), status };
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
