// Injected secrets in messages: the agent never sees one, and never sends one.
import { stringEnd } from '../json/text-parts.ts';
import type { Envelope, GuardedCall, MessageVerdict, OtherMessage, Way } from '../session/guard.ts';
import { compatible } from '../surface/names/spelling.ts';
import type { GuardOptions } from './guard-options.ts';
import type { LeakFinder } from './leak-finder.ts';
import { mergedNote, quotedName, refusedPassage, type Stop } from './verdicts.ts';
import { holdsNumber, isWalkable, textsOf, withTexts } from './walk.ts';

/** The names of the secrets in a value, at any place of it. */
function leaksIn(finder: LeakFinder, value: unknown): readonly string[] {
  return namesIn(finder, viewsOf(value));
}

function namesIn(finder: LeakFinder, views: readonly string[]): readonly string[] {
  if (!views.some((view) => finder.has(view))) return [];
  const names = finder.namesIn(views);
  return names.length === 0 ? ['injected'] : names;
}

/** Its JSON, and its texts joined: escapes or quotes must not hide a secret. */
function viewsOf(value: unknown): readonly string[] {
  const written = JSON.stringify(value) ?? '';
  const texts = textsOf(value);
  const views = texts.length < 2 ? [written, ...texts] : [written, texts.join('')];
  return OTHER_FORMS.test(written) ? [...views, compatible(texts.join(''))] : views;
}

/** Letters in other forms: full width, circled, raised, mathematical. */
const OTHER_FORMS = /[\u2070-\u209f\u2460-\u24ff\uff01-\uff5e\ud835\ud83c\ud83e]/;

/** The names of secrets in numbers that have lost digits when they were parsed from their JSON. */
function leaksInNumbers(
  finder: LeakFinder,
  value: unknown,
  json: () => string | undefined,
): readonly string[] {
  if (!finder.hasDigits || !holdsNumber(value)) return [];
  const numbers = lossyNumbers(json() ?? '');
  return numbers.length === 0 ? [] : namesIn(finder, [numbers.join(' '), numbers.join('')]);
}

const NUMBER = /-?\d[\d.eE+-]*/g;

/** The numbers of a JSON text that change when they are parsed and written again. */
function lossyNumbers(text: string): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length; ) {
    const quote = text.indexOf('"', at);
    const between = text.slice(at, quote === -1 ? text.length : quote);
    for (const [number] of between.matchAll(NUMBER)) {
      if (String(Number(number)) !== number) found.push(number);
    }
    at = quote === -1 ? text.length : stringEnd(text, quote);
    if (at === -1) break;
  }
  return found;
}

/** Stops a call that holds a secret of the server, whatever the policy says. */
export function leakStop(
  leaks: LeakFinder,
  call: GuardedCall,
): { readonly stop: Stop; readonly findings: readonly string[] } | undefined {
  const { args, tool, envelope } = call;
  const rest = envelope?.rest;
  const base = { rule: 'gate:leak', enforced: true, severity: 'critical' } as const;
  if (args === undefined || !isWalkable(args) || !isWalkable(rest)) {
    const stop: Stop = {
      ...base,
      reason_code: 'ARGS_NOT_INSPECTED',
      summary: `${quotedName(tool)} is blocked: its arguments are too large to be searched for secrets of the server.`,
      advice: 'Send fewer or flatter arguments.',
    };
    return { stop, findings: ['unscanned:too_long'] };
  }
  const names = firstFound(
    () => leaksIn(leaks, [tool, args, envelope?.written ?? '', rest ?? null]),
    () => leaksInNumbers(leaks, args, () => call.argsText),
    () => leaksInNumbers(leaks, rest, () => envelope?.restText),
  );
  if (names.length === 0) return undefined;
  const stop: Stop = {
    ...base,
    reason_code: 'LEAK_BLOCKED',
    summary: `${quotedName(tool)} is blocked: it holds a secret that was entrusted to the server.`,
    advice: 'Leave the secret out; the server has it already and needs it from nobody.',
  };
  return { stop, findings: findingsFor(names) };
}

function firstFound(...searches: readonly (() => readonly string[])[]): readonly string[] {
  for (const search of searches) {
    const names = search();
    if (names.length > 0) return names;
  }
  return [];
}

function findingsFor(names: readonly string[]): readonly string[] {
  return names.map((name) => `leak:${name}`);
}

/** Holds back a message with a secret around its value: nothing there can be replaced. */
export function leakAround(leaks: LeakFinder, envelope: Envelope): MessageVerdict | undefined {
  const { written, rest } = envelope;
  const names = firstFound(
    () => (isWalkable(rest) ? leaksIn(leaks, [written, rest ?? null]) : ['injected']),
    () => leaksInNumbers(leaks, rest, () => envelope.restText),
  );
  return names.length === 0
    ? undefined
    : heldBack('A message', 'around what it is about, it', names);
}

function heldBack(what: string, where: string, names: readonly string[]): MessageVerdict {
  return refusedPassage(
    {
      rule_id: 'gate:leak',
      severity: 'critical',
      reason_code: 'LEAK_BLOCKED',
      summary: `${what} is held back: ${where} holds a secret that was entrusted to the server.`,
      hint: 'Go on without it, and do not try to send or read the secret.',
    },
    findingsFor(names),
  );
}

/** Removes secrets from a message, or refuses it; `then` judges the message that is left. */
export function passageWithoutLeaks(
  options: GuardOptions & { readonly leaks: LeakFinder },
  { way, message }: { readonly way: Way; readonly message: OtherMessage },
  then: (message: OtherMessage) => MessageVerdict,
): MessageVerdict {
  const { leaks } = options;
  const { value } = message;
  // A number keeps its digits, whatever else is changed in the message.
  const numbers = leaksInNumbers(leaks, value, () => message.text);
  const texts = way === 'in' && numbers.length > 0 ? [] : leaksIn(leaks, value);
  const names = [...texts, ...numbers];
  if (names.length === 0) return then(message);
  const refused = () => heldBack(quotedName(message.method), 'it', names);
  if (way === 'out' || numbers.length > 0) return refused();
  const cleaned = withTexts(value, (text) => leaks.redact(text));
  // It cannot be replaced where it stands, or it is spread over several places.
  if (leaksIn(leaks, cleaned).length > 0) return refused();
  const passage = then({ ...message, value: cleaned });
  if (passage.kind === 'refused') return passage;
  const redacted = { action: 'redact', findings: findingsFor(names) } as const;
  const note = mergedNote([redacted, passage.note], options);
  return { kind: 'changed', value: passage.kind === 'changed' ? passage.value : cleaned, note };
}
