// What the bodies of all clients have in common. A body that two readers could understand differently is
// refused: the client may be the other reader.
import { isJsonObject, type JsonObject, type JsonValue } from '@subluminal/contracts';
import { memberText } from '../json/index.ts';
import { hasDuplicateKeys } from '../json/text-parts.ts';
import { quote } from '../text/visible.ts';
import type { HookEvent, HookInput, HookSender, ToolUse } from './types.ts';

/** Ids, names and paths. A longer one comes from nobody who means well. */
const NAME_LENGTH_MAX = 4_096;

export type PromptEvent = Extract<HookEvent, { readonly kind: 'prompt' }>;

export interface HookBody {
  /** As the client wrote it. */
  readonly text: string;
  readonly members: JsonObject;
}

/** A text says what is wrong with the body. */
export type HookReader<T> = (body: HookBody) => T | string;

/** How the events of a client are read, by their names; nothing is decided about others. */
export interface EventReaders {
  readonly [name: string]: HookReader<HookEvent>;
}

export const SESSION_EVENTS = {
  SessionStart: () => ({ kind: 'session_start' }),
  SessionEnd: () => ({ kind: 'session_end' }),
} satisfies EventReaders;

/** What a body tells, or what is wrong with it: an event that is `unanswered`, for example. */
export function readInput(
  text: string,
  events: EventReaders,
  unanswered?: RegExp,
): HookInput | string {
  const body = readBody(text);
  if (typeof body === 'string') return body;
  const sender = readSender(body.members);
  if (typeof sender === 'string') return sender;
  const name = nameAt(body.members, 'hook_event_name');
  if (name === undefined) return "the hook's input has no `hook_event_name`";
  const event = Object.hasOwn(events, name) ? events[name]?.(body) : undefined;
  if (event === undefined && unanswered?.test(name)) return `the event ${name} is not answered`;
  if (event === undefined) return { sender, event: { kind: 'other', name } };
  return typeof event === 'string' ? event : { sender, event };
}

function readBody(text: string): HookBody | string {
  try {
    const members: unknown = JSON.parse(text);
    if (!isJsonObject(members)) return "the hook's input is not a JSON object";
    if (hasDuplicateKeys(text, members)) return "the hook's input has a key twice";
    return { text, members };
  } catch {
    // Or it is nested so deep that nobody can read it.
    return "the hook's input is no JSON that we accept";
  }
}

/** A text that is not empty; undefined when there is none. */
export function nameAt(members: JsonObject, key: string): string | undefined {
  const value = members[key];
  return isName(value) ? value : undefined;
}

/** The texts in a list. */
function namesAt(members: JsonObject, key: string): readonly string[] {
  const list = members[key];
  return Array.isArray(list) ? list.filter(isName) : [];
}

function isName(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value !== '' && value.length <= NAME_LENGTH_MAX;
}

/** Who tells, from the members that the clients share; a text says what is missing. */
function readSender(members: JsonObject): HookSender | string {
  // Cursor speaks of conversations, and names the folders of its workspace.
  const sessionId = nameAt(members, 'session_id') ?? nameAt(members, 'conversation_id');
  const [root] = namesAt(members, 'workspace_roots');
  const cwd = nameAt(members, 'cwd') ?? root;
  if (sessionId === undefined) return "the hook's input has no `session_id`";
  if (cwd === undefined) return "the hook's input has no `cwd`";
  const transcriptPath = nameAt(members, 'transcript_path');
  const agentId = nameAt(members, 'agent_id');
  const agentType = nameAt(members, 'agent_type');
  const version = nameAt(members, 'cursor_version');
  return {
    sessionId,
    cwd,
    ...(version !== undefined && { version }),
    ...(transcriptPath !== undefined && { transcriptPath }),
    ...(agentId !== undefined && {
      subAgent: { id: agentId, ...(agentType !== undefined && { type: agentType }) },
    }),
  };
}

/** The text of a member that is an object. */
function argsTextAt({ text, members }: HookBody, key: string): string | undefined {
  return isJsonObject(members[key]) ? memberText(text, key) : undefined;
}

/** One use of a tool as Claude Code tells it, and those that follow it; a text says what is missing. */
export function readToolUse(body: HookBody): ToolUse | string {
  const name = nameAt(body.members, 'tool_name');
  if (name === undefined) return "the hook's input has no `tool_name`";
  const argsText = argsTextAt(body, 'tool_input');
  if (argsText === undefined) return `the \`tool_input\` of ${quote(name)} is not an object`;
  const useId = nameAt(body.members, 'tool_use_id');
  return { ...(useId !== undefined && { useId }), ...mcpName(name), argsText };
}

/** A tool is about to run. */
export function beforeTool(readUse: HookReader<ToolUse> = readToolUse): HookReader<HookEvent> {
  return (body) => {
    const use = readUse(body);
    return typeof use === 'string' ? use : { kind: 'before_tool', use };
  };
}

/** What a tool has put out; `key` is where the client tells it. */
export function afterTool(
  key: string,
  how: {
    readonly isError: boolean | ((output: JsonValue) => boolean);
    readonly isReplaceable: boolean;
  },
  readUse: HookReader<ToolUse> = readToolUse,
): HookReader<HookEvent> {
  return (body) => {
    const use = readUse(body);
    if (typeof use === 'string') return use;
    const output = body.members[key];
    if (output === undefined) return `the hook's input has no \`${key}\``;
    const isError = typeof how.isError === 'boolean' ? how.isError : how.isError(output);
    return { kind: 'after_tool', use, output, isError, isReplaceable: how.isReplaceable };
  };
}

/** What the user has said; the client may know better who said it, and which files it shows with it. */
export function readPrompt(
  idKey: string,
  known: (prompt: PromptEvent, body: HookBody) => Partial<PromptEvent> = () => ({}),
): HookReader<HookEvent> {
  return (body) => {
    const text = body.members['prompt'];
    if (typeof text !== 'string') return "the hook's input has no `prompt`";
    const promptId = nameAt(body.members, idKey);
    const id = promptId !== undefined && { promptId };
    const prompt: PromptEvent = { kind: 'prompt', text, isFromUser: true, ...id, files: [] };
    return { ...prompt, ...known(prompt, body) };
  };
}

const MCP_NAME = /^mcp__(.+?)__(.+)$/s;

/** `mcp__server__tool`; where that could be read in several ways, the server's name ends first. */
function mcpName(name: string): Pick<ToolUse, 'server' | 'tool' | 'isServerUncertain'> {
  const [, server, tool] = MCP_NAME.exec(name) ?? [];
  if (server === undefined || tool === undefined) return { tool: name };
  return { server, tool, ...(tool.includes('__') && { isServerUncertain: true }) };
}
