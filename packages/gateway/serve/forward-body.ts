// What the local proxy sends: the envelope, and the request of the client as its bytes were.
import {
  ENVELOPE_VERSION,
  type Failure,
  type ModelEnvelope,
  parseModelEnvelope,
  tableFailure,
  WIRE_PROTOCOL,
} from '@subluminal/contracts';
import { type MemberRange, membersAt } from '@subluminal/core/json';
import type { WireName } from '@subluminal/core/wires';
import { parseJson } from '@subluminal/plane/os';

export interface ForwardedTurn {
  readonly envelope: ModelEnvelope;
  readonly wire: WireName;
  readonly kind: 'answer' | 'count_tokens';
  readonly body: Buffer;
}

/** Tags of the user are small. */
const ENVELOPE_BYTES_MAX = 262_144;
const [MAJOR] = ENVELOPE_VERSION.split('.');

export function readForwardBody(bytes: Buffer): ForwardedTurn | Failure {
  const outer = membersOf(bytes, 0);
  const envelope = outer.get('envelope');
  const wire = outer.get('wire');
  if (envelope === undefined || wire === undefined) {
    return invalid('It needs an "envelope" and a "wire".');
  }
  if (envelope.end - envelope.start > ENVELOPE_BYTES_MAX) {
    return invalid(`Its envelope is larger than ${ENVELOPE_BYTES_MAX} bytes.`);
  }
  const inner = membersOf(bytes, wire.start);
  const body = inner.get('body');
  const protocol = scalarOf(bytes, inner.get('protocol'));
  const name = WIRE_PROTOCOL.values.find((one) => one === protocol);
  if (body === undefined || name === undefined) {
    return invalid('Its wire needs a known "protocol" and a "body".');
  }
  const parsed = parseModelEnvelope(
    parseJson(bytes.toString('utf8', envelope.start, envelope.end)),
  );
  if (!parsed.ok) return invalid('Its envelope is not well-formed.');
  if (parsed.value.schema_version.split('.')[0] !== MAJOR) {
    return invalid(
      `Its envelope is of another version than ${ENVELOPE_VERSION}; update the proxy.`,
    );
  }
  const kind = scalarOf(bytes, inner.get('kind')) === 'count_tokens' ? 'count_tokens' : 'answer';
  return { envelope: parsed.value, wire: name, kind, body: bytes.subarray(body.start, body.end) };
}

/** By their names; a name that stands there twice counts as none. */
function membersOf(bytes: Buffer, at: number): ReadonlyMap<string, MemberRange['value']> {
  const members = new Map<string, MemberRange['value']>();
  const twice = new Set<string>();
  for (const { key, value } of membersAt(bytes, at)) {
    if (members.has(key)) twice.add(key);
    members.set(key, value);
  }
  for (const key of twice) members.delete(key);
  return members;
}

function scalarOf(bytes: Buffer, range: MemberRange['value'] | undefined): unknown {
  return (
    range && parseJson(bytes.toString('utf8', range.start, Math.min(range.end, range.start + 64)))
  );
}

function invalid(detail: string): Failure {
  return tableFailure('SUB_WIRE_REQUEST', detail);
}
