import { type Failure, isJsonObject, type JsonObject, tableFailure } from '@subluminal/contracts';

/** The body of a request as JSON. Its outline has found the structure, but has not looked into every string. */
export function parseBody(body: Buffer): JsonObject | Failure {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    if (isJsonObject(value)) return value;
  } catch {
    // An escape or a control character that JSON does not have.
  }
  return tableFailure('SUB_WIRE_REQUEST', 'It is not valid JSON.');
}
