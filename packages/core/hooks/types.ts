// What a client tells by its hooks, and what it is answered, in one form for all clients. A dialect
// translates between this form and the JSON of one client.
import type { JsonObject, JsonValue } from '@subluminal/contracts';

/** Who tells, and from where. */
export interface HookSender {
  /** The session of the client; it may last over several of its processes. */
  readonly sessionId: string;
  /** The folder that the client works in. */
  readonly cwd: string;
  /** Where the client writes down what happens. */
  readonly transcriptPath?: string;
  /** The sub-agent that acts, where it is one. */
  readonly subAgent?: { readonly id: string; readonly type?: string };
  /** The version of the client, where it says so. */
  readonly version?: string;
}

/** One use of a tool: of the client's own, or of an MCP server. */
export interface ToolUse {
  /** The client's id of this use; undefined where the client has none. */
  readonly useId?: string;
  /** The MCP server, as the client calls it; undefined for a tool of the client itself. */
  readonly server?: string;
  readonly tool: string;
  /** `mcp__a__b__c` may be a tool of `a` or of `a__b`, and nothing beside it says of which. */
  readonly isServerUncertain?: true;
  /** The arguments as JSON, with the text of their values as the client has written it. */
  readonly argsText: string;
}

export type HookEvent =
  | { readonly kind: 'session_start' }
  | { readonly kind: 'session_end' }
  | {
      readonly kind: 'prompt';
      readonly text: string;
      /** False for what the client has written itself, such as the result of a task in the background. */
      readonly isFromUser: boolean;
      /** Of a prompt of the user, and of what the client writes itself until the next one. */
      readonly promptId?: string;
      /** Files that the client shows its model together with the prompt, as they are named there. */
      readonly files: readonly string[];
    }
  | { readonly kind: 'before_tool'; readonly use: ToolUse }
  | {
      readonly kind: 'after_tool';
      readonly use: ToolUse;
      /** In the client's own shape. */
      readonly output: JsonValue;
      readonly isError: boolean;
      /** Whether the client lets a hook replace what its model gets to see of it. */
      readonly isReplaceable: boolean;
    }
  /**
   * The model gets the outputs of these uses next. A refusal ends its turn before that, which is all that
   * holds back an output that cannot be replaced.
   */
  | { readonly kind: 'before_model'; readonly uses: readonly ToolUse[] }
  /** A file that the instructions of a project name: the model gets it without a tool, and with no more hooks. */
  | { readonly kind: 'included_file'; readonly path: string }
  /** A file of the client's settings has changed while it runs. */
  | { readonly kind: 'config_change'; readonly path?: string }
  /** Nothing is decided about it. */
  | { readonly kind: 'other'; readonly name: string };

export type BeforeToolEvent = Extract<HookEvent, { readonly kind: 'before_tool' }>;
export type AfterToolEvent = Extract<HookEvent, { readonly kind: 'after_tool' }>;

export interface HookInput {
  readonly sender: HookSender;
  readonly event: HookEvent;
}

export type HookAnswer =
  /** Nothing to say: the client goes on as it would without a hook. */
  | { readonly do: 'pass' }
  /** Refuses a tool, a prompt or a change; the reason holds the hint. */
  | { readonly do: 'refuse'; readonly reason: string }
  /** The client asks its user whether a tool may run. */
  | { readonly do: 'ask'; readonly reason: string }
  /** Lets a tool run with these arguments in place of its own, and tells the model why, where the client can. */
  | { readonly do: 'rewrite'; readonly argsText: string; readonly note?: string }
  /** The model gets this output in place of the tool's, in the same shape, and the note beside it. */
  | { readonly do: 'replace'; readonly output: JsonValue; readonly note: string };

/** What a process that is run as a hook prints and how it ends; over HTTP, `stdout` is the body. */
export interface HookReply {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: 0 | 2;
}

/** What one line of a transcript says of tools. */
export interface TranscriptLine {
  /** Uses of tools that it names. */
  readonly uses: readonly { readonly useId: string; readonly tool: string }[];
  /** The ids of uses that have run. */
  readonly ran: readonly string[];
}

/** How a client asks its user. */
export interface ClientQuestion {
  /** Once this has happened in a session, something else may answer in place of the user. */
  readonly isOpenedBy: (event: HookEvent) => boolean;
}

/** How one client talks to its hooks. */
export interface HookDialect {
  /** The id of the client in the registry of clients; its tools are those of a server of this name. */
  readonly client: string;
  /** A text says what is wrong with it: such a call must not go on. */
  read(body: string): HookInput | string;
  /** Each answer in the strictest form that the client understands. */
  write(event: HookEvent, answer: HookAnswer): HookReply;
  /** The reply to what could not be read or answered: whatever it was, it must not go on. */
  refuseUnread(eventName: string | undefined, reason: string): HookReply;
  /** Whether the client would run a tool with exactly these arguments. */
  canRewrite(use: ToolUse, argsText: string): boolean;
  /** The names of MCP servers as the client writes them in the names of tools: `my.server` may be `my_server`. */
  writtenServerName(name: string): string;
  /** Its own question to its user; undefined where it has none that was seen to hold. */
  readonly question?: ClientQuestion;
  /** Whether a tool is one of this MCP server, in a client that does not tell the two apart. */
  readonly isToolOf?: (tool: string, server: string) => boolean;
  /** Reads what the client writes down; without it, nobody looks afterwards whether its hooks were silent. */
  readonly transcriptLine?: (line: string) => TranscriptLine;
  /**
   * Arguments of a use that its hook keeps silent about, from the line of the transcript that tells of it: where a
   * command runs, for example. The policy sees them beside the others.
   */
  readonly transcriptArgs?: (line: string, useId: string) => JsonObject | undefined;
}
