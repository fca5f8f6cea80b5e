// One turn on its way to the gateway: the envelope around it, what the gateway says about it, and its record here.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { type Decision, isObject, type ModelEnvelope } from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import type { SseEvent, UpstreamError } from '@subluminal/core/wires';
import { parseJson } from '@subluminal/plane/os';
import { endOf } from '../local/outcomes.ts';
import type { RecordedTurn } from '../local/record-turns.ts';
import { usedTokens } from '../turns/turn-facts.ts';
import type {
  Attempt,
  AttemptOutcome,
  GatewayLink,
  GovernedTurn,
  TurnOutcome,
  TurnRequest,
  TurnTail,
} from '../turns/types.ts';
import type { SessionRun } from './session-runs.ts';

export interface GatewayTurnOptions {
  readonly request: TurnRequest;
  readonly envelope: ModelEnvelope;
  readonly run: Pick<SessionRun, 'recorder' | 'policy' | 'traced'>;
  readonly recorded: RecordedTurn;
  /** Events of the gateway reach the client, too; for development. */
  readonly passesEvents: boolean;
  readonly unreachable: UpstreamError;
  /** The attempts by the gateway, given what speaks to it, and those that come when it is away. */
  readonly attempts: (link: GatewayLink, outcomes: TriedBefore) => readonly Attempt[];
}

/** What has become of the attempts before this one. */
export interface TriedBefore {
  last(): AttemptOutcome['error'];
}

const OUR_EVENT = /^aicg\./;
const OUR_HEADER = /^x-aicg-[a-z-]{1,64}$/;
const MICROS_PER_CENT = 10_000;
const SUMMARY_LENGTH_MAX = 500;
const TRACE_LENGTH_MAX = 64;
const NO_TAIL: TurnTail = { events: '', headers: {} };

export class GatewayTurn implements GovernedTurn {
  readonly body: Buffer;
  readonly attempts: readonly Attempt[];
  readonly headers = {};
  readonly #options: GatewayTurnOptions;
  #answered: { readonly [name: string]: string } = {};
  #lastError: AttemptOutcome['error'];
  #costMicros: number | undefined;
  #routedTo: string | undefined;
  #ruleId: string | undefined;
  /** Why a turn that was held has been refused: the client got that as an answer. */
  #refusedWhy: string | undefined;

  constructor(options: GatewayTurnOptions) {
    this.#options = options;
    this.body = options.request.body;
    const before = { last: () => this.#lastError };
    this.attempts = options.attempts(this.#link(), before);
  }

  attemptEnded(_attempt: Attempt, { error }: AttemptOutcome): void {
    this.#lastError = error;
  }

  end(outcome: TurnOutcome): Promise<TurnTail> {
    const { request, recorded } = this.#options;
    const { recorder, policy, traced } = this.#options.run;
    if (request.kind === 'count_tokens') return Promise.resolve(NO_TAIL);
    const traceId = this.#answered['x-aicg-trace-id'];
    if (traceId !== undefined) traced(visible(traceId, TRACE_LENGTH_MAX));
    const { last, bytesOut, firstByteMs, attempt } = outcome;
    const decision = this.#decision(outcome);
    recorder.decided(recorded, {
      decision,
      policy,
      riskClass: [],
      trace: [],
      content: undefined,
    });
    const { status, error } = endOf(outcome, request);
    const isRefused = decision.action !== 'ALLOW';
    recorder.ended(recorded, {
      status: isRefused ? 'ERROR' : status,
      bytesOut,
      firstByteMs,
      usage: isRefused ? undefined : last && usedTokens(request, last),
      costMicros: attempt?.gateway === undefined ? undefined : this.#costMicros,
      observed: last?.observed,
      error: isRefused ? { class: 'policy_block', message: decision.summary } : error,
    });
    return Promise.resolve({ events: '', headers: this.#answered });
  }

  #link(): GatewayLink {
    const { envelope, request, passesEvents, unreachable } = this.#options;
    const { wire, kind, outline } = request;
    const head = `{"envelope":${JSON.stringify(envelope)},"wire":{"protocol":"${wire}","kind":"${kind}","stream":${outline.isStream},"body":`;
    return {
      envelop: (body) => [Buffer.from(head), ...body, Buffer.from('}}')],
      answerHeaders: (from) => this.#heard(from),
      takesEvent: (event) => {
        if (!OUR_EVENT.test(event.event)) return false;
        this.#take(event);
        return !passesEvents;
      },
      unreachable,
      // The client's own credentials are not meant: it must not be told to log in again.
      refused: ({ message }) => ({ status: 400, type: 'invalid_request_error', message }),
    };
  }

  #heard(from: IncomingHttpHeaders): OutgoingHttpHeaders {
    const ours = Object.entries(from).flatMap(([name, value]) =>
      OUR_HEADER.test(name) && typeof value === 'string' ? [[name, value] as const] : [],
    );
    this.#answered = Object.fromEntries(ours);
    this.#routedTo = this.#answered['x-aicg-routed-to'];
    this.#ruleId = this.#answered['x-aicg-reasons']?.split(',')[0];
    const micros = Number(this.#answered['x-aicg-cost-micros'] ?? Number.NaN);
    const cents = Number(this.#answered['x-aicg-cost-cents'] ?? Number.NaN);
    this.#costMicros = [micros, cents * MICROS_PER_CENT].find(isAmount);
    return this.#answered;
  }

  /** The headers of a turn that was held were out before anything was known. */
  #take({ event, data }: SseEvent): void {
    const value = parseJson(data);
    if (!isObject(value)) return;
    if (event === 'aicg.error' && value['code'] === 'refused') {
      this.#ruleId = firstText(value['rule_ids']) ?? this.#ruleId;
      this.#refusedWhy = textOf(value['message']) ?? '';
    }
    if (event !== 'aicg.usage') return;
    const { cost_micros: micros, cost_cents: cents, decision, routed_to: routed } = value;
    this.#routedTo = textOf(routed) ?? this.#routedTo;
    this.#ruleId = firstText(isObject(decision) && decision['reasons']) ?? this.#ruleId;
    const costs = [micros, typeof cents === 'number' ? cents * MICROS_PER_CENT : undefined];
    this.#costMicros = costs.find(isAmount) ?? this.#costMicros;
  }

  /** What the gateway has decided, as far as its answer tells. */
  #decision({ last, attempt, status }: TurnOutcome): Decision {
    const rule_id = this.#ruleId ?? null;
    const severity = 'info';
    const routed = this.#routedTo;
    const said = this.#refusedWhy ?? last?.error?.upstream?.message;
    if (attempt !== undefined && attempt.gateway === undefined) {
      const summary = 'The gateway is away, so the turn went to the provider with its own key.';
      return { action: 'ALLOW', rule_id, severity, reason_code: 'GATEWAY_FALLBACK', summary };
    }
    if (Object.keys(this.#answered).length === 0 && last?.error !== undefined) {
      const gone = last.error.class === 'client_gone';
      const summary = visible(gone ? 'The client has gone.' : (said ?? ''), SUMMARY_LENGTH_MAX);
      const reason_code = 'GATEWAY_UNAVAILABLE';
      if (!gone) return { action: 'BLOCK', rule_id, severity: 'critical', reason_code, summary };
    }
    // What it let pass has a cost, whatever became of it.
    const isSent = this.#costMicros !== undefined || routed !== undefined;
    if (this.#refusedWhy !== undefined || (status >= 400 && !isSent)) {
      const summary = visible(said ?? 'The gateway refused the turn.', SUMMARY_LENGTH_MAX);
      const reason_code = 'GATEWAY_REFUSED';
      return { action: 'BLOCK', rule_id, severity: 'warn', reason_code, summary };
    }
    const summary = visible(`The gateway lets the turn pass to ${routed ?? 'a model'}.`, 300);
    return { action: 'ALLOW', rule_id, severity, reason_code: 'GATEWAY_ROUTED', summary };
  }
}

const NAME_LENGTH_MAX = 256;

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function firstText(value: unknown): string | undefined {
  return Array.isArray(value) ? textOf(value[0])?.slice(0, NAME_LENGTH_MAX) : undefined;
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
