// A false alarm is silenced for one value, of one rule, on one tool of one server, until a day. A
// suppression cannot be wider.
import { HIDDEN_RULES } from './hidden.ts';
import { PERSONAL_RULES } from './personal.ts';
import { PHRASE_RULES } from './phrases.ts';
import { SECRET_RULES } from './secrets.ts';
import type { ContentFinding, ScanVerdict } from './types.ts';

export interface Suppression {
  readonly rule: string;
  readonly server: string;
  readonly tool: string;
  readonly fingerprint: string;
  /** The moment from which on it is void, as RFC 3339 writes it. */
  readonly expires: string;
}

export type SuppressionRead =
  | { readonly kind: 'suppression'; readonly suppression: Suppression }
  | { readonly kind: 'refused'; readonly reason: string };

export interface SuppressedPlace {
  readonly server: string;
  readonly tool: string;
  readonly nowMs: number;
}

export interface Suppressed {
  /** What is left to act upon. */
  readonly verdict: ScanVerdict;
  readonly suppressed: readonly ContentFinding[];
  /** Those of this tool that are void now; the findings that they would have matched are left. */
  readonly expired: readonly Suppression[];
}

const RULES: ReadonlySet<string> = new Set([
  ...SECRET_RULES,
  ...PERSONAL_RULES,
  ...PHRASE_RULES,
  ...HIDDEN_RULES,
  'odd-name',
]);
const FIELDS = ['rule', 'server', 'tool', 'fingerprint', 'expires'] as const;
const LENGTH_MAX = 256;
const WIDE = /[*?]/;
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;

/** Reads a suppression; one that could mean more than one value is refused. */
export function readSuppression(value: unknown): SuppressionRead {
  const refused = (reason: string): SuppressionRead => ({ kind: 'refused', reason });
  if (typeof value !== 'object' || value === null) return refused('a suppression is an object');
  const entries = new Map<string, unknown>(Object.entries(value));
  /** Empty for what is no name in full. */
  const nameAt = (field: (typeof FIELDS)[number]): string => {
    const name = entries.get(field);
    const isName = typeof name === 'string' && name.length <= LENGTH_MAX && !WIDE.test(name);
    return isName ? name : '';
  };
  const missing = FIELDS.find((field) => nameAt(field) === '');
  if (missing !== undefined)
    return refused(`a suppression needs \`${missing}\`, in full and without wildcards`);
  if (entries.size > FIELDS.length)
    return refused(`a suppression has ${FIELDS.join(', ')} and nothing else`);
  const [rule, expires] = [nameAt('rule'), nameAt('expires')];
  if (!RULES.has(rule)) return refused('there is no such rule');
  if (!MOMENT.test(expires) || Number.isNaN(Date.parse(expires))) {
    return refused('`expires` is a moment such as 2030-01-31T00:00:00Z');
  }
  const names = {
    server: nameAt('server'),
    tool: nameAt('tool'),
    fingerprint: nameAt('fingerprint'),
  };
  return { kind: 'suppression', suppression: { rule, ...names, expires } };
}

/** Takes the silenced findings out of a verdict. What was not scanned can't be silenced. */
export function suppress(
  verdict: ScanVerdict,
  suppressions: readonly Suppression[],
  place: SuppressedPlace,
): Suppressed {
  if (suppressions.length === 0) return { verdict, suppressed: [], expired: [] };
  const here = suppressions.filter(
    ({ server, tool }) => server === place.server && tool === place.tool,
  );
  const expired = here.filter((suppression) => !isValid(suppression, place.nowMs));
  const valid = new Set(here.filter((one) => isValid(one, place.nowMs)).map(keyOf));
  const suppressed = verdict.findings.filter((finding) => valid.has(keyOf(finding)));
  const findings = verdict.findings.filter((finding) => !valid.has(keyOf(finding)));
  return { verdict: { ...verdict, findings }, suppressed, expired };
}

function keyOf({ rule, fingerprint }: Pick<Suppression, 'rule' | 'fingerprint'>): string {
  return JSON.stringify([rule, fingerprint]);
}

/** A moment that can't be read is past. */
function isValid({ expires }: Suppression, nowMs: number): boolean {
  return MOMENT.test(expires) && Date.parse(expires) > nowMs;
}
