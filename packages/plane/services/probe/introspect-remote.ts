// Asks a server that is reached by an address what it offers, and lets go of it.
import type { Incoming, ServerEnd } from '../transports/types.ts';
import { converse, Dialogue, type ServerListing, TOO_MUCH } from './conversation.ts';

interface RemoteLook {
  readonly timeoutMs: number;
  /** Of `sub`, which is the client here. */
  readonly version: string;
}

export async function introspectRemote(
  server: ServerEnd,
  { timeoutMs, version }: RemoteLook,
): Promise<ServerListing | { readonly why: string }> {
  const { transport } = server;
  const dialogue = new Dialogue((text) => transport.write(Buffer.from(text.trimEnd())));
  transport.read({
    incoming: (messages) => {
      for (const message of messages) takeInto(dialogue, message);
    },
    end: () => dialogue.end('has closed the connection'),
  });
  const late = `has not told all within ${timeoutMs / 1_000} s`;
  const timer = setTimeout(() => dialogue.end(late), timeoutMs);
  try {
    return await converse(dialogue, version);
  } finally {
    clearTimeout(timer);
    transport.stop();
    await server.close();
  }
}

function takeInto(dialogue: Dialogue, message: Incoming): void {
  if (message.kind === 'message') dialogue.message(message.bytes);
  else dialogue.end(TOO_MUCH);
}
