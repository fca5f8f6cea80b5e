// What the bodies of all clients have in common. A body that two readers could understand differently is
// refused: the client may be the other reader.
import { isJsonObject, type JsonObject, type JsonValue } from '@subluminal/contracts';
import { canonicalize, memberText } from '../json/index.ts';
import { quote } from '../text/visible.ts';
import type { HookSender, ToolUse } from './types.ts';

/** Ids, names and paths. A longer one comes from nobody who means well. */
const NAME_LENGTH_MAX = 4_096;

export interface HookBody {
  /** As the client wrote it. */
  readonly text: string;
  readonly members: JsonObject;
}

/** The body, or what is wrong with it. */
export function readBody(text: string): HookBody | string {
  const checked = canonicalize(text);
  if (!checked.ok) return `the hook's input is no JSON that we accept (${checked.code})`;
  const members: unknown = JSON.parse(text);
  if (!isJsonObject(members)) return "the hook's input is not a JSON object";
  return { text, members };
}

/** A text that is not empty; undefined when there is none. */
export function nameAt(members: JsonObject, key: string): string | undefined {
  const value = members[key];
  return isName(value) ? value : undefined;
}

function isName(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value !== '' && value.length <= NAME_LENGTH_MAX;
}

/** Who tells, from the members that the clients share; a text says what is missing. */
export function readSender(members: JsonObject): HookSender | string {
  const sessionId = nameAt(members, 'session_id');
  const cwd = nameAt(members, 'cwd');
  if (sessionId === undefined) return "the hook's input has no `session_id`";
  if (cwd === undefined) return "the hook's input has no `cwd`";
  const transcriptPath = nameAt(members, 'transcript_path');
  const agentId = nameAt(members, 'agent_id');
  const agentType = nameAt(members, 'agent_type');
  return {
    sessionId,
    cwd,
    ...(transcriptPath !== undefined && { transcriptPath }),
    ...(agentId !== undefined && {
      subAgent: { id: agentId, ...(agentType !== undefined && { type: agentType }) },
    }),
  };
}

/** The text of a member that is an object. */
export function argsTextAt({ text, members }: HookBody, key: string): string | undefined {
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

const MCP_NAME = /^mcp__(.+?)__(.+)$/s;

/** `mcp__server__tool`; where that could be read in several ways, the server's name ends first. */
function mcpName(name: string): Pick<ToolUse, 'server' | 'tool'> {
  const [, server, tool] = MCP_NAME.exec(name) ?? [];
  return server === undefined || tool === undefined ? { tool: name } : { server, tool };
}
