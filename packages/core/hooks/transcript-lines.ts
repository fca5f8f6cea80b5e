// What the transcripts of clients say of tools that have run: it is compared with what their hooks have told. An agent
// can write to its transcript, so a line proves nothing; but a use that no hook has told of is worth a word.
import { isObject, type JsonObject } from '@subluminal/contracts';
import type { TranscriptLine } from './types.ts';

const NOTHING: TranscriptLine = { uses: [], ran: [] };

/** A tool that does not exist, or whose input is not valid, has no hook and does nothing: it is an error. */
const RAN_AND_FAILED = /^Exit code \d/;

/** One line of the transcript of Claude Code, or of one of its sub-agents. */
export function claudeTranscriptLine(line: string): TranscriptLine {
  if (!line.includes('"tool_use')) return NOTHING;
  const message = memberOf(parsed(line), 'message');
  const content = memberOf(message, 'content');
  if (!Array.isArray(content)) return NOTHING;
  const blocks = content.filter(isObject);
  return {
    uses: blocks.flatMap(({ type, id, name }) =>
      type === 'tool_use' && typeof id === 'string' && typeof name === 'string'
        ? [{ useId: id, tool: name }]
        : [],
    ),
    ran: blocks.flatMap(({ type, tool_use_id: id, is_error: isError, content: text }) => {
      if (type !== 'tool_result' || typeof id !== 'string') return [];
      const hasRun = isError !== true || (typeof text === 'string' && RAN_AND_FAILED.test(text));
      return hasRun ? [id] : [];
    }),
  };
}

/** Tools of Codex that do something; what it plans or asks its user has no hook either. */
const CODEX_TOOLS = /^(?:exec_command|write_stdin|shell|local_shell|apply_patch|view_image|mcp__)/;

/** One line of the rollout of Codex. */
export function codexTranscriptLine(line: string): TranscriptLine {
  if (!line.includes('_call')) return NOTHING;
  const payload = memberOf(parsed(line), 'payload');
  const [type, id] = [memberOf(payload, 'type'), memberOf(payload, 'call_id')];
  if (typeof id !== 'string') return NOTHING;
  if (type === 'function_call_output' || type === 'custom_tool_call_output') {
    return { uses: [], ran: [id] };
  }
  const name = memberOf(payload, 'name');
  if (scriptOf(payload)?.includes('write_stdin') === true) {
    return { uses: [{ useId: id, tool: 'write_stdin' }], ran: [] };
  }
  const isCall = type === 'function_call' || type === 'custom_tool_call';
  if (!isCall || typeof name !== 'string' || !CODEX_TOOLS.test(name)) return NOTHING;
  return { uses: [{ useId: id, tool: name }], ran: [] };
}

/** In code mode, Codex runs scripts, which call its tools: only they are in the rollout. */
function scriptOf(payload: unknown): string | undefined {
  if (memberOf(payload, 'type') !== 'custom_tool_call' || memberOf(payload, 'name') !== 'exec') {
    return undefined;
  }
  const input = memberOf(payload, 'input');
  return typeof input === 'string' ? input : undefined;
}

/** The id of a command that a script runs. */
const OF_SCRIPT = 'exec-';

/**
 * What the hook of Codex does not tell of a command: its folder, its shell, and that more can be typed into it. Of the
 * script that runs it, the last one, only that last thing is known, and only where it is written out.
 */
export function codexTranscriptArgs(line: string, useId: string): JsonObject | undefined {
  if (useId.startsWith(OF_SCRIPT)) {
    const script = line.includes('"exec"')
      ? scriptOf(memberOf(parsed(line), 'payload'))
      : undefined;
    return script === undefined ? undefined : script.includes('tty') ? { tty: true } : {};
  }
  if (!line.includes(useId)) return undefined;
  const payload = memberOf(parsed(line), 'payload');
  if (memberOf(payload, 'type') !== 'function_call' || memberOf(payload, 'call_id') !== useId) {
    return undefined;
  }
  const text = memberOf(payload, 'arguments');
  const args = parsed(typeof text === 'string' ? text : '');
  const [workdir, shell] = [memberOf(args, 'workdir'), memberOf(args, 'shell')];
  return {
    ...(typeof workdir === 'string' && { workdir }),
    ...(typeof shell === 'string' && { shell }),
    ...(memberOf(args, 'tty') === true && { tty: true }),
  };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function memberOf(value: unknown, key: string): unknown {
  return isObject(value) ? value[key] : undefined;
}
