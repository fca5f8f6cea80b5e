// What the scripted model says: a list of turns, the same for every wire.

export interface CallTurn {
  readonly kind: 'call';
  /** The name of the MCP server in the client's config, and of its tool. */
  readonly server: string;
  readonly tool: string;
  readonly args: { readonly [name: string]: unknown };
}

interface TextTurn {
  readonly kind: 'text';
  readonly text: string;
}

export type Turn = CallTurn | TextTurn;

/** A request body as it came, checked only as far as the script needs it. */
export type Body = { readonly [name: string]: unknown };

/** How one wire reads a request and writes a turn. */
export interface Wire {
  /** Whether the client wants the next turn of its task, not a title or a summary beside it. */
  isTask(body: Body): boolean;
  /** What the tools gave back so far, the texts of one result joined. */
  results(body: Body): readonly string[];
  answer(turn: Turn, body: Body): Answer;
}

export interface Answer {
  readonly type: string;
  readonly text: string;
}

export const call = (server: string, tool: string, args: CallTurn['args']): CallTurn => ({
  kind: 'call',
  server,
  tool,
  args,
});

export const text = (words: string): TextTurn => ({ kind: 'text', text: words });

export function isBody(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function listOf(value: unknown): readonly Body[] {
  return Array.isArray(value) ? value.filter(isBody) : [];
}

/** Server-sent events; each carries its own type, as both wires want it. */
export function eventStream(events: readonly (Body & { readonly type: string })[]): Answer {
  const blocks = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  return { type: 'text/event-stream', text: blocks.join('') };
}
