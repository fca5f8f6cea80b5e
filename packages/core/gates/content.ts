// Which content may travel: findings, and the actions of the policy for them. No text here quotes a value.
import {
  type FullContentSection,
  isObject,
  type JsonObject,
  unscannedAction,
} from '@subluminal/contracts';
import {
  type Action,
  type Actions,
  applyActions,
  type ContentFinding,
  type Direction,
  type FindingClass,
  type ScanVerdict,
  scanJson,
  suppress,
} from '../scan/detect/index.ts';
import type { ContentNote, GuardedCall, MessageVerdict } from '../session/guard.ts';
import { visible } from '../text/visible.ts';
import type { Memory } from './guard-memory.ts';
import { mergedNote, quotedName, refusedPassage, SAME, type Stop, WEAKER } from './verdicts.ts';

interface ScannedValue {
  readonly direction: Direction;
  readonly value: unknown;
  /** The tool, or the method of another message: suppressions name it. */
  readonly place: string;
  readonly nowMs: number;
}

interface JudgedValue {
  readonly action: Action;
  /** The value that may travel: findings with `redact` or more are replaced by a marker. */
  readonly value: unknown;
  readonly note: ContentNote | undefined;
  /** A sentence for people and models: the findings and their places. */
  readonly words: string;
  /** The value that may travel after a person has approved it. */
  readonly agreed: () => unknown;
}

const CLASSES: readonly FindingClass[] = ['secret', 'personal', 'injection', 'hidden_text'];
const SHOWN_MAX = 3;

const CLASS_WORDS: { readonly [C in FindingClass]: string } = {
  secret: 'a secret',
  personal: 'personal data',
  injection: 'text that gives orders to a model',
  hidden_text: 'hidden text',
};

/** What a section says for one direction. */
interface DirectedActions {
  readonly actions: Actions;
  /** With what a person has agreed to. */
  readonly released: Actions;
  readonly classes: readonly FindingClass[];
}

/** Made once for each section: every message asks for it. */
const DIRECTED = new WeakMap<FullContentSection, Partial<Record<Direction, DirectedActions>>>();

function directed(section: FullContentSection, direction: Direction): DirectedActions {
  const known = DIRECTED.get(section) ?? {};
  DIRECTED.set(section, known);
  known[direction] ??= newDirected(section, direction);
  return known[direction];
}

function newDirected(section: FullContentSection, direction: Direction): DirectedActions {
  const { outbound, confidence_min: confidenceMin, block_confidence: blockConfidence } = section;
  const unscanned = unscannedAction(section, direction);
  // Nobody is asked about inbound content: it is blocked.
  const inbound = withoutAsking(section.inbound, 'block');
  const actions: Actions = { outbound, inbound, confidenceMin, blockConfidence, unscanned };
  const released = { ...actions, [direction]: withoutAsking(actions[direction], 'tag') };
  const classes = CLASSES.filter((name) => actions[direction][name] !== 'allow');
  return { actions, released, classes };
}

/** Scans a value, and gives the action of the policy for it. */
export function judge(
  memory: Memory,
  section: FullContentSection,
  scanned: ScannedValue,
): JudgedValue {
  const { direction, value, place, nowMs } = scanned;
  const { fingerprint, server, enforces } = memory.options;
  const { actions, released, classes } = directed(section, direction);
  // The scan has its own limits, and lists the parts that it has left out.
  const found = scanJson(value, { fingerprint, classes, limits: LIMITS });
  const { verdict } = suppress(found, section.suppressions, { server, tool: place, nowMs });
  const treated = applyActions(value, verdict, { direction, actions });
  return {
    action: treated.action,
    value: treated.value,
    note: noteFor(treated.action, treated.tags, enforces.content),
    words: wordsFor(verdict, actions[direction]),
    agreed: () => applyActions(value, verdict, { direction, actions: released }).value,
  };
}

/** The depth limit of a message, so that deep nesting alone hides nothing. */
const LIMITS = { depthMax: 512 };

/** The same actions with another one instead of `ask`. */
function withoutAsking(actions: Actions[Direction], instead: Action): Actions[Direction] {
  const given = (name: FindingClass) => (actions[name] === 'ask' ? instead : actions[name]);
  return {
    secret: given('secret'),
    personal: given('personal'),
    injection: given('injection'),
    hidden_text: given('hidden_text'),
  };
}

/** Findings that are not enforced are only tagged. */
function noteFor(
  action: Action,
  findings: readonly string[],
  isEnforced: boolean,
): ContentNote | undefined {
  // Parts that could not be scanned, such as pictures, are noted as well.
  if (action === 'allow') return findings.length === 0 ? undefined : { action: 'tag', findings };
  if (isEnforced) return { action, findings };
  return { action: 'tag', findings: findings.map((finding) => finding.replace(WEAKER, '')) };
}

/** The strongest findings: `body` (a secret, github-token). */
function wordsFor({ findings, unscanned }: ScanVerdict, actions: Actions[Direction]): string {
  if (findings.length === 0 && unscanned.length === 0) return '';
  const isStopped = ({ class: name }: ContentFinding) => ['block', 'ask'].includes(actions[name]);
  const chosen = findings.filter(isStopped);
  const shown = (chosen.length > 0 ? chosen : findings).map(
    ({ path, class: name, rule }) => `${placeOf(path)}(${CLASS_WORDS[name]}, ${rule})`,
  );
  const gaps = unscanned
    .filter(({ reason }) => reason !== 'binary')
    .map(({ reason }) => `what could not be looked at (${reason})`);
  const all = [...new Set([...shown, ...gaps])];
  const more = all.length > SHOWN_MAX ? ` and ${all.length - SHOWN_MAX} more` : '';
  return all.slice(0, SHOWN_MAX).join(', ') + more;
}

function placeOf(path: string | null): string {
  const plain = (path ?? '').replace(/^\$\.?/, '').replace(/~$/, ' (its name)');
  return plain === '' ? '' : `\`${visible(plain, 120)}\` `;
}

interface OutboundContent {
  readonly stops: readonly Stop[];
  readonly note?: ContentNote | undefined;
  /** The arguments that are sent instead. */
  readonly args?: JsonObject | undefined;
}

/** Judges the arguments of a call, and the members beside them, by the content section. */
export function outboundCall(memory: Memory, call: GuardedCall, nowMs: number): OutboundContent {
  const section = memory.content;
  if (section === undefined) return { stops: [] };
  const sent = outboundArgs(memory, section, { call, nowMs });
  const beside = outboundBeside(memory, section, { call, nowMs });
  return {
    ...sent,
    stops: [...beside.stops, ...sent.stops],
    note: beside.note ? mergedNote([sent.note, beside.note], memory.options) : sent.note,
  };
}

interface TimedCall {
  readonly call: GuardedCall;
  readonly nowMs: number;
}

/** Nothing beside the arguments can be replaced, and nobody is asked: people would not see all of it. */
function outboundBeside(
  memory: Memory,
  section: FullContentSection,
  { call, nowMs }: TimedCall,
): OutboundContent {
  const value = call.envelope?.rest;
  if (value === undefined) return { stops: [] };
  const { tool } = call;
  const judged = judge(memory, section, { direction: 'outbound', value, place: tool, nowMs });
  const { action, note, words } = judged;
  if (action === 'allow' || action === 'tag') return { stops: [], note };
  const enforced = memory.options.enforces.content;
  const what = `beside its arguments, the call of ${quotedName(tool)} holds ${words}`;
  const stop = stopFor(section, { action: 'block', enforced, what });
  return { stops: [stop], note: note && { ...note, action: enforced ? 'block' : 'tag' } };
}

function outboundArgs(
  memory: Memory,
  section: FullContentSection,
  { call, nowMs }: TimedCall,
): OutboundContent {
  const { args, tool } = call;
  const { content: enforced, asks } = memory.options.enforces;
  const stopWith = (action: Action, words: string) => {
    const what = `the arguments of ${quotedName(tool)} hold ${words}`;
    return isFirm(action) ? [stopFor(section, { action, enforced, what })] : [];
  };
  if (args === undefined) {
    const action = unscannedAction(section, 'outbound');
    const note = noteFor(action, ['unscanned:too_long'], enforced);
    return { stops: stopWith(action, 'more than can be looked through'), note };
  }
  const judged = judge(memory, section, { direction: 'outbound', value: args, place: tool, nowMs });
  const { action, note } = judged;
  if (action === 'allow' || action === 'tag') return { stops: [], note };
  const isAgreed = action === 'ask' && enforced && asks && call.isApproved('gate:content');
  const sent = isAgreed ? judged.agreed() : judged.value;
  const isChanged = enforced && sent !== args && isArgs(sent);
  return { stops: stopWith(action, judged.words), note, ...(isChanged && { args: sent }) };
}

function isFirm(action: Action): boolean {
  return action === 'ask' || action === 'block';
}

/** An object that came from JSON holds only JSON. */
function isArgs(value: unknown): value is JsonObject {
  return isObject(value);
}

interface ContentFault {
  readonly action: Action;
  readonly enforced: boolean;
  /** The findings and their places. */
  readonly what: string;
}

function stopFor(section: FullContentSection, { action, enforced, what }: ContentFault): Stop {
  const base = { rule: 'gate:content', enforced } as const;
  if (action === 'ask') {
    return {
      ...base,
      reason_code: 'CONTENT_APPROVAL',
      summary: `A person must agree first: ${what}.`,
      advice: 'Send the call without it to go on at once.',
      approval: section.approval,
    };
  }
  return {
    ...base,
    reason_code: 'CONTENT_BLOCKED',
    summary: `The call is not sent: ${what}.`,
    advice: 'Leave it out or name it by a reference, and call the tool again.',
    severity: 'critical',
  };
}

/** Content around the value of a message is not for a model, and cannot be changed: it passes or is refused. */
export function aroundPassage(memory: Memory, scanned: ScannedValue): MessageVerdict {
  const section = memory.content;
  if (section === undefined) return SAME;
  const { action, note, words } = judge(memory, section, scanned);
  const isFine = action === 'allow' || action === 'tag';
  if (isFine || !memory.options.enforces.content) return { kind: 'same', note };
  const summary = `A message is held back: beside what it is about, it has ${words}.`;
  const hint = 'Go on without it.';
  return refusedPassage({ ...BY_CONTENT, summary, hint }, note?.findings ?? []);
}

export const BY_CONTENT = {
  rule_id: 'gate:content',
  severity: 'critical',
  reason_code: 'CONTENT_BLOCKED',
} as const;
