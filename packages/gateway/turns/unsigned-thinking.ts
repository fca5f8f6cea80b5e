// Thoughts that a provider of another wire had. The client got them with an empty signature and sends them back with
// every turn; Anthropic would refuse the whole conversation for them, so they are left out.
import { type Failure, isFailure } from '@subluminal/contracts';
import type { Wire } from '@subluminal/core/wires';
import { parseBody } from './parse-body.ts';

/** Found much faster than the member; most requests have neither. */
const EMPTY_STRING = ':""';
const EMPTY_SIGNATURE = '"signature":""';

/** The same bytes where all thoughts are signed. */
export function withoutUnsignedThinking(body: Buffer, wire: Wire): Buffer | Failure {
  if (wire.name !== 'anthropic_messages') return body;
  if (!body.includes(EMPTY_STRING) || !body.includes(EMPTY_SIGNATURE)) return body;
  const value = parseBody(body);
  if (isFailure(value)) return value;
  const request = wire.readRequest(value);
  return isFailure(request)
    ? request
    : Buffer.from(JSON.stringify(wire.writeRequest(request).value));
}
