// Cursor, by its documentation, not tried. Outputs of its own tools cannot be replaced.
import { isJsonObject, type JsonObject } from '@subluminal/contracts';
import {
  type HookBody,
  nameAt,
  readInput,
  readPrompt,
  readResult,
  readToolUse,
} from './hook-body.ts';
import { reasonText } from './reason-text.ts';
import type { HookAnswer, HookDialect, HookEvent, HookReply } from './types.ts';

const PASS: HookReply = { stdout: '{}', stderr: '', exitCode: 0 };

export const cursor: HookDialect = {
  client: 'cursor',
  read: (text) => readInput(text, readEvent),
  write,
  refuseUnread: (eventName, reason) => (isHarmless(eventName) ? PASS : refusal(reason)),
  writtenServerName: (name) => name,
};

function readEvent(name: string, body: HookBody): HookEvent | string {
  switch (name) {
    case 'sessionStart':
      return { kind: 'session_start' };
    case 'sessionEnd':
      return { kind: 'session_end' };
    case 'beforeSubmitPrompt': {
      const prompt = readPrompt(body, 'generation_id');
      return typeof prompt === 'string'
        ? prompt
        : { ...prompt, files: attachedFiles(body.members) };
    }
    case 'preToolUse': {
      const use = readToolUse(body);
      return typeof use === 'string' ? use : { kind: 'before_tool', use };
    }
    case 'postToolUse': {
      const about = { key: 'tool_output', isError: false, isReplaceable: false };
      return readResult(body, readToolUse(body), about);
    }
    case 'postToolUseFailure': {
      const about = { key: 'error_message', isError: true, isReplaceable: false };
      return readResult(body, readToolUse(body), about);
    }
    default:
      // It asks about the same use by `preToolUse`: who uses another event has not got ours.
      return name.startsWith('before')
        ? `the event ${name} is not answered`
        : { kind: 'other', name };
  }
}

function attachedFiles(members: JsonObject): readonly string[] {
  const list = members['attachments'];
  if (!Array.isArray(list)) return [];
  return list.filter(isJsonObject).flatMap((one) => {
    return nameAt(one, 'file_path') ?? nameAt(one, 'filePath') ?? [];
  });
}

function write(event: HookEvent, answer: HookAnswer): HookReply {
  if (event.kind === 'prompt') {
    return answer.do === 'refuse'
      ? promptRefusal(answer.reason)
      : { ...PASS, stdout: '{"continue":true}' };
  }
  switch (answer.do) {
    case 'pass':
      return PASS;
    case 'refuse':
      return event.kind === 'before_tool' ? refusal(answer.reason) : noted(event, answer.reason);
    case 'rewrite':
      // Whether it then still asks its user is not said.
      return event.kind === 'before_tool' ? refusal('The arguments could not be rewritten.') : PASS;
    case 'replace':
      return noted(event, answer.note);
  }
}

/** Exit code 2 blocks, whichever members this version reads. */
function refusal(reason: string): HookReply {
  const text = reasonText(reason);
  const stdout = JSON.stringify({
    permission: 'deny',
    continue: false,
    user_message: text,
    agent_message: text,
  });
  return { stdout, stderr: text, exitCode: 2 };
}

function promptRefusal(reason: string): HookReply {
  const text = reasonText(reason);
  const stdout = JSON.stringify({ continue: false, user_message: text });
  return { stdout, stderr: text, exitCode: 2 };
}

function isHarmless(eventName: string | undefined): boolean {
  return /^(?:after|post|session|subagent|stop|preCompact)/.test(eventName ?? '');
}

/** The model has seen the output: it is told about it at least. */
function noted(event: HookEvent, note: string): HookReply {
  if (event.kind !== 'after_tool' || note === '') return PASS;
  return { ...PASS, stdout: JSON.stringify({ additional_context: reasonText(note) }) };
}
