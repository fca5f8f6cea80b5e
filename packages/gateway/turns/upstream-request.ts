// The request as one upstream gets it: address, headers, body.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { type Failure, isFailure, isJsonObject } from '@subluminal/contracts';
import { membersAt } from '@subluminal/core/json';
import { type Translation, translate, type Wire, type WireName } from '@subluminal/core/wires';
import { parseJson } from '@subluminal/plane/os';
import { withoutCredentials } from '../providers/client-headers.ts';
import type { UpstreamTarget } from '../providers/types.ts';
import { parseBody } from './parse-body.ts';
import type { Attempt, GovernedTurn, TurnRequest } from './types.ts';
import { withoutUnsignedThinking } from './unsigned-thinking.ts';
import type { TurnWires } from './wires.ts';

export interface UpstreamRequest {
  readonly kind: 'request';
  readonly wire: WireName;
  readonly url: string;
  readonly headers: OutgoingHttpHeaders;
  /** In pieces: most of it is the request of the client, where it stands. */
  readonly body: readonly Uint8Array[];
  /** For a provider of another wire: the way back. */
  readonly translation: Translation | undefined;
  /** We asked for the usage at the end of a stream, and the client did not. */
  readonly hasAddedUsage: boolean;
}

/** The same wire where the provider speaks it: nothing is lost then. */
export function upstreamWire(attempt: Attempt, wire: WireName): WireName {
  const wires = attempt.provider.wires(attempt.endpoint);
  return wires.includes(wire) ? wire : (wires[0] ?? wire);
}

export function upstreamRequest(
  attempt: Attempt,
  { turn, governed, wires }: { turn: TurnRequest; governed: GovernedTurn; wires: TurnWires },
): UpstreamRequest | Failure {
  const wire = upstreamWire(attempt, turn.wire);
  const isSame = wire === turn.wire;
  const translation = isSame
    ? undefined
    : translated(attempt, {
        from: wires.wire(turn.wire),
        to: wires.wire(wire),
        body: governed.body,
      });
  if (isFailure(translation)) return translation;
  const body =
    translation === undefined
      ? bodyWithModel(attempt, { turn, governed, wires })
      : [Buffer.from(JSON.stringify(translation.body))];
  if (isFailure(body)) return body;
  const added = isSame && isStreamed(turn) ? withStreamUsage(body, turn) : undefined;
  return {
    kind: 'request',
    wire,
    url: upstreamUrl(attempt, { kind: turn.kind, wire, query: isSame ? queryOf(turn.path) : '' }),
    headers: {
      accept: isStreamed(turn) ? 'text/event-stream' : 'application/json',
      ...upstreamHeaders(attempt, turn.headers),
      'content-type': 'application/json',
    },
    body: attempt.gateway?.envelop(added ?? body) ?? added ?? body,
    translation,
    hasAddedUsage: added !== undefined,
  };
}

function translated(
  attempt: Attempt,
  { from, to, body }: { from: Wire; to: Wire; body: Buffer },
): Translation | Failure {
  const value = parseBody(body);
  if (isFailure(value)) return value;
  return translate({ from, to, body: value, model: attempt.deployment ?? attempt.model });
}

function bodyWithModel(
  attempt: Attempt,
  { turn, governed, wires }: { turn: TurnRequest; governed: GovernedTurn; wires: TurnWires },
): readonly Uint8Array[] | Failure {
  const body = withoutUnsignedThinking(governed.body, wires.wire(turn.wire));
  if (isFailure(body)) return body;
  const outline = body === turn.body ? turn.outline : wires.outline(turn.wire, body);
  if (isFailure(outline)) return outline;
  return wires.withModel(body, outline, attempt.deployment ?? attempt.model);
}

const STREAM_OPTIONS = 'stream_options';
const ASK_USAGE = Buffer.from(`{"${STREAM_OPTIONS}":{"include_usage":true},`);
const OPEN_BRACE = 0x7b;

/** A chat stream tells its usage only when asked to. Undefined when the client has asked itself. */
function withStreamUsage(
  pieces: readonly Uint8Array[],
  { wire, outline }: TurnRequest,
): readonly Uint8Array[] | undefined {
  if (wire !== 'openai_chat_completions') return undefined;
  const [first, ...rest] = pieces;
  if (outline.hasStreamOptions !== true && first !== undefined) {
    return [ASK_USAGE, first.subarray(first.indexOf(OPEN_BRACE) + 1), ...rest];
  }
  const bytes = Buffer.concat(pieces);
  const range = membersAt(bytes, 0).find(({ key }) => key === STREAM_OPTIONS)?.value;
  if (range === undefined) throw new Error('the outline has seen other members');
  const { start, end } = range;
  const asked = parseJson(bytes.toString('utf8', start, end));
  const options = isJsonObject(asked) ? asked : {};
  if (options['include_usage'] === true) return undefined;
  const written = Buffer.from(JSON.stringify({ ...options, include_usage: true }));
  return [bytes.subarray(0, start), written, bytes.subarray(end)];
}

export function isStreamed({ kind, outline }: TurnRequest): boolean {
  return kind === 'answer' && outline.isStream;
}

export function upstreamUrl(
  { provider, endpoint, model, deployment }: Attempt,
  target: Pick<UpstreamTarget, 'kind' | 'wire' | 'query'>,
): string {
  const named = deployment === undefined ? { model } : { model, deployment };
  return provider.url({ endpoint, ...named, ...target });
}

export function upstreamHeaders(
  { provider, credentials }: Attempt,
  headers: IncomingHttpHeaders,
): OutgoingHttpHeaders {
  const from = credentials.kind === 'none' ? withoutCredentials(headers) : headers;
  const key = credentials.kind === 'key' ? credentials.key : undefined;
  return { 'user-agent': 'subluminal', ...provider.headers(from, key) };
}

export function queryOf(path: string): string {
  const at = path.indexOf('?');
  return at === -1 ? '' : path.slice(at + 1);
}
