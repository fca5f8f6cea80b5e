// Decides the turns of one run: the policy by the hub of the run, content by the scanner, people where a rule
// asks. What a turn may cost is reserved, and replaced by what it did cost when it ends.
import type {
  CallError,
  Decision,
  EvaluateRequest,
  EvaluateResponse,
  Producer,
  Profile,
} from '@subluminal/contracts';
import {
  type Call,
  candidatesFor,
  decide,
  identityOf,
  initialState,
  policiesIn,
  ruleRole,
} from '@subluminal/core/policy';
import {
  estimateCost,
  type PriceBook,
  type ProviderName,
  turnCost,
} from '@subluminal/core/routing';
import type { GrantQuery } from '@subluminal/core/session';
import { estimateTokens } from '@subluminal/core/wires';
import { callIds, sha256Bytes } from '@subluminal/plane/crypto';
import { type RunningHub, TURN_METHOD } from '@subluminal/plane/hub';
import { refuse } from '../turns/refuse.ts';
import { clientSession, requestFacts, usedTokens } from '../turns/turn-facts.ts';
import type {
  GovernedTurn,
  TurnGovernor,
  TurnOutcome,
  TurnPlan,
  TurnRequest,
  TurnTail,
} from '../turns/types.ts';
import {
  contentDecision,
  costFacts,
  endOf,
  failedDecision,
  nobodyDecision,
  refusalKind,
  rejectedDecision,
  ruleIds,
} from './outcomes.ts';
import type { People } from './people.ts';
import type { RecordedTurn, TurnRecorder } from './record-turns.ts';
import type { ScannedRequest } from './scan-request.ts';
import type { TurnPolicy } from './turn-policy.ts';
import { COST_HEADER, type TurnTarget } from './upstreams.ts';

export interface LocalGovernorOptions {
  readonly producer: Producer;
  readonly profile: Profile;
  readonly policy: () => TurnPolicy;
  readonly hub: Pick<RunningHub, 'evaluate' | 'settle'>;
  readonly recorder: TurnRecorder;
  readonly people: People;
  readonly prices: PriceBook;
}

/** Most answers are far shorter than a client allows; a reservation for all of it would stop a run too early. */
const RESERVED_OUTPUT_MAX = 8_192;
const ROUNDS_MAX = 16;
const NO_HEADERS = {};

/** One turn on its way through the decision. */
interface OpenTurn {
  readonly request: TurnRequest;
  readonly policy: TurnPolicy;
  readonly call: Call;
  readonly callId: string;
  readonly provider: ProviderName;
  readonly target: TurnTarget;
  readonly recorded: RecordedTurn;
  readonly scanned: ScannedRequest;
  readonly query: GrantQuery;
}

/** The approval rules that are satisfied: by grants, and by people who have just answered. */
interface ApprovedRules {
  readonly granted: readonly string[];
  readonly answered: readonly string[];
}

export class LocalGovernor {
  readonly #options: LocalGovernorOptions;
  readonly #identity: ReturnType<typeof identityOf>;
  readonly #nextId = callIds();

  constructor(options: LocalGovernorOptions) {
    this.#options = options;
    this.#identity = identityOf(options.producer);
  }

  /** Decides the turns that go where `targetOf` says. */
  toward(targetOf: (request: TurnRequest) => TurnTarget | undefined): TurnGovernor {
    return { begin: (request) => Promise.resolve(this.#plan(request, targetOf(request))) };
  }

  #plan(request: TurnRequest, target: TurnTarget | undefined): TurnPlan {
    if (target === undefined) return refuse('invalid', 'This path leads to no model.');
    const turn = this.#open(request, target);
    if (request.kind === 'count_tokens') return this.#count(turn);
    const { recorder } = this.#options;
    recorder.start(turn.recorded);
    return this.#decide(turn, { granted: this.#granted(turn), answered: [] });
  }

  /** The turn under the policy that is in force now: it may have changed while the turn was held. */
  #current(turn: OpenTurn): OpenTurn {
    const policy = this.#options.policy();
    if (policy === turn.policy) return turn;
    const query = { ...turn.query, policyHash: policy.snapshot.ref.policy_hash };
    return { ...turn, policy, query, scanned: scannedBy(policy, turn) };
  }

  #open(request: TurnRequest, target: TurnTarget): OpenTurn {
    const { prices } = this.#options;
    const { outline, body } = request;
    const { endpoint, provider: way } = target.attempt;
    const provider = way.name;
    const { model, maxTokens, choices = 1 } = outline;
    const callId = this.#nextId();
    const facts = { ...requestFacts(request), ...target.facts };
    const price = prices.priceFor({ provider, endpointId: endpoint.id, model });
    const output = Math.min(maxTokens ?? RESERVED_OUTPUT_MAX, RESERVED_OUTPUT_MAX) * choices;
    const cost_micros = price && estimateCost(estimateTokens(body.length), output, price);
    const args_hash = sha256Bytes(body);
    const call: Call = {
      identity: this.#identity,
      server_name: provider,
      tool_name: model,
      subject: 'turn',
      args: facts,
      args_hash,
      bytes_in: body.length,
      cost_micros,
    };
    const ref = { call_id: callId, server_name: provider, tool_name: model, args_hash };
    const policy = this.#options.policy();
    return {
      request,
      policy,
      call,
      callId,
      provider,
      target,
      recorded: {
        callId,
        provider,
        model,
        facts,
        bytesIn: body.length,
        sessionId: clientSession(request),
        estimateMicros: cost_micros,
        startedMs: request.receivedMs,
      },
      scanned: scannedBy(policy, { request, provider }),
      query: { ref, args: () => facts, policyHash: policy.snapshot.ref.policy_hash },
    };
  }

  /** Counting tokens costs nothing, but sends the conversation: what the policy refuses stays here. */
  #count(turn: OpenTurn): TurnPlan {
    const { snapshot } = turn.policy;
    const free = { ...turn.call, cost_micros: 0 };
    const { decision } = decide(snapshot, free, initialState(snapshot), Date.now());
    if (decision.action !== 'ALLOW') return refuse('policy', decision.summary, ruleIds(decision));
    if (turn.scanned.refusal !== undefined) return refuse('policy', turn.scanned.refusal);
    const end = () => Promise.resolve({ events: '', headers: NO_HEADERS });
    return { kind: 'send', turn: governed(turn, end) };
  }

  /** The rules that ask about this turn, and that grants satisfy. */
  #granted({ call, query, policy }: OpenTurn): readonly string[] {
    const { people } = this.#options;
    const asking = policiesIn(policy.snapshot).filter(
      ({ document }) => document.mode === 'control',
    );
    const candidates = asking.flatMap((one) => candidatesFor(one, call));
    const rules = candidates.flatMap(({ rule }) => (ruleRole(rule) === 'asks' ? rule.rule_id : []));
    return people.granted(query, rules);
  }

  #decide(turn: OpenTurn, approved: ApprovedRules): TurnPlan {
    const { hub, people } = this.#options;
    const { granted, answered } = approved;
    const { refusal } = turn.scanned;
    if (refusal !== undefined) return this.#refuse(turn, contentDecision(refusal), EMPTY);
    const answer = hub.evaluate(this.#question(turn, [...granted, ...answered]));
    if ('kind' in answer || answer.call_decision === undefined) {
      const why = 'kind' in answer ? answer.message : 'it has no policy';
      return this.#refuse(turn, failedDecision(why), EMPTY);
    }
    const { call_decision: decision } = answer;
    if (decision.action === 'ALLOW') return this.#send(turn, answer, approved);
    if (decision.approval === undefined || answered.length >= ROUNDS_MAX) {
      return this.#refuse(turn, decision, answer);
    }
    const { facts } = turn.recorded;
    const shown = JSON.stringify({ ...facts, ...costFacts(turn.call.cost_micros) });
    const { risk_class: riskClass = [] } = answer;
    const advice = people.ask({ query: turn.query, decision, riskClass, shown });
    if (advice === undefined) return this.#refuse(turn, nobodyDecision(decision), answer);
    if (decision.approval.wait === 'hint') {
      return this.#refuse(turn, { ...decision, summary: `${decision.summary} ${advice}` }, answer);
    }
    return { kind: 'hold', outcome: this.#held(turn, { decision, answer, approved }) };
  }

  async #held(
    turn: OpenTurn,
    held: {
      readonly decision: Decision;
      readonly answer: EvaluateResponse;
      readonly approved: ApprovedRules;
    },
  ): Promise<TurnPlan> {
    const { people, recorder } = this.#options;
    const { decision, answer, approved } = held;
    const said = await people.answer(turn.callId, turn.request.signal);
    if (said === 'approved') {
      const answered = [...approved.answered, decision.rule_id ?? ''];
      return this.#decide(this.#current(turn), { ...approved, answered });
    }
    if (said !== 'cancelled') return this.#refuse(turn, rejectedDecision(decision, said), answer);
    const gone = rejectedDecision(decision, 'cancelled');
    recorder.decided(turn.recorded, decidedBy(gone, answer, turn));
    recorder.ended(turn.recorded, { ...UNANSWERED, status: 'CANCELLED', error: undefined });
    return refuse('approval', gone.summary, ruleIds(gone));
  }

  #question({ call, callId, query }: OpenTurn, approved: readonly string[]): EvaluateRequest {
    const { profile } = this.#options;
    const { run_id, ...identity } = this.#identity;
    return {
      server_id: call.server_name,
      direction: 'agent_to_server',
      method: TURN_METHOD,
      message_type: 'request',
      profile,
      run_id,
      identity,
      call_id: callId,
      tool_name: call.tool_name,
      args_hash: call.args_hash,
      policy_hash: query.policyHash,
      bytes_in: call.bytes_in,
      params: { name: call.tool_name, arguments: call.args ?? {} },
      ...(call.cost_micros !== undefined && { cost_micros: call.cost_micros }),
      ...(approved.length > 0 && { approved }),
    };
  }

  #send(turn: OpenTurn, answer: EvaluateResponse, { answered }: ApprovedRules): TurnPlan {
    const { hub, people, recorder } = this.#options;
    const { call_decision: decision, trace = [] } = answer;
    if (decision === undefined) throw new Error('a turn passes without a decision');
    const asked = trace.flatMap((one) => (one.outcome === 'approved' ? one.rule_id : []));
    const byGrant = asked.filter((rule) => !answered.includes(rule));
    const taken = people.take(turn.query, byGrant);
    if (taken === undefined) {
      hub.settle(turn.callId, { micros: 0, isError: false });
      return this.#refuse(
        turn,
        nobodyDecision({ ...decision, rule_id: byGrant[0] ?? null }),
        answer,
      );
    }
    for (const grant of taken) {
      recorder.record('approval', {
        call: { call_id: turn.callId },
        approval: { ...grant, state: 'approved' },
      });
    }
    recorder.decided(turn.recorded, decidedBy(decision, answer, turn));
    return { kind: 'send', turn: governed(turn, (outcome) => this.#end(turn, outcome)) };
  }

  #refuse(turn: OpenTurn, decision: Decision, answer: Partial<EvaluateResponse>): TurnPlan {
    const { recorder } = this.#options;
    recorder.decided(turn.recorded, decidedBy(decision, answer, turn));
    const error: CallError = { class: 'policy_block', message: decision.summary };
    recorder.ended(turn.recorded, { ...UNANSWERED, status: 'ERROR', error });
    const kind = refusalKind(decision, answer);
    const words = decision.hint?.hint_text;
    const more = words === undefined || words === decision.summary ? '' : ` ${words}`;
    const plan = refuse(kind, `${decision.summary}${more}`, ruleIds(decision));
    if (decision.backoff_ms === undefined || plan.kind !== 'refuse') return plan;
    return { ...plan, refusal: { ...plan.refusal, retryAfterMs: decision.backoff_ms } };
  }

  #end(turn: OpenTurn, outcome: TurnOutcome): Promise<TurnTail> {
    const { hub, recorder, prices } = this.#options;
    const { last, bytesOut, firstByteMs } = outcome;
    const observed = last?.observed;
    const usage = last && usedTokens(turn.request, last);
    const { provider, target } = turn;
    const model = turn.call.tool_name;
    const price = prices.priceFor({ provider, endpointId: target.attempt.endpoint.id, model });
    const cost = usage && turnCost(usage, price);
    const priced = cost?.kind === 'priced' ? cost.costMicros : undefined;
    const costMicros = target.toldMicros?.() ?? priced;
    const isError = last === undefined || last.error !== undefined;
    const { status, error } = endOf(outcome, turn.request);
    hub.settle(turn.callId, {
      micros: costMicros ?? 0,
      isError: isError && status !== 'CANCELLED',
    });
    const ended = { status, bytesOut, firstByteMs, usage, costMicros, observed, error };
    recorder.ended(turn.recorded, ended);
    const headers = costMicros === undefined ? NO_HEADERS : { [COST_HEADER]: String(costMicros) };
    return Promise.resolve({ events: '', headers });
  }
}

const EMPTY: Partial<EvaluateResponse> = {};
const UNANSWERED = {
  bytesOut: 0,
  firstByteMs: undefined,
  usage: undefined,
  costMicros: undefined,
  observed: undefined,
};

function governed({ target, scanned }: OpenTurn, end: GovernedTurn['end']): GovernedTurn {
  return {
    body: scanned.body,
    attempts: [target.attempt],
    headers: NO_HEADERS,
    attemptEnded: () => {},
    end,
  };
}

function decidedBy(
  decision: Decision,
  answer: Partial<EvaluateResponse>,
  { scanned, policy }: OpenTurn,
) {
  const { risk_class: riskClass = [], trace = [] } = answer;
  const { ref } = policy.snapshot;
  return { decision, policy: ref, riskClass, trace, content: scanned.content };
}

function scannedBy(
  { scanner }: TurnPolicy,
  { request, provider }: Pick<OpenTurn, 'request' | 'provider'>,
): ScannedRequest {
  const { body, outline } = request;
  const unscanned = { body, content: undefined, refusal: undefined };
  return scanner?.scan(body, outline, provider) ?? unscanned;
}
