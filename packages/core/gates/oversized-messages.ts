// Messages that are too large or too deep to inspect: they are refused if a gate must inspect them.
import { unscannedAction } from '@subluminal/contracts';
import type { ContentNote, MessageVerdict } from '../session/guard.ts';
import { RESULT_METHODS } from '../session/peek/protocol-names.ts';
import { isSpoken } from '../taint/spoken.ts';
import type { Memory } from './guard-memory.ts';
import { isList } from './lists.ts';
import { INTRODUCTIONS, isKnownMethod, NAMING, TASK_LIST, UNKNOWN } from './methods.ts';
import { type MessageKind, refusesUnseen, type SeenMessages } from './table.ts';
import { taintRead } from './tainted.ts';
import { type GateRule, refusedPassage, SAME } from './verdicts.ts';

/** Requests whose answers may hold the answer of a tool. */
const TOOL_RESULTS = ['tools/call', 'tasks/result', 'tasks/get'];
const RESULTS = [...RESULT_METHODS, 'tasks/get'];
const SMALLER = 'Ask for less, or send less, so that it can be looked at.';

/** Whether such a message may pass. An empty method means that it is unknown. */
export function oversizedPassage(
  memory: Memory,
  seenMessages: SeenMessages,
  what: MessageKind,
): MessageVerdict {
  const { way, kind, method } = what;
  if (isUnreadCall(memory, what)) {
    const summary = 'The call does not show its tool before its arguments.';
    return refused('gate:self-protection', 'SELF_PROTECTION', summary);
  }
  if (method !== UNKNOWN && !seenMessages[way][kind](method)) return SAME;
  const { options, content } = memory;
  if (options.leaks !== undefined) {
    const summary = `${SUBJECTS[kind]} ${UNREAD}, and might hold a secret.`;
    return refused('gate:leak', 'ANSWER_REFUSED', summary);
  }
  if (mustBeSeen(memory, what)) {
    const isListed = options.manifest !== undefined && options.enforces.surface;
    const gate = isListed ? 'gate:manifest' : 'gate:self-protection';
    return refused(gate, 'ANSWER_REFUSED', `${SUBJECTS[kind]} ${UNREAD}, and must be.`);
  }
  const isResult = isOneOf(what, RESULTS) && way === 'in' && kind === 'answer';
  if (
    isResult &&
    isOneOf(what, TOOL_RESULTS) &&
    options.enforces.surface &&
    refusesUnseen(options)
  ) {
    const summary = 'The answer is larger than the manifest allows.';
    return refused('gate:manifest', 'RESULT_TOO_LARGE', summary);
  }
  const gap = content && unscannedAction(content, way === 'in' ? 'inbound' : 'outbound');
  const isStopped = gap === 'block' || gap === 'ask';
  if (isStopped && options.enforces.content) {
    const summary = `${SUBJECTS[kind]} ${UNREAD}, and the policy stops that.`;
    return refused('gate:content', 'CONTENT_BLOCKED', summary);
  }
  if (isResult || (way === 'in' && kind !== 'answer' && isSpoken(method))) {
    taintRead(memory, { tool: method === 'tools/call' ? '' : method, ...NOBODY_READ });
  }
  return gap !== undefined && gap !== 'allow' ? { kind: 'same', note: NOTE } : SAME;
}

/** Whether this is a call whose head does not show it: such a call would never be judged. */
function isUnreadCall({ options }: Memory, { way, kind, method }: MessageKind): boolean {
  const isCall = way === 'out' && kind !== 'answer' && method === 'tools/call';
  return isCall && options.selfProtection?.enforced === true;
}

const UNREAD = 'is too large to be looked at';
const SUBJECTS = { answer: 'The answer', request: 'The request', notification: 'The message' };
const NOTE: ContentNote = { action: 'tag', findings: ['unscanned:too_long'] };
const NOBODY_READ = { callId: '', content: '', partial: true };

function refused(rule_id: GateRule, reason_code: string, summary: string): MessageVerdict {
  return refusedPassage({ rule_id, reason_code, summary, hint: SMALLER }, NOTE.findings);
}

function isOneOf({ method }: MessageKind, methods: readonly string[]): boolean {
  return method === UNKNOWN || methods.includes(method);
}

/** Whether a gate must inspect the message: lists and instructions, or names for a manifest. */
function mustBeSeen({ options }: Memory, what: MessageKind): boolean {
  const { manifest, pins, content, enforces } = options;
  const { way, kind, method } = what;
  const hasManifest = manifest !== undefined && enforces.surface;
  const isScanned = content !== undefined && enforces.content;
  const isPinned = pins !== undefined && enforces.pins;
  if (way === 'out') {
    const isNamed = isOneOf(what, NAMING) || !isKnownMethod(method);
    const isKept = options.selfProtection?.enforced === true;
    if (kind === 'answer') return isKept && method === 'elicitation/create';
    return (hasManifest || isKept) && (isNamed || (isKept && method === 'tasks/update'));
  }
  if (kind !== 'answer') return false;
  const isTools = method === 'tools/list' || method === UNKNOWN;
  if (isOneOf(what, INTRODUCTIONS) && (isPinned || isScanned)) return true;
  if (isTools && isPinned) return true;
  if (method === TASK_LIST && hasManifest) return true;
  return (method === UNKNOWN || isList(method)) && (hasManifest || isScanned);
}
