// One turn on its way: HTTP in, a governor that decides, HTTP out, the answer back. The engine knows wires and
// streams; a governor knows who asks, what is allowed, where it goes and what it costs. There are three: the one of
// a developer's own run, the local proxy's, and the gateway's.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Failure } from '@subluminal/contracts';
import type { Endpoint } from '@subluminal/core/routing';
import type {
  DegradedFeature,
  ObservedAnswer,
  RequestOutline,
  SseEvent,
  TurnRefusal,
  UpstreamError,
  WireName,
} from '@subluminal/core/wires';
import type { Provider } from '../providers/types.ts';

/** Each kind has an answer per client that stops it from trying again: `refusalAnswer`. */
export type { TurnRefusal } from '@subluminal/core/wires';

export interface TurnRequest {
  readonly traceId: string;
  readonly wire: WireName;
  readonly kind: 'answer' | 'count_tokens';
  /** The path behind the wire's prefix, with its query: it goes upstream as it came. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly outline: RequestOutline;
  readonly receivedMs: number;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
}

export interface TurnGovernor {
  /** Never throws for what a client, a policy or a store may do: a failure is a refusal. */
  begin(turn: TurnRequest): Promise<TurnPlan>;
}

export type TurnPlan =
  /** The tail goes out before a refusal in a stream that was held open. */
  | { readonly kind: 'refuse'; readonly refusal: TurnRefusal; readonly tail?: TurnTail }
  /** The stream opens and is kept alive until it is known how it goes on. */
  | { readonly kind: 'hold'; readonly outcome: Promise<TurnPlan> }
  | { readonly kind: 'send'; readonly turn: GovernedTurn };

export interface GovernedTurn {
  /** After redaction; the same bytes when nothing was redacted. */
  readonly body: Buffer;
  readonly attempts: readonly Attempt[];
  /** Headers of the answer, known before its first byte. */
  readonly headers: { readonly [name: string]: string };
  attemptEnded(attempt: Attempt, outcome: AttemptOutcome): void;
  /**
   * Settles the turn, exactly once, whatever happened. Resolves when it is on record; what it returns goes out
   * before the answer ends: events for a stream, headers for an answer that is not streamed.
   */
  end(outcome: TurnOutcome): Promise<TurnTail>;
}

export interface TurnTail {
  /** For a client that consumes them: the SDKs of OpenAI fail on events that they do not know. */
  readonly events: string;
  readonly headers: { readonly [name: string]: string };
}

/** One call of one upstream. The next is tried only while nothing of the answer was sent to the client. */
export interface Attempt {
  readonly attemptNo: number;
  readonly provider: Provider;
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly deployment?: string;
  /** `own`: the credentials of the client go on unchanged. */
  readonly credentials:
    | { readonly kind: 'own' }
    | { readonly kind: 'key'; readonly key: string }
    | { readonly kind: 'none' };
  readonly timeoutMs: number;
  /** Takes a place at the endpoint; false when it is full or known to be broken, and the next is tried. */
  readonly admit?: () => Promise<boolean>;
  /** Leaves the place. */
  readonly release: () => void;
  /** Set where the upstream is a gateway, and not a provider. */
  readonly gateway?: GatewayLink;
}

/** How a gateway is spoken to: it takes a wire's request in an envelope, and puts events of its own into a stream. */
export interface GatewayLink {
  /** The request as the gateway takes it, in pieces. */
  envelop(body: readonly Uint8Array[]): readonly Uint8Array[];
  /** What the client gets of the headers of an answer beside those of its wire; asked once per answer. */
  answerHeaders(from: IncomingHttpHeaders): OutgoingHttpHeaders;
  /** Hears every event first. True for one that is not of the wire: it stays out of the client's stream. */
  takesEvent(event: SseEvent): boolean;
  /** What the client hears when the gateway can not be reached. */
  readonly unreachable: UpstreamError;
  /** What the client hears when the gateway does not take our credentials. */
  refused(error: UpstreamError): UpstreamError;
}

export interface AttemptOutcome {
  readonly latencyMs: number;
  readonly observed: ObservedAnswer;
  readonly degraded: readonly DegradedFeature[];
  /** None when the answer came whole. */
  readonly error?: AttemptError;
}

export interface AttemptError {
  readonly class:
    | 'upstream_4xx'
    | 'upstream_429'
    | 'upstream_5xx'
    | 'upstream_timeout'
    | 'upstream_disconnect'
    | 'upstream_malformed'
    | 'client_gone'
    | 'internal';
  readonly upstream?: UpstreamError;
  readonly failure?: Failure;
}

export interface TurnOutcome {
  /** The attempt whose answer the client got, in whole or in part; undefined when none did. */
  readonly attempt: Attempt | undefined;
  readonly last: AttemptOutcome | undefined;
  readonly isPartial: boolean;
  readonly status: number;
  readonly bytesOut: number;
  /** From the request to the first byte of the answer; undefined while none has gone out. */
  readonly firstByteMs: number | undefined;
}
