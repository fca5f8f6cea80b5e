// From what happened to a line of the stream, for producers.
import { FORMATS } from '../shape/formats.ts';
import { STRING_LENGTH_MAX } from '../shape/shape.ts';
import { PACK_VERSION } from '../shape/version.ts';
import { MAX_INSPECT_BYTES, MAX_PREVIEW_BYTES } from './call.ts';
import { PRODUCER, type Producer } from './envelope.ts';
import { GUARDS, type InspectLimits } from './guard-bodies.ts';
import { MalformedEvent, mustBePlain, mustFitWritten } from './guards.ts';
import { EVENT_LINE_LENGTH_MAX } from './parse.ts';
import { type QuickBodies, quickBodies } from './quick-bodies.ts';
import { EVENT_BODIES, type EventBodies, type EventBody, type EventType } from './types.ts';

export interface EventWriter {
  /** One event as one line of JSON, without its newline. Throws on what contract A forbids. */
  line<T extends EventType>(type: T, body: EventBody<NoInfer<T>>, ts: string): string;
}

const RFC3339 = FORMATS.rfc3339.pattern;

const KNOWN: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(EVENT_BODIES).map(([type, fields]) => [type, new Set(Object.keys(fields))]),
);

/** Checks and serialises what every event of this producer shares, once. */
export function eventWriter(producer: Producer, limits: Partial<InspectLimits> = {}): EventWriter {
  const written = mustFitWritten(PRODUCER, producer, 'producer');
  const { inspectBytesMax = MAX_INSPECT_BYTES, previewBytesMax = MAX_PREVIEW_BYTES } = limits;
  if (!(previewBytesMax >= 0 && previewBytesMax <= STRING_LENGTH_MAX)) {
    throw new MalformedEvent('previewBytesMax', `from 0 to ${STRING_LENGTH_MAX}`);
  }
  const inspect: InspectLimits = { inspectBytesMax, previewBytesMax, utf8Bytes: limits.utf8Bytes };
  const shared = `","${JSON.stringify(written).slice(2, -1)},`;
  const quick = quickBodies(inspect);
  let lastTs = '';

  return {
    line(type, body, ts) {
      // Many events share their millisecond.
      if (ts !== lastTs) {
        if (!RFC3339.test(ts)) throw new MalformedEvent('ts', FORMATS.rfc3339.words);
        lastTs = ts;
      }
      const head = `{"v":"${PACK_VERSION}","type":"${type}","ts":"${ts}${shared}`;
      const rest = quick.body(type, body);
      if (rest !== undefined && head.length + rest.length <= EVENT_LINE_LENGTH_MAX) {
        return head + rest;
      }
      guardFields(type, body);
      const checked = GUARDS[type](body, inspect);
      remember(quick, body, checked);
      const text = head + JSON.stringify(checked).slice(1);
      return text.length <= EVENT_LINE_LENGTH_MAX ? text : shorter(head, type, checked);
    },
  };
}

/** The decision of most calls is one and the same: it is checked and spelled out once. */
function remember(quick: QuickBodies, body: object, checked: object): void {
  if (!('decision' in body) || !('decision' in checked)) return;
  quick.remember(body.decision, JSON.stringify(checked.decision));
}

/** A body with a field of the envelope's name would make a line with that key twice. */
function guardFields(type: EventType, body: object): void {
  const known = KNOWN.get(type);
  if (known === undefined) throw new MalformedEvent('type', 'a type of contract A');
  mustBePlain(body, 'body');
  for (const name in body) {
    if (!known.has(name)) throw new MalformedEvent(name, `absent from ${type}`);
  }
}

/**
 * Suggested arguments are as long as what the agent sent. An event must not fail for that: it is
 * written without them, and the agent has them from the answer.
 */
function shorter(head: string, type: EventType, body: EventBodies[EventType]): string {
  const text = head + JSON.stringify(body, withoutSuggestion).slice(1);
  if (text.length <= EVENT_LINE_LENGTH_MAX) return text;
  throw new MalformedEvent(type, `shorter than ${EVENT_LINE_LENGTH_MAX} characters`);
}

function withoutSuggestion(key: string, value: unknown): unknown {
  return key === 'suggested_args' ? null : value;
}
