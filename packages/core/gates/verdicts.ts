// Verdicts of the gates: decisions with texts that a model can act on, and without secrets.
import type { Decision, HintKind, JsonObject, ReasonCode } from '@subluminal/contracts';
import type {
  ContentNote,
  GateVerdict,
  GuardedCall,
  MessageVerdict,
  RefusedMessage,
} from '../session/guard.ts';
import { visible } from '../text/visible.ts';
import type { GuardOptions } from './guard-options.ts';

export type GateRule =
  | 'gate:manifest'
  | 'gate:pins'
  | 'gate:content'
  | 'gate:taint'
  | 'gate:rule-of-two'
  | 'gate:leak'
  | 'gate:breaker'
  | 'gate:self-protection';

/** A gate that does not let a call pass. */
export interface Stop {
  readonly rule: GateRule;
  readonly enforced: boolean;
  readonly reason_code: ReasonCode;
  readonly summary: string;
  /** What to do instead. */
  readonly advice: string;
  /** Set where other arguments may pass. */
  readonly hintKind?: HintKind | undefined;
  readonly suggested_args?: JsonObject | null | undefined;
  /** When the same call may pass. */
  readonly retryAfterMs?: number | undefined;
  /** Set where a person may let it pass. */
  readonly approval?: Decision['approval'];
  readonly severity?: Decision['severity'] | undefined;
}

const TEXT_MAX = 2_000;
const FINDINGS_MAX = 100;
const FINDING_LENGTH_MAX = 200;

type Redactor = Pick<GuardOptions, 'redact'>;

/** A text without secrets, and bounded. */
export function clean(text: string, { redact }: Redactor): string {
  const shown = redact(text);
  return shown.length <= TEXT_MAX
    ? shown
    : `${shown.slice(0, TEXT_MAX - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** The lengths to which the texts of gates cut names. */
const NAME_LENGTHS = [200, 120, 80];

/** The name of a tool or a method in a sentence. */
export function quotedName(name: string): string {
  return `\`${visible(name, 120)}\``;
}

/**
 * A text about a name, with the secrets taken out of the name first: a secret that was cut with the
 * name would not be recognised.
 */
export function withoutName(text: string, name: string, { redact }: Redactor): string {
  const safe = redact(name);
  if (safe === name) return text;
  return NAME_LENGTHS.reduce(
    (shown, lengthMax) =>
      shown.replaceAll(visible(name, lengthMax), () => visible(safe, lengthMax)),
    text,
  );
}

function decisionFor(stop: Stop, options: GuardOptions): Decision {
  const { rule, reason_code, severity = 'warn', retryAfterMs, approval } = stop;
  const base = { rule_id: rule, severity, reason_code };
  const summary = clean(stop.summary, options);
  const advice = clean(stop.advice, options);
  if (retryAfterMs !== undefined) {
    const backoff_ms = Math.max(0, Math.ceil(retryAfterMs));
    return { ...base, action: 'THROTTLE', summary: `${summary} ${advice}`, backoff_ms };
  }
  if (approval === undefined && stop.hintKind === undefined) {
    return { ...base, action: 'BLOCK', summary: `${summary} ${advice}` };
  }
  // Arguments with a secret in them are not repeated.
  const { suggested_args: args = null, hintKind: hint_kind = 'SAFETY' } = stop;
  const text = JSON.stringify(args);
  const suggested_args = options.redact(text) === text ? args : null;
  const hint = { hint_text: advice, suggested_args, retry_advice: null, hint_kind };
  const refused: Decision = { ...base, action: 'REJECT_WITH_HINT', summary, hint };
  return approval === undefined || !options.enforces.asks ? refused : { ...refused, approval };
}

/** A stop that cannot be approved comes first, then those that ask a person, one at a time. */
export function verdictFor(
  options: GuardOptions,
  call: GuardedCall,
  stops: readonly Stop[],
): GateVerdict {
  if (stops.length === 0) return PASS;
  const named = stops.map((stop) => ({
    ...stop,
    summary: withoutName(stop.summary, call.tool, options),
    advice: withoutName(stop.advice, call.tool, options),
  }));
  const enforced = named.filter((stop) => stop.enforced);
  const stop =
    enforced.find(({ approval }) => approval === undefined) ??
    enforced.find(({ rule }) => !(options.enforces.asks && call.isApproved(rule)));
  if (stop !== undefined) return { kind: 'stop', decision: decisionFor(stop, options) };
  // Nobody is asked about a stop that is not enforced: it must not use up a grant.
  const spared = named.find((one) => !one.enforced);
  if (spared === undefined) return PASS;
  const { action, rule_id, reason_code, summary } = decisionFor(spared, options);
  return { kind: 'pass', would: { action, rule_id, reason_code, summary } };
}

export const PASS: GateVerdict = { kind: 'pass' };
export const SAME: MessageVerdict = { kind: 'same' };

/** A message that arrives, changed where the value is another one. */
export function passageWith(before: unknown, value: unknown, note?: ContentNote): MessageVerdict {
  return value === before ? { kind: 'same', note } : { kind: 'changed', value, note };
}

/** A refused message, and the findings in it. */
export function refusedPassage(
  words: Omit<RefusedMessage, 'kind' | 'note' | 'rule_id'> & { readonly rule_id?: GateRule },
  findings?: readonly string[],
): RefusedMessage {
  const note = findings && ({ action: 'block', findings } as const);
  return { kind: 'refused', ...words, note };
}

const STRENGTH: readonly ContentNote['action'][] = ['tag', 'redact', 'ask', 'block'];

/** Our own words: a redactor would take `secret:github-token` for an assignment. */
const OWN_WORDS =
  /^(?:secret|personal|injection|hidden_text|unscanned|size):[a-z0-9_-]{1,64}(?: \((?:tag|redact|ask)\))?$/;

/** The suffix of a finding that got a weaker action than the note names. */
export const WEAKER = / \((?:tag|redact|ask)\)$/;

/** One note of several, true of each of them; none when nothing was found. */
export function mergedNote(
  notes: readonly (ContentNote | undefined)[],
  { redact }: Redactor,
): ContentNote | undefined {
  const known = notes.filter((note) => note !== undefined);
  if (known.length === 0) return undefined;
  const strength = Math.max(...known.map(({ action }) => STRENGTH.indexOf(action)));
  const action = STRENGTH[strength] ?? 'block';
  const all = new Set(
    known.flatMap((note) =>
      note.findings.map((finding) => {
        const shown = OWN_WORDS.test(finding) ? finding : redact(finding);
        const isWeaker = note.action !== action && !WEAKER.test(shown);
        return isWeaker ? `${shown} (${note.action})` : shown;
      }),
    ),
  );
  const full = [...all].filter((one) => !WEAKER.test(one));
  // A finding that got the full action once is not listed with a weaker one.
  const weaker = [...all].filter((one) => WEAKER.test(one) && !all.has(one.replace(WEAKER, '')));
  const findings = [...full, ...weaker].slice(0, FINDINGS_MAX);
  return { action, findings: findings.map((finding) => finding.slice(0, FINDING_LENGTH_MAX)) };
}
