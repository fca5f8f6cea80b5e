// What a gate says: decisions in words that a model can act on, and nothing secret in them.
import type { Decision, HintKind, JsonObject, ReasonCode } from '@subluminal/contracts';
import type { ContentNote, GateVerdict } from '../session/guard.ts';
import { visible } from '../text/visible.ts';

export type GateRule =
  | 'gate:manifest'
  | 'gate:pins'
  | 'gate:content'
  | 'gate:taint'
  | 'gate:rule-of-two'
  | 'gate:leak'
  | 'gate:breaker'
  | 'gate:self-protection';

export interface Approval {
  readonly wait: 'hold' | 'hint';
  readonly timeout_ms: number;
}

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
  readonly approval?: Approval | undefined;
  readonly severity?: Decision['severity'] | undefined;
}

export interface Saying {
  readonly redact: (text: string) => string;
  readonly asks: boolean;
}

const TEXT_MAX = 2_000;
const FINDINGS_MAX = 100;
const FINDING_LENGTH_MAX = 200;

/** Bounded and without secrets, whatever it was put together from. */
export function clean(text: string, { redact }: Pick<Saying, 'redact'>): string {
  const shown = redact(text);
  return shown.length <= TEXT_MAX
    ? shown
    : `${shown.slice(0, TEXT_MAX - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** How long names are shown in what gates say. */
const NAME_LENGTHS = [200, 120, 80];

/**
 * What was said of a name, with its secrets taken out of the name first: a secret that was cut with
 * the name would not be known again.
 */
export function withoutName(
  text: string,
  name: string,
  { redact }: Pick<Saying, 'redact'>,
): string {
  const safe = redact(name);
  if (safe === name) return text;
  return NAME_LENGTHS.reduce(
    (said, lengthMax) => said.replaceAll(visible(name, lengthMax), () => visible(safe, lengthMax)),
    text,
  );
}

function decisionOf(stop: Stop, saying: Saying): Decision {
  const { rule, reason_code, severity = 'warn', retryAfterMs, approval } = stop;
  const base = { rule_id: rule, severity, reason_code };
  const summary = clean(stop.summary, saying);
  const advice = clean(stop.advice, saying);
  if (retryAfterMs !== undefined) {
    const backoff_ms = Math.max(0, Math.ceil(retryAfterMs));
    return { ...base, action: 'THROTTLE', summary: `${summary} ${advice}`, backoff_ms };
  }
  if (approval === undefined && stop.hintKind === undefined) {
    return { ...base, action: 'BLOCK', summary: `${summary} ${advice}` };
  }
  const hint = {
    hint_text: advice,
    suggested_args: suggestedBy(stop, saying),
    retry_advice: null,
    hint_kind: stop.hintKind ?? 'SAFETY',
  };
  const refused: Decision = { ...base, action: 'REJECT_WITH_HINT', summary, hint };
  return approval === undefined || !saying.asks ? refused : { ...refused, approval };
}

/** Arguments with a secret in them are not repeated. */
function suggestedBy({ suggested_args: args = null }: Stop, { redact }: Saying): JsonObject | null {
  if (args === null) return null;
  const text = JSON.stringify(args);
  return redact(text) === text ? args : null;
}

interface Chosen {
  /** The tool that is called. */
  readonly tool: string;
  readonly stops: readonly Stop[];
  readonly isApproved: (ruleId: string) => boolean;
  readonly saying: Saying;
}

/** What cannot be approved comes first, then what a person must be asked about, one at a time. */
export function verdictFor({ tool, stops: all, isApproved, saying }: Chosen): GateVerdict {
  if (all.length === 0) return PASS;
  const stops = all.map((stop) => ({
    ...stop,
    summary: withoutName(stop.summary, tool, saying),
    advice: withoutName(stop.advice, tool, saying),
  }));
  const enforced = stops.filter((stop) => stop.enforced);
  const stop =
    enforced.find(({ approval }) => approval === undefined) ??
    enforced.find(({ rule }) => !(saying.asks && isApproved(rule)));
  if (stop !== undefined) return { kind: 'stop', decision: decisionOf(stop, saying) };
  // Nobody is asked about what is not enforced: a grant must not be used up by it.
  const spared = stops.find((one) => !one.enforced);
  if (spared === undefined) return PASS;
  const { action, rule_id, reason_code, summary } = decisionOf(spared, saying);
  return { kind: 'pass', would: { action, rule_id, reason_code, summary } };
}

export const PASS: GateVerdict = { kind: 'pass' };

const STRENGTH: readonly ContentNote['action'][] = ['tag', 'redact', 'ask', 'block'];

/** A class and a rule of ours: to a redactor `secret:github-token` looks like an assignment. */
const OWN_WORDS =
  /^(?:secret|personal|injection|hidden_text|unscanned|size):[a-z0-9_-]{1,64}(?: \((?:tag|redact|ask)\))?$/;

/** Stands behind a finding for which less was done than the action of the note says. */
export const WEAKER = / \((?:tag|redact|ask)\)$/;

/** One note of several, true of each of them; none when nothing was found. */
export function noteOf(
  notes: readonly (ContentNote | undefined)[],
  saying: Pick<Saying, 'redact'>,
): ContentNote | undefined {
  const known = notes.filter((note) => note !== undefined);
  const [first] = known;
  if (first === undefined) return undefined;
  const action = known.reduce(
    (strongest, note) =>
      STRENGTH.indexOf(note.action) > STRENGTH.indexOf(strongest) ? note.action : strongest,
    first.action,
  );
  const all = new Set(
    known.flatMap((note) => {
      const isWeaker = note.action !== action;
      return note.findings.map((finding) => {
        const shown = OWN_WORDS.test(finding) ? finding : saying.redact(finding);
        return isWeaker && !WEAKER.test(shown) ? `${shown} (${note.action})` : shown;
      });
    }),
  );
  // What was done once to the full is not said to have been done by half as well.
  const told = [...all].filter((one) => !WEAKER.test(one) || !all.has(one.replace(WEAKER, '')));
  const isWeaker = (finding: string) => WEAKER.test(finding);
  const findings = [...told.filter((one) => !isWeaker(one)), ...told.filter(isWeaker)];
  const shown = findings.map((finding) => finding.slice(0, FINDING_LENGTH_MAX));
  return { action, findings: shown.slice(0, FINDINGS_MAX) };
}
