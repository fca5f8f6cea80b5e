// The events of turns, and their counts for the account of the run. No text of a prompt or an answer is kept.
import {
  type CallError,
  type ContentOutcome,
  type Decision,
  type EventBody,
  type EventType,
  type EventWriter,
  eventDecision,
  eventWriter,
  type JsonObject,
  MalformedEvent,
  NO_CALLS,
  type PolicyRef,
  type Producer,
  type ShimSummary,
  TRACE_RULES_MAX,
  TURN_TOOL_CALLS_MAX,
} from '@subluminal/contracts';
import type { TraceStep } from '@subluminal/core/policy';
import type { ObservedAnswer, Usage } from '@subluminal/core/wires';
import type { BatchingSink } from '@subluminal/plane/sink';

export interface RecordedTurn {
  readonly callId: string;
  readonly provider: string;
  readonly model: string;
  readonly facts: JsonObject;
  readonly bytesIn: number;
  readonly sessionId: string | undefined;
  readonly estimateMicros: number | undefined;
  readonly startedMs: number;
}

export interface TurnDecided {
  readonly decision: Decision;
  readonly policy: PolicyRef;
  readonly riskClass: readonly string[];
  readonly trace: readonly TraceStep[];
  readonly content: ContentOutcome | undefined;
}

export interface TurnEnded {
  readonly status: EventBody<'turn_end'>['status'];
  readonly bytesOut: number;
  readonly firstByteMs: number | undefined;
  readonly usage: Usage | undefined;
  readonly costMicros: number | undefined;
  readonly observed: ObservedAnswer | undefined;
  readonly error: CallError | undefined;
}

interface RecorderOptions {
  readonly producer: Producer;
  readonly sink: BatchingSink;
  readonly warn: (text: string) => void;
}

const TEXT_LENGTH_MAX = 256;

export const NO_TURNS = { ...NO_CALLS, calls_spared: 0 } satisfies ShimSummary;

export class TurnRecorder {
  readonly #writer: EventWriter;
  readonly #sink: BatchingSink;
  readonly #warn: (text: string) => void;
  readonly #counts = { ...NO_TURNS };
  #costMicros = 0;

  constructor({ producer, sink, warn }: RecorderOptions) {
    this.#writer = eventWriter(producer);
    this.#sink = sink;
    this.#warn = warn;
  }

  get summary(): ShimSummary {
    return { ...this.#counts };
  }

  /** What its turns have cost, as far as that is known. */
  get costMicros(): number {
    return this.#costMicros;
  }

  start(turn: RecordedTurn): void {
    this.#counts.calls_total++;
    const { sessionId, estimateMicros } = turn;
    this.record('turn_start', {
      call: {
        ...refOf(turn),
        transport: 'messages_api',
        bytes_in: turn.bytesIn,
        preview: { truncated: false, args_preview: JSON.stringify(turn.facts) },
        seq: this.#counts.calls_total,
        ...(sessionId !== undefined && { session_id: sessionId.slice(0, TEXT_LENGTH_MAX) }),
        ...(estimateMicros !== undefined && { estimate_micros: estimateMicros }),
      },
    });
  }

  decided(turn: RecordedTurn, decided: TurnDecided): void {
    const { decision, policy, riskClass, trace, content } = decided;
    const counts = this.#counts;
    if (decision.action === 'ALLOW') counts.calls_allowed++;
    else if (decision.action === 'THROTTLE') counts.calls_throttled++;
    else counts.calls_blocked++;
    const { would } = decision;
    if (decision.action === 'ALLOW' && would !== undefined && would.action !== 'ALLOW') {
      counts.calls_spared++;
    }
    this.record('turn_decision', {
      call: {
        ...refOf(turn),
        ...(riskClass.length > 0 && { risk_class: riskClass }),
        ...(content !== undefined && { content }),
      },
      decision: eventDecision(decision, policy),
      counter_scope: 'run',
      ...(trace.length > 0 && { trace: trace.slice(0, TRACE_RULES_MAX) }),
    });
    // A decision is on record before it is applied.
    this.#sink.push();
  }

  ended(turn: RecordedTurn, ended: TurnEnded): void {
    const { status, observed, usage, costMicros, error, firstByteMs } = ended;
    this.#costMicros += costMicros ?? 0;
    const hasFailed = status === 'ERROR' || status === 'TIMEOUT';
    if (hasFailed && error?.class !== 'policy_block') this.#counts.errors_total++;
    const toolCalls = observed?.toolCalls ?? [];
    this.record('turn_end', {
      call: refOf(turn),
      status,
      latency_ms: Math.max(0, Math.round(performance.now() - turn.startedMs)),
      bytes_out: ended.bytesOut,
      // The answer itself is not kept.
      preview: { truncated: true },
      ...(error !== undefined && { error }),
      ...(usage !== undefined && { usage: usageOf(usage, costMicros) }),
      ...(toolCalls.length > 0 && {
        tool_calls: toolCalls.slice(0, TURN_TOOL_CALLS_MAX).map(({ id, name }) => ({
          id: id.slice(0, TEXT_LENGTH_MAX),
          name: name.slice(0, TEXT_LENGTH_MAX),
        })),
      }),
      ...(observed?.stop !== undefined && { stop_reason: observed.stop }),
      ...(firstByteMs !== undefined && { first_byte_ms: Math.max(0, Math.round(firstByteMs)) }),
    });
    this.#sink.push();
  }

  record<T extends EventType>(type: T, body: EventBody<NoInfer<T>>): void {
    try {
      const line = this.#writer.line(type, body, new Date().toISOString());
      this.#sink.write({ line, kind: 'durable' });
    } catch (cause) {
      // A malformed event is our own fault; it must not take the turn down with it.
      if (!(cause instanceof MalformedEvent)) throw cause;
      this.#warn(`an event could not be written: ${cause.message}`);
    }
  }
}

function refOf({ callId, provider, model }: RecordedTurn) {
  return { call_id: callId, provider, model };
}

function usageOf(usage: Usage, costMicros: number | undefined) {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  return {
    tokens_in: inputTokens + cacheReadTokens + cacheWriteTokens,
    tokens_out: outputTokens,
    ...(costMicros !== undefined && { cost_micros: costMicros }),
    ...(cacheReadTokens > 0 && { cache_read_tokens: cacheReadTokens }),
    ...(cacheWriteTokens > 0 && { cache_write_tokens: cacheWriteTokens }),
    ...(reasoningTokens !== undefined && { reasoning_tokens: reasoningTokens }),
    ...(usage.isEstimated && { estimated: true }),
  };
}
