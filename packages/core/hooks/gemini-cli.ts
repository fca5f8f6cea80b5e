// Gemini CLI, tried with 0.61.0. It parses what a hook prints before it looks at the exit code, so a refusal
// is always JSON.
import { isJsonObject, type JsonObject, type JsonValue } from '@subluminal/contracts';
import { canonicalize } from '../json/index.ts';
import {
  type HookBody,
  nameAt,
  readInput,
  readPrompt,
  readResult,
  readToolUse,
} from './hook-body.ts';
import { reasonText } from './reason-text.ts';
import type { HookAnswer, HookDialect, HookEvent, HookReply, ToolUse } from './types.ts';

const PASS: HookReply = { stdout: '{}', stderr: '', exitCode: 0 };
/** It puts files that a prompt names behind this line, where anybody may have written them. */
const FILES = '--- Content from referenced files ---';

export const geminiCli: HookDialect = {
  client: 'gemini-cli',
  read: (text) => readInput(text, readEvent),
  write,
  refuseUnread: (eventName, reason) => (isHarmless(eventName) ? PASS : refusal(reason)),
  writtenServerName: (name) => name.replaceAll(/[^a-zA-Z0-9_\-.:]/g, '_'),
};

function readEvent(name: string, body: HookBody): HookEvent | string {
  switch (name) {
    case 'SessionStart':
      return { kind: 'session_start' };
    case 'SessionEnd':
      return { kind: 'session_end' };
    case 'BeforeAgent': {
      const prompt = readPrompt(body, 'prompt_id');
      if (typeof prompt === 'string') return prompt;
      return { ...prompt, isFromUser: !prompt.text.includes(FILES) };
    }
    case 'BeforeTool': {
      const use = readUse(body);
      return typeof use === 'string' ? use : { kind: 'before_tool', use };
    }
    case 'AfterTool': {
      const output = body.members['tool_response'];
      const error = output !== undefined && isJsonObject(output) ? output['error'] : undefined;
      const isError = error !== undefined && error !== null;
      const about = { key: 'tool_response', isError, isReplaceable: true };
      return readResult(body, readUse(body), about);
    }
    default:
      return { kind: 'other', name };
  }
}

/** An MCP tool has names of its own beside the one for the model. */
function readUse(body: HookBody): ToolUse | string {
  const use = readToolUse(body);
  const context = body.members['mcp_context'];
  if (typeof use === 'string' || !isJsonObject(context)) return use;
  const server = nameAt(context, 'server_name');
  const tool = nameAt(context, 'tool_name');
  return server === undefined || tool === undefined
    ? 'the MCP server of the tool is not named'
    : { ...use, server, tool };
}

function write(event: HookEvent, answer: HookAnswer): HookReply {
  switch (answer.do) {
    case 'pass':
      return PASS;
    case 'refuse':
      return isRefusable(event) ? refusal(answer.reason) : PASS;
    case 'rewrite':
      return event.kind === 'before_tool' ? rewrite(event.use, answer.argsText) : PASS;
    case 'replace':
      return event.kind === 'after_tool' ? replace(answer.output, answer.note) : PASS;
  }
}

function isRefusable({ kind }: HookEvent): boolean {
  return kind === 'before_tool' || kind === 'after_tool' || kind === 'prompt';
}

/** To refuse the last answer of a turn would start another one. */
function isHarmless(eventName: string | undefined): boolean {
  return /^(?:AfterAgent|Session(?:Start|End)|Notification|PreCompress)$/.test(eventName ?? '');
}

function refusal(reason: string): HookReply {
  return denied(reasonText(reason));
}

function denied(reason: string): HookReply {
  const stdout = JSON.stringify({ decision: 'deny', reason });
  return { stdout, stderr: reason, exitCode: 2 };
}

/** New arguments are put over the old ones: an argument that is gone would stay. */
function rewrite({ argsText: before }: ToolUse, argsText: string): HookReply {
  const unread = refusal('The arguments could not be rewritten.');
  if (!canonicalize(argsText).ok) return unread;
  const args: unknown = JSON.parse(argsText);
  const old: unknown = JSON.parse(before);
  if (!isJsonObject(args) || !isJsonObject(old)) return unread;
  if (Object.keys(old).some((key) => !Object.hasOwn(args, key))) return unread;
  const stdout = `{"hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":${argsText}}}`;
  return { ...PASS, stdout };
}

function replace(output: JsonValue, note: string): HookReply {
  const text = isJsonObject(output) ? modelText(output) : JSON.stringify(output);
  const whole = note === '' ? text : `${reasonText(note)}\n${text}`;
  return denied(whole === '' ? '(no output)' : whole);
}

/** What the model gets to see of an output. */
function modelText(output: JsonObject): string {
  const content = output['llmContent'] ?? '';
  return typeof content === 'string' ? content : JSON.stringify(content);
}
