// Keeps the events of a session, so that a stream goes on where it was cut.
import type {
  EventId,
  EventStore,
  StreamId,
} from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

interface Stored {
  readonly streamId: StreamId;
  readonly message: JSONRPCMessage;
}

/** An event id is the position among all events of the session. */
export function eventStore(): EventStore {
  const events: Stored[] = [];
  return {
    async storeEvent(streamId, message) {
      return String(events.push({ streamId, message }) - 1);
    },
    async getStreamIdForEventId(eventId) {
      return events[Number(eventId)]?.streamId;
    },
    async replayEventsAfter(lastEventId: EventId, { send }) {
      const position = Number(lastEventId);
      const streamId = events[position]?.streamId;
      if (streamId === undefined) throw new Error(`There is no event ${lastEventId}`);
      for (const [index, event] of events.entries()) {
        // The event that opens a stream has no message.
        const isEmpty = Object.keys(event.message).length === 0;
        if (index <= position || event.streamId !== streamId || isEmpty) continue;
        await send(String(index), event.message);
      }
      return streamId;
    },
  };
}
