// Thoughts that a provider of another wire had. The client got them with an empty signature and sends them back with
// every turn; Anthropic would refuse the whole conversation for them, so they are left out.
import { type Failure, isFailure } from '@subluminal/contracts';
import type { Wire } from '@subluminal/core/wires';
import { parseBody } from './parse-body.ts';

/** Found much faster than the member; most requests have neither. */
const EMPTY_STRING = ':""';
const EMPTY_SIGNATURE = '"signature":""';

/** The same bytes where all thoughts are signed. */
export function withoutUnsignedThinking(body: Uint8Array, wire: Wire): Uint8Array | Failure {
  if (wire.name !== 'anthropic_messages') return body;
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  if (!bytes.includes(EMPTY_STRING) || !bytes.includes(EMPTY_SIGNATURE)) return body;
  const value = parseBody(bytes);
  if (isFailure(value)) return value;
  const request = wire.readRequest(value);
  return isFailure(request)
    ? request
    : Buffer.from(JSON.stringify(wire.writeRequest(request).value));
}
