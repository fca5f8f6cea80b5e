// The least that the engine needs of a wire, in Anthropic's words, for tests of streams and faults.
import type { ObservedAnswer, SseEvent, UpstreamError, Wire } from '@subluminal/core/wires';
import { sseText } from '@subluminal/core/wires';
import { coreWires, type TurnWires } from '../wires.ts';

const UNSEEN: ObservedAnswer = {
  id: undefined,
  model: undefined,
  stop: undefined,
  usage: undefined,
  error: undefined,
  toolCalls: [],
  hasContent: false,
  isComplete: false,
  contentLength: 0,
};

function unused(): never {
  throw new Error('not in this test');
}

function errorIn(value: unknown): UpstreamError {
  const { error } = value as { error: { type: string; message: string } };
  return { status: error.type === 'overloaded_error' ? 529 : 500, ...error };
}

function seenAfter(seen: ObservedAnswer, { event, data }: SseEvent): ObservedAnswer {
  if (event === 'error') return { ...seen, error: errorIn(JSON.parse(data)) };
  if (event === 'message_stop') return { ...seen, isComplete: true };
  if (event !== 'content_block_delta') return seen;
  return { ...seen, hasContent: true, contentLength: seen.contentLength + data.length };
}

const plainWire: Wire = {
  name: 'anthropic_messages',
  readRequest: unused,
  writeRequest: unused,
  readAnswer: unused,
  writeAnswer: unused,
  answerReader: unused,
  answerWriter: unused,
  observer: () => {
    let seen = UNSEEN;
    return {
      push: (event) => {
        seen = seenAfter(seen, event);
      },
      whole: (body) => {
        seen =
          body['type'] === 'error'
            ? { ...seen, error: errorIn(body) }
            : { ...seen, isComplete: true, hasContent: true };
      },
      get seen() {
        return seen;
      },
    };
  },
  readError: (status, body) => ({ ...errorIn(JSON.parse(body)), status }),
  writeError: ({ type, message }) => ({ type: 'error', error: { type, message } }),
  writeErrorEvent: ({ type, message }) =>
    sseText('error', JSON.stringify({ type: 'error', error: { type, message } })),
  keepAlive: 'event: ping\ndata: {"type":"ping"}\n\n',
};

export const plainWires: TurnWires = { ...coreWires, wire: () => plainWire };
