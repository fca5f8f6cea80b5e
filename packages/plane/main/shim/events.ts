// The events of one shim on their way to the sink.
import {
  type EventBody,
  type EventType,
  type EventWriter,
  MalformedEvent,
} from '@subluminal/contracts';
import type { EventSink } from '@subluminal/core/ports';
import { type Emit, leanBody } from '@subluminal/core/session';

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
  const write = (
    make: () => string,
    rest: Omit<Parameters<EventSink['write']>[0], 'line'>,
  ): void => {
    try {
      sink.write({ line: make(), ...rest });
    } catch (cause) {
      // A malformed event is our own fault; it must not take the call down with it.
      if (!(cause instanceof MalformedEvent)) throw cause;
      warn(`an event could not be written: ${cause.message}`);
    }
  };
  return {
    emit(event) {
      const ts = new Date().toISOString();
      const line = (one: Emit) => writer.line(one.type, one.body, ts);
      write(() => line(event), { kind: event.durability, lean: () => line(leanBody(event)) });
    },
    record(type, body) {
      write(() => writer.line(type, body, new Date().toISOString()), { kind: 'durable' });
    },
  };
}

export type { Recorder };
export { createRecorder };
