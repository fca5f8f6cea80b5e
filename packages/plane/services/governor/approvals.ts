// Calls of this shim in the queue of approvals: asked, watched and ended.
import {
  type ApprovalAbout,
  type ApprovalCall,
  type EventBody,
  type Failure,
  isFailure,
  isJsonObject,
  type JsonValue,
} from '@subluminal/contracts';
import { identityOf } from '@subluminal/core/policy';
import type {
  ApprovalAnswer,
  ApprovalWanted,
  Approver,
  DiscardReason,
  GrantQuery,
  TakenGrant,
} from '@subluminal/core/session';
import { visible } from '@subluminal/core/visible';
import { uuidv7 } from 'uuidv7';
import { processInfo, thisSystem } from '../../os/index.ts';
import {
  approves,
  type Desk,
  type Ended,
  type GrantedCall,
  openDesk,
  sameCall,
} from '../../stores/approvals/index.ts';
import type { LazyApprovalsOptions, LazyApprovalsPeer } from './lazy-approvals.ts';

interface ApprovalsOptions extends LazyApprovalsOptions {
  readonly peer: () => LazyApprovalsPeer | undefined;
}

/** A request that this shim waits for; a call that may be tried again waits for nothing. */
interface WaitingApproval {
  readonly id: string;
  readonly wanted: ApprovalWanted;
  readonly sinceMs: number;
  stop(): void;
}

type ApprovalStep = EventBody<'approval'>['approval'];

const NOT_TAKEN = {
  full: 'too many calls wait already',
  too_large: 'it is too large to be shown',
  malformed: 'it does not fit into a request',
} as const;
const ADVICE =
  'Only a person can approve it: ask the user to run `sub approvals` in a terminal of their own.';
const WARNING_LENGTH_MAX = 500;
const REASON_LENGTH_MAX = 2_000;
const RISKS_MAX = 64;
const RISK_LENGTH_MAX = 128;
/** The request in the queue ends a moment before the session would give up by itself. */
const EARLY_MS = 50;
const APPROVED_MAX = 64;
/** A grant is written right after its approval; one that is not there by then was lost. */
const ON_ITS_WAY_MS = 10_000;

/** When a process was started never changes, and sessions are many. */
let ownProcess: ReturnType<typeof thisProcess> | undefined;

function thisProcess() {
  const { pid } = process;
  return { pid, start: processInfo(pid, thisSystem())?.start ?? 'unknown' };
}

export class Approvals {
  readonly #options: ApprovalsOptions;
  /** Held calls by call id, and requests that no call waits for by request id. */
  readonly #held = new Map<string, WaitingApproval>();
  readonly #hinted = new Map<string, WaitingApproval>();
  /** Requests that no call waits for and that were just approved. */
  readonly #approved = new Set<string>();
  readonly #owner: { readonly pid: number; readonly start: string };
  #desk: Desk | undefined;
  #isClosed = false;

  constructor(options: ApprovalsOptions) {
    this.#options = options;
    ownProcess ??= thisProcess();
    this.#owner = ownProcess;
  }

  granted(query: GrantQuery, ruleIds: readonly string[]): readonly string[] {
    const desk = this.#open();
    // `ask` comes next and reports why.
    if (isFailure(desk)) return [];
    const { grants } = desk;
    const nowMs = Date.now();
    return ruleIds.filter((rule) => grants.findGrant(this.#callOf(query, rule), nowMs));
  }

  take(query: GrantQuery, ruleIds: readonly string[]): readonly TakenGrant[] | undefined {
    const desk = this.#open();
    if (isFailure(desk)) return undefined;
    const { grants } = desk;
    const taken: TakenGrant[] = [];
    for (const rule_id of ruleIds) {
      const grant = grants.takeGrant(this.#callOf(query, rule_id), Date.now());
      if (grant === undefined) return undefined;
      const { id: grant_id, request: id, by, channel } = grant;
      taken.push({ rule_id, grant_id, id, by, channel });
    }
    return taken;
  }

  ask(wanted: ApprovalWanted): ReturnType<Approver['ask']> {
    if (this.#isClosed) return undefined;
    const desk = this.#open();
    if (isFailure(desk)) return this.#nobody(`${desk.message} [${desk.code}]`);
    const approved = wanted.wait === 'hint' ? this.#justApproved(desk, wanted) : undefined;
    if (approved !== undefined) {
      return {
        id: approved,
        advice: 'A person has just approved it: try again.',
        isApproved: true,
      };
    }
    const { run_id: _, ...agent } = identityOf(this.#options.producer);
    const asked = desk.queue.ask({
      call: this.#askedCall(wanted),
      agent,
      wait: wanted.wait,
      timeoutMs: wanted.timeout_ms,
      askedBy: this.#owner,
      isOneOfMany: this.#options.isOneOfMany,
      about: aboutOf(wanted),
    });
    if (asked.kind !== 'asked' && asked.kind !== 'waiting') {
      const isFault = asked.kind === 'failure';
      return this.#nobody(isFault ? `${asked.message} [${asked.code}]` : NOT_TAKEN[asked.why]);
    }
    this.#watch(desk, asked.id, wanted);
    // Without the id: it is for the person who decides, and `sub approvals` lists it.
    return { id: asked.id, advice: ADVICE };
  }

  /** Ends the request of a held call that does not pass. */
  discard(callId: string, why: DiscardReason): void {
    const waiting = this.#held.get(callId);
    if (waiting === undefined) return;
    this.#held.delete(callId);
    this.#giveUp(waiting, why === 'timeout');
  }

  #giveUp(waiting: WaitingApproval, isLate: boolean): void {
    waiting.stop();
    const by = isLate ? 'time' : this.#options.producer.agent_id.slice(0, 256);
    const channel = isLate ? 'clock' : 'shim';
    const state = isLate ? 'expired' : 'cancelled';
    const ended = this.#desk?.queue.end(waiting.id, { state, by, channel });
    const isKnown = ended?.kind === 'ended' || ended?.kind === 'already';
    this.#record(waiting, isKnown ? stepOf(ended.entry) : { state, by, channel });
  }

  /** Ends requests whose time is up, unless the queue says that a person was first. */
  tick(): void {
    const nowMs = this.#options.peer()?.now() ?? 0;
    for (const [callId, { id, wanted, sinceMs }] of [...this.#held]) {
      if (nowMs < sinceMs + wanted.timeout_ms - EARLY_MS) continue;
      const late = { state: 'expired', by: 'time', channel: 'clock' } as const;
      const ended = this.#desk?.queue.end(id, late);
      if (ended?.kind === 'ended' || ended?.kind === 'already') this.#end(callId, ended.entry);
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const callId of [...this.#held.keys()]) this.discard(callId, 'cancelled');
    // No call can be tried again through this shim, and the next shim asks anew.
    for (const waiting of this.#hinted.values()) this.#giveUp(waiting, false);
    this.#hinted.clear();
  }

  #watch(desk: Desk, id: string, wanted: ApprovalWanted): void {
    const isHeld = wanted.wait === 'hold';
    if (!isHeld && this.#hinted.has(id)) return;
    const { call_id } = wanted.call;
    const watched = desk.queue.watch([id], (ended) => {
      if (isHeld) this.#end(call_id, ended);
      else this.#endHinted(id, ended);
    });
    const sinceMs = this.#options.peer()?.now() ?? 0;
    const waiting = { id, wanted, sinceMs, stop: () => watched.stop() };
    if (isHeld) this.#held.set(call_id, waiting);
    else this.#hinted.set(id, waiting);
  }

  #end(callId: string, ended: Ended): void {
    const waiting = this.#held.get(callId);
    if (waiting === undefined) return;
    this.#held.delete(callId);
    waiting.stop();
    this.#record(waiting, stepOf(ended));
    this.#options.peer()?.answer(callId, this.#answerOf(waiting, ended));
  }

  #endHinted(id: string, ended: Ended): void {
    const waiting = this.#hinted.get(id);
    this.#hinted.delete(id);
    if (ended.kind === 'request' && ended.state === 'approved') this.#remember(id);
    if (waiting !== undefined) this.#record(waiting, stepOf(ended));
  }

  #remember(id: string): void {
    this.#approved.add(id);
    const [oldest] = this.#approved;
    if (this.#approved.size > APPROVED_MAX && oldest !== undefined) this.#approved.delete(oldest);
  }

  /** A request for this call that was approved, and whose grant is there, or on its way. */
  #justApproved({ queue, grants }: Desk, wanted: ApprovalWanted): string | undefined {
    const call = this.#askedCall(wanted);
    return [...this.#hinted.keys(), ...this.#approved].find((id) => {
      const entry = queue.get(id);
      if (entry.kind !== 'request' || entry.outcome?.state !== 'approved') return false;
      const { grant, at } = entry.outcome;
      if (grant === undefined || !sameCall(entry.request.call, call)) return false;
      const given = grants.get(grant);
      if (given.kind === 'grant') return given.state === 'active';
      return given.kind === 'missing' && Date.now() - Date.parse(at) < ON_ITS_WAY_MS;
    });
  }

  /** Only an approval of exactly this call is one. */
  #answerOf({ id, wanted }: WaitingApproval, ended: Ended): ApprovalAnswer {
    if (ended.kind !== 'request' || ended.request.id !== id) return 'unavailable';
    switch (ended.state) {
      case 'approved':
        return approves(ended, this.#askedCall(wanted)) ? 'approved' : 'unavailable';
      case 'rejected':
        return rejection(ended.outcome?.note);
      case 'cancelled':
        return 'rejected';
      case 'expired':
        return 'timeout';
      case 'pending':
        return 'unavailable';
    }
  }

  #record({ id, wanted, sinceMs }: WaitingApproval, step: Omit<ApprovalStep, 'rule_id'>): void {
    const peer = this.#options.peer();
    const waited_ms = Math.max(0, (peer?.now() ?? 0) - sinceMs);
    const approval = { id, rule_id: wanted.rule_id, ...step, waited_ms };
    if (wanted.wait === 'hold') peer?.waited(waited_ms);
    peer?.record({ call: { call_id: wanted.call.call_id }, approval });
  }

  #askedCall({ call, policy_hash, rule_id, risk_class, summary, args }: ApprovalWanted) {
    const shown = argsOf(args);
    return {
      run_id: this.#options.producer.run_id,
      call_id: call.call_id,
      server: call.server_name,
      tool: call.tool_name,
      args_hash: call.args_hash,
      policy_hash,
      rule_id,
      ...shown,
      risk: risk_class.slice(0, RISKS_MAX).map((risk) => risk.slice(0, RISK_LENGTH_MAX)),
      reason: summary.slice(0, REASON_LENGTH_MAX),
    } satisfies ApprovalCall;
  }

  #callOf({ ref, args, policyHash }: GrantQuery, rule_id: string): GrantedCall {
    const { run_id, agent_id, env, principal } = this.#options.producer;
    return {
      run_id,
      call_id: ref.call_id,
      server: ref.server_name,
      tool: ref.tool_name,
      rule_id,
      args_hash: ref.args_hash,
      policy_hash: policyHash,
      args: args(),
      agent: { agent_id, env, principal },
    };
  }

  /** Tries again after a failure: an unsafe folder may be repaired by now. */
  #open(): Desk | Failure {
    if (this.#desk !== undefined) return this.#desk;
    const ports = {
      nowMs: () => Date.now(),
      uuid: uuidv7,
      warn: (message: string) => this.#warn(message),
    };
    const opened = openDesk({ home: this.#options.home, ports });
    if (!isFailure(opened)) this.#desk = opened;
    return opened;
  }

  #nobody(why: string): undefined {
    this.#warn(`nobody could be asked to approve a call: ${why}`);
  }

  #warn(message: string): void {
    this.#options.warn(visible(message, WARNING_LENGTH_MAX));
  }
}

function aboutOf({ brief }: ApprovalWanted): ApprovalAbout | undefined {
  return brief && { ...brief.about, judgements: brief.judgements };
}

/** The arguments that a person sees; text that is no longer JSON was cut. */
function argsOf(shown: ApprovalWanted['args']): { args: JsonValue; args_complete: boolean } {
  if (shown === undefined) return { args: null, args_complete: false };
  try {
    const args: unknown = JSON.parse(shown.text);
    if (isJsonObject(args)) return { args, args_complete: shown.complete };
  } catch {
    // It was cut.
  }
  return { args: shown.text, args_complete: false };
}

function rejection(note: string | undefined): ApprovalAnswer {
  return note === undefined ? 'rejected' : { kind: 'rejected', note };
}

/** How a request ended, as it goes on record. */
function stepOf(ended: Ended): Omit<ApprovalStep, 'rule_id'> {
  if (ended.kind !== 'request') return { state: 'cancelled' };
  const { outcome } = ended;
  if (outcome === null) return { state: 'expired' };
  const { state, by, channel, grant } = outcome;
  return { state, by, channel, ...(grant !== undefined && { grant_id: grant }) };
}
