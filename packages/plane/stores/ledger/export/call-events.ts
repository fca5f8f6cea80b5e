// Which events of a run are about one call.
import { isObject, type JsonObject } from '@subluminal/contracts';
import { readArgs } from '../args/read-args.ts';

/** The event, when it is about this call. */
export function eventAbout(line: string, callId: string): JsonObject | undefined {
  // Most lines need not be parsed; an id that JSON spells in another way is looked at.
  if (!line.includes(callId) && /^[\w-]+$/.test(callId)) return undefined;
  const event = readArgs(line);
  const about = event?.['call'] ?? event?.['breaker'];
  return isObject(about) && about['call_id'] === callId ? event : undefined;
}
