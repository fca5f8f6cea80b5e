// The events of one shim on their way to the sink.
import {
  type EventBody,
  type EventType,
  type EventWriter,
  MalformedEvent,
} from '@subluminal/contracts';
import type { EventSink } from '@subluminal/core/ports';
import { type Emit, leanLine } from '@subluminal/core/session';

interface Recorder {
  /** An event of the session. */
  emit(event: Emit): void;
  /** An event of the shim itself. */
  record<T extends EventType>(type: T, body: EventBody<NoInfer<T>>): void;
}

/** Writes events with the time of the wall, which is what people compare them by. */
function createRecorder(
  writer: EventWriter,
  sink: EventSink,
  warn: (text: string) => void,
): Recorder {
  const clock = wallClock();
  const line = ({ type, body }: Emit, ts: string) => writer.line(type, body, ts);
  // A malformed event is our own fault; it must not take the call down with it.
  const complain = (cause: unknown): void => {
    if (!(cause instanceof MalformedEvent)) throw cause;
    warn(`an event could not be written: ${cause.message}`);
  };
  return {
    emit(event) {
      const ts = clock();
      try {
        const text = line(event, ts);
        if (event.durability === 'durable') sink.write({ line: text, kind: 'durable' });
        else sink.write({ line: text, kind: 'preview', lean: leanLine });
      } catch (cause) {
        complain(cause);
      }
    },
    record(type, body) {
      try {
        sink.write({ line: writer.line(type, body, clock()), kind: 'durable' });
      } catch (cause) {
        complain(cause);
      }
    },
  };
}

/** The time as events have it; spelled out anew only when it has changed. */
function wallClock(): () => string {
  let lastMs = Number.NaN;
  let text = '';
  return () => {
    const nowMs = Date.now();
    if (nowMs !== lastMs) text = new Date(nowMs).toISOString();
    lastMs = nowMs;
    return text;
  };
}

export type { Recorder };
export { createRecorder };
