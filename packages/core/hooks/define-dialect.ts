// What the dialects have in common: which answers an event takes, and what becomes of arguments that cannot be
// written. A client states only its events and the forms of its answers.
import { isJsonObject, type JsonObject, type JsonValue } from '@subluminal/contracts';
import { canonicalize } from '../json/index.ts';
import { type EventReaders, readInput } from './hook-body.ts';
import { reasonText } from './reason-text.ts';
import type {
  AfterToolEvent,
  BeforeToolEvent,
  ClientQuestion,
  HookAnswer,
  HookDialect,
  HookEvent,
  HookReply,
  ToolUse,
} from './types.ts';

type RefusableKind = 'before_tool' | 'after_tool' | 'prompt' | 'config_change' | 'before_model';
export type RefusableEvent = Extract<HookEvent, { readonly kind: RefusableKind }>;

export interface WrittenArgs {
  readonly text: string;
  readonly members: JsonObject;
  /** Why they are others; empty without a reason to tell. */
  readonly note: string;
}

/** What is a client's own. */
export interface DialectParts
  extends Omit<HookDialect, 'read' | 'write' | 'question' | 'canRewrite'> {
  readonly events: EventReaders;
  /** Other events that ask for an answer, by their names: they are refused. */
  readonly unanswered?: RegExp;
  readonly pass: HookReply;
  /** Where a prompt that may go on has a form of its own. */
  readonly passPrompt?: HookReply;
  readonly refuse: (event: RefusableEvent, reason: string) => HookReply;
  readonly question?: ClientQuestion & { readonly write: (reason: string) => HookReply };
  /** Nothing where the client would not run the tool with exactly these: then it is refused. */
  readonly rewrite: (event: BeforeToolEvent, args: WrittenArgs) => HookReply | undefined;
  readonly replace: (event: AfterToolEvent, output: JsonValue, note: string) => HookReply;
}

export function defineDialect({ events, unanswered, ...parts }: DialectParts): HookDialect {
  const { pass, passPrompt = pass, refuse, rewrite, replace, ...dialect } = parts;
  const write = (event: HookEvent, answer: HookAnswer): HookReply => {
    switch (answer.do) {
      case 'pass':
        return event.kind === 'prompt' ? passPrompt : pass;
      case 'refuse':
        return isRefusable(event) ? refuse(event, answer.reason) : pass;
      case 'ask':
        if (event.kind !== 'before_tool') return pass;
        // A client that cannot ask would run it.
        return dialect.question?.write(answer.reason) ?? refuse(event, answer.reason);
      case 'rewrite': {
        if (event.kind !== 'before_tool') return pass;
        const args = writtenArgs(answer.argsText, answer.note);
        const written = args && rewrite(event, args);
        return written ?? refuse(event, 'The arguments could not be rewritten.');
      }
      case 'replace':
        return event.kind === 'after_tool' ? replace(event, answer.output, answer.note) : pass;
    }
  };
  const canRewrite = (use: ToolUse, argsText: string): boolean => {
    const args = writtenArgs(argsText);
    return args !== undefined && rewrite({ kind: 'before_tool', use }, args) !== undefined;
  };
  return { ...dialect, canRewrite, read: (body) => readInput(body, events, unanswered), write };
}

/** The others cannot be refused, and to block the end of a turn would start another one. */
function isRefusable(event: HookEvent): event is RefusableEvent {
  switch (event.kind) {
    case 'before_tool':
    case 'after_tool':
    case 'prompt':
    case 'config_change':
    case 'before_model':
      return true;
    case 'included_file':
    case 'session_start':
    case 'session_end':
    case 'other':
      return false;
  }
}

function writtenArgs(text: string, note = ''): WrittenArgs | undefined {
  if (!canonicalize(text).ok) return undefined;
  const members: unknown = JSON.parse(text);
  return isJsonObject(members) ? { text, members, note } : undefined;
}

/** A body that is printed, and nothing beside it. */
export function printed(body: JsonObject): HookReply {
  return { stdout: JSON.stringify(body), stderr: '', exitCode: 0 };
}

/** A refusal in the words of its body, and by the exit code. */
export function refusedBy(body: JsonObject, reason: string): HookReply {
  return { stdout: JSON.stringify(body), stderr: reason, exitCode: 2 };
}

/**
 * The text that a model gets in place of an output; `key` is where the output has it. It is never empty, or some
 * clients would show the output.
 */
export function outputText(output: JsonValue, note: string, key = ''): string {
  const seen = isJsonObject(output) ? (output[key] ?? output) : output;
  const text = typeof seen === 'string' ? seen : JSON.stringify(seen);
  const whole = [note === '' ? '' : reasonText(note), text]
    .filter((part) => part !== '')
    .join('\n');
  return whole.trim() === '' ? '(no output)' : whole;
}
