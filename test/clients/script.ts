// What the scripted model says: a list of turns, the same for every wire.
import { createHash } from 'node:crypto';

export interface ToolCall {
  /** The name of the MCP server in the client's config; none for a tool of the client itself. */
  readonly server?: string;
  readonly tool: string;
  readonly args: { readonly [name: string]: unknown };
  /** Of a tool of Codex that takes a text in place of arguments. */
  readonly input?: string;
  /** The group of a tool of Codex itself. */
  readonly group?: string;
}

/** One call, or several at once. */
interface CallTurn {
  readonly kind: 'call';
  readonly calls: readonly ToolCall[];
}

interface TextTurn {
  readonly kind: 'text';
  readonly text: string;
}

/** The provider fails. */
interface ErrorTurn {
  readonly kind: 'error';
  readonly status: number;
  readonly body: Body;
}

export type SaidTurn = (CallTurn | TextTurn) & {
  /** What happens before the model says it. */
  readonly before?: () => void | Promise<void>;
};
export type Turn = SaidTurn | ErrorTurn;

/** A request body as it came, checked only as far as the script needs it. */
export type Body = { readonly [name: string]: unknown };

/** How one wire reads a request and writes a turn. */
export interface Wire {
  /** Whether the client wants the next turn of its task, not a title or a summary beside it. */
  isTask(body: Body): boolean;
  /** What the client has put to the model in its user's name. */
  prompts(body: Body): readonly string[];
  /** What the tools gave back so far, the texts of one result joined. */
  results(body: Body): readonly string[];
  answer(turn: SaidTurn, body: Body): Answer;
}

export interface Answer {
  readonly type: string;
  readonly text: string;
}

export const call = (server: string, tool: string, args: ToolCall['args']): CallTurn => ({
  kind: 'call',
  calls: [{ server, tool, args }],
});

/** The same, once something has happened. */
export const after = (before: SaidTurn['before'], turn: SaidTurn): SaidTurn => ({
  ...turn,
  ...(before !== undefined && { before }),
});

/** Calls of the client's own tools, all in one turn. */
export const calls = (...several: readonly ToolCall[]): CallTurn => ({
  kind: 'call',
  calls: several,
});

export const text = (words: string): TextTurn => ({ kind: 'text', text: words });

export const failure = (status: number, body: Body): ErrorTurn => ({ kind: 'error', status, body });

/** The turn that follows so many results. */
export function turnAfter(script: readonly Turn[], results: number): Turn {
  let left = results;
  for (const turn of script) {
    if (left <= 0) return turn;
    left -= turn.kind === 'call' ? turn.calls.length : 0;
  }
  return text('Nothing more.');
}

/** Of a call, the same in an answer that is given twice, and another one in each conversation. */
export function callId(prompts: readonly string[], at: number): string {
  return `${createHash('sha256').update(prompts.join('\n')).digest('hex').slice(0, 8)}_${at}`;
}

/** The name of a tool where there are no groups of tools. */
export function flatName({ server, tool }: ToolCall): string {
  return server === undefined ? tool : `mcp__${server}__${tool}`;
}

const FRAGMENT_LENGTH = 7;

/** Arguments and texts come in pieces, cut wherever it happens. */
export function fragments(whole: string): readonly string[] {
  const count = Math.ceil(whole.length / FRAGMENT_LENGTH);
  return Array.from({ length: count }, (_, at) =>
    whole.slice(at * FRAGMENT_LENGTH, (at + 1) * FRAGMENT_LENGTH),
  );
}

export function isBody(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function listOf(value: unknown): readonly Body[] {
  return Array.isArray(value) ? value.filter(isBody) : [];
}

export function jsonAnswer(body: Body): Answer {
  return { type: 'application/json', text: JSON.stringify(body) };
}

/** Server-sent events; each carries its own type, as two of the wires want it. */
export function eventStream(events: readonly (Body & { readonly type: string })[]): Answer {
  const blocks = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  return { type: 'text/event-stream', text: blocks.join('') };
}
