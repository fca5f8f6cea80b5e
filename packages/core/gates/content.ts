// What content may travel: findings and the actions of the policy, in words without the values.
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
  type Direction,
  type Finding,
  type FindingClass,
  scanJson,
  suppress,
  type Verdict,
} from '../scan/detect/index.ts';
import type { ContentNote, GuardedCall, Passage } from '../session/guard.ts';
import { visible } from '../text/visible.ts';
import type { Memory } from './memory.ts';
import { noteOf, type Stop, WEAKER } from './verdicts.ts';

interface Scanned {
  readonly direction: Direction;
  readonly value: unknown;
  /** The tool, or the method of what is no call: suppressions name it. */
  readonly place: string;
  readonly nowMs: number;
}

export interface Judged {
  readonly action: Action;
  /** What may travel: everything from `redact` on has a marker in its place. */
  readonly value: unknown;
  readonly note: ContentNote | undefined;
  /** What was found and where, for people and models. */
  readonly words: string;
  /** The same when a person has agreed to what was asked. */
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

/** Looks through a value, and says what the policy wants done about it. */
export function judge(memory: Memory, section: FullContentSection, scanned: Scanned): Judged {
  const { direction, value, place, nowMs } = scanned;
  const { fingerprint, server, enforces } = memory.options;
  const actions = actionsOf(section, direction);
  const classes = CLASSES.filter((name) => actions[direction][name] !== 'allow');
  // It keeps within its own limits, and tells what it has left out.
  const found = scanJson(value, { fingerprint, classes, limits: LIMITS });
  const { verdict } = suppress(found, section.suppressions, { server, tool: place, nowMs });
  const treated = applyActions(value, verdict, { direction, actions });
  return {
    action: treated.action,
    value: treated.value,
    note: noteFor(treated.action, treated.tags, enforces.content),
    words: wordsFor(verdict, actions[direction]),
    agreed: () => {
      const released = { ...actions, [direction]: freed(actions[direction]) };
      return applyActions(value, verdict, { direction, actions: released }).value;
    },
  };
}

/** As deep as any message goes: what is merely nested is read. */
const LIMITS = { depthMax: 512 };

function freed(actions: Actions[Direction]): Actions[Direction] {
  const free = (action: Action): Action => (action === 'ask' ? 'tag' : action);
  const { secret, personal, injection, hidden_text } = actions;
  return {
    secret: free(secret),
    personal: free(personal),
    injection: free(injection),
    hidden_text: free(hidden_text),
  };
}

/** Nobody is asked about what comes in: it is blocked. */
function actionsOf(section: FullContentSection, direction: Direction): Actions {
  const { outbound, inbound, confidence_min: confidenceMin } = section;
  const firm = (action: Action): Action => (action === 'ask' ? 'block' : action);
  return {
    outbound,
    inbound: {
      secret: firm(inbound.secret),
      personal: firm(inbound.personal),
      injection: firm(inbound.injection),
      hidden_text: firm(inbound.hidden_text),
    },
    confidenceMin,
    unscanned: unscannedAction(section, direction),
  };
}

/** What is not enforced is only told. */
function noteFor(
  action: Action,
  findings: readonly string[],
  isEnforced: boolean,
): ContentNote | undefined {
  // What was only not looked at, such as a picture, is told as well.
  if (action === 'allow') return findings.length === 0 ? undefined : { action: 'tag', findings };
  if (isEnforced) return { action, findings };
  return { action: 'tag', findings: findings.map((finding) => finding.replace(WEAKER, '')) };
}

/** The strongest findings: `body` (a secret, github-token). */
function wordsFor({ findings, unscanned }: Verdict, actions: Actions[Direction]): string {
  const isStopped = ({ class: name }: Finding) => ['block', 'ask'].includes(actions[name]);
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

interface Outbound {
  readonly stops: readonly Stop[];
  readonly note?: ContentNote | undefined;
  /** What is sent instead. */
  readonly args?: JsonObject | undefined;
}

const NOTHING: Outbound = { stops: [] };

/** A call, by the content section: its arguments, and what stands beside them. */
export function outboundCall(memory: Memory, call: GuardedCall, nowMs: number): Outbound {
  const section = memory.content;
  if (section === undefined) return NOTHING;
  const sent = outboundArgs(memory, call, nowMs);
  const beside = besideStop(memory, call, nowMs);
  if (beside === undefined) return sent;
  const stops = beside.stop === undefined ? sent.stops : [beside.stop, ...sent.stops];
  return { ...sent, stops, note: noteOf([sent.note, beside.note], memory.options) };
}

interface Beside {
  readonly stop: Stop | undefined;
  readonly note: ContentNote | undefined;
}

/** Nothing can be replaced there, and nobody is asked: they would not see all of it. */
function besideStop(memory: Memory, call: GuardedCall, nowMs: number): Beside | undefined {
  const value = call.envelope?.rest;
  const section = memory.content;
  if (section === undefined || value === undefined) return undefined;
  const { tool } = call;
  const judged = judge(memory, section, { direction: 'outbound', value, place: tool, nowMs });
  const { action, note, words } = judged;
  if (action === 'allow' || action === 'tag') return { stop: undefined, note };
  const enforced = memory.options.enforces.content;
  const where = 'beside its arguments, the call of';
  const stop = stopFor(section, { action: 'block', tool, enforced, words, where });
  return { stop, note: note && { ...note, action: enforced ? 'block' : 'tag' } };
}

/** The arguments of a call. */
function outboundArgs(memory: Memory, call: GuardedCall, nowMs: number): Outbound {
  const section = memory.content;
  if (section === undefined) return NOTHING;
  const { args, tool } = call;
  const enforced = memory.options.enforces.content;
  if (args === undefined) return unread(memory, section, tool);
  const judged = judge(memory, section, { direction: 'outbound', value: args, place: tool, nowMs });
  const { action, note } = judged;
  if (action === 'allow' || action === 'tag') return { stops: [], note };
  const { asks } = memory.options.enforces;
  const isAgreed = action === 'ask' && enforced && asks && call.isApproved('gate:content');
  const sent = isAgreed ? judged.agreed() : judged.value;
  const isChanged = enforced && sent !== args && isArgs(sent);
  return {
    stops:
      action === 'redact'
        ? []
        : [stopFor(section, { action, tool, enforced, words: judged.words })],
    note,
    ...(isChanged && { args: sent }),
  };
}

/** Every member of what JSON held is JSON again. */
function isArgs(value: unknown): value is JsonObject {
  return isObject(value);
}

const ARGUMENTS = 'the arguments of';

interface Stopping {
  readonly action: Action;
  readonly tool: string;
  readonly enforced: boolean;
  readonly words: string;
  /** What of the tool it is about. */
  readonly where?: string;
}

function stopFor(section: FullContentSection, stopping: Stopping): Stop {
  const { action, tool, enforced, words, where = ARGUMENTS } = stopping;
  const base = { rule: 'gate:content', enforced } as const;
  const what = `${where} \`${visible(tool, 120)}\` ${where === ARGUMENTS ? 'hold' : 'holds'} ${words}`;
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

function unread(memory: Memory, section: FullContentSection, tool: string): Outbound {
  const enforced = memory.options.enforces.content;
  const action = unscannedAction(section, 'outbound');
  const note = noteFor(action, ['unscanned:too_long'], enforced);
  if (action !== 'ask' && action !== 'block') return { stops: [], note };
  const words = 'more than can be looked through';
  return { stops: [stopFor(section, { action, tool, enforced, words })], note };
}

/** What stands around a message that is no call: it is not for a model, and cannot be changed. */
export function aroundPassage(
  memory: Memory,
  scanned: Omit<Scanned, 'value'>,
  rest: JsonObject,
): Passage {
  const section = memory.content;
  if (section === undefined) return SAME;
  const { action, note, words } = judge(memory, section, { ...scanned, value: rest });
  const isFine = action === 'allow' || action === 'tag';
  if (isFine || !memory.options.enforces.content) return { kind: 'same', note };
  const findings = note?.findings ?? [];
  return {
    kind: 'refused',
    reason_code: 'CONTENT_BLOCKED',
    summary: `A message is held back: beside what it is about, it has ${words}.`,
    hint: 'Go on without it.',
    note: { action: 'block', findings },
  };
}

const SAME: Passage = { kind: 'same' };
