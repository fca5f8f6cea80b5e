// Secrets: by their format, by the name before them, and by looking drawn by lot behind a word that
// promises one. A value that is clearly made up is only a hint.
import { FORMATS } from '../formats/index.ts';
import { keywordStart } from '../text/keyword-table.ts';
import { isRandom } from '../text/randomness.ts';
import type { Match, Range, Rule } from '../types.ts';
import { NO_KEYWORDS, scanKeywords } from './keywords.ts';
import { isLikelyPassword, isMadeUp, isReference, isWords } from './secret-value.ts';
import type { TextSurvey } from './survey.ts';
import type { Detection, DetectorHit } from './types.ts';

/** Rules that match by the text around the value: the value itself decides the score. */
const BY_CONTEXT: ReadonlySet<string> = new Set(
  `assignment authorization-header azure-sas basic-auth-url connection-string curl-user database-url
   openai-key sql-password twilio-key`.split(/\s+/),
);
/** Of these, words are values as well: a password of a server is often one. */
const WORDS_ALLOWED: ReadonlySet<string> = new Set(
  'azure-sas basic-auth-url curl-user database-url openai-key twilio-key'.split(' '),
);
/** The steps that a miss costs: a pattern reads about so far. */
const MISS_STEPS = 64;
const VALUE_MAX = 512;
const MARKER = /^(?:\[(?:redacted|REDACTED):[a-z0-9-]{1,64}\])+$/;
/** Tokens that mark a place, a version or a request, and keys that are public. */
const NO_SECRET_NAME =
  /(?:next|prev(?:ious)?|page|pagination|forward|backward|continuation|continue|sync|lock|client[_-]?(?=token)|start|stop|cancel(?:l?ation)?|csrf|xsrf|public(?:[_-]?key)?|publishable|cursor|canary|idempotency|request|resume|delta|change|process|design|syntax|lexer|eos|bos|pad|sep|unk|mask|special|amz)[_-]?(?:token|key|credential)["'`\]]{0,2}(?::?[ \t]{0,4}str(?:ing)?)?[ \t]{0,8}(?:[:=,]|==|:=|=>)?[ \t]{0,8}[\\"'`]{0,8}$/i;
const NAME_REACH = 96;
/** The address of a server on this machine or in a network of containers. */
const LOCAL_HOST =
  /^@(?:localhost|127\.\d|\[::1|0\.0\.0\.0|host\.docker\.internal|[\w-]+(?:[:/?"'`\s]|$))/;
const CONTEXT =
  /(?:key|secret|token|passw(?:or)?d|passphrase|credential|auth|bearer|api)[\w"'`\]. -]{0,24}(?:=>|[:=]|\bis\b)[\s"'`(]{0,4}$/i;
const CONTEXT_REACH = 64;
const NO_SECRET =
  /(?:sha(?:1|256|384|512)|md5|integrity|checksum|digest|etag|commit|revision|hash|uuid|guid|nonce|cursor|page|next|sync|continuation|public|fingerprint|csrf|host|author|monkey|keyboard|tokens?_?(?:count|limit|max|usage)|keyid|key_?id|keyword|primary|foreign|partition|sort|idempotency|cache|h1)[\w"'`\]. -]{0,32}[:=][\s"'`]{0,4}$/i;
const ENTROPY_MIN = 20;
const ENTROPY_MAX = 200;

export function detectSecrets(detection: Detection, { keywords, blobs }: TextSurvey): void {
  const { view, meter } = detection;
  const { text } = view;
  meter.steps += text.length;
  if (keywords.length > 0) detectFormats(detection, keywords);
  for (const blob of blobs) {
    const hit = randomIn(text, blob);
    if (hit !== undefined) detection.found(hit);
  }
}

function detectFormats(detection: Detection, keywords: TextSurvey['keywords']): void {
  const { view, meter } = detection;
  const { text } = view;
  const { formats } = scanKeywords();
  let readTo: Int32Array | undefined;
  for (let index = 0; index < keywords.length; index += 2) {
    for (const keyword of formats.get(keywords[index + 1] ?? 0) ?? NO_KEYWORDS) {
      const rule = FORMATS[keyword.rule];
      const at = keywordStart(text, keywords[index] ?? 0, keyword);
      if (rule === undefined || at < (readTo?.[keyword.rule] ?? 0)) continue;
      if (meter.steps > meter.stepsMax) return;
      const place = { text, at, truncated: false };
      const match = rule.match(place);
      const read = match?.readTo ?? rule.missedTo?.(place) ?? 0;
      // Most candidates miss.
      if (read > 0) readTo ??= new Int32Array(FORMATS.length);
      if (readTo !== undefined) readTo[keyword.rule] = read;
      meter.steps += match === undefined ? MISS_STEPS : match.readTo - at + 1;
      if (match !== undefined) report(detection, rule, match);
    }
  }
}

function report({ view, found }: Detection, rule: Rule, match: Match): void {
  const { text } = view;
  const { start, end } = match;
  if (end <= start) return;
  const value = text.slice(start, Math.min(end, start + VALUE_MAX));
  if (MARKER.test(value)) return;
  const score = scoreOf(rule, value, {
    before: text.slice(Math.max(0, start - NAME_REACH), start),
    behind: text.slice(end, end + NAME_REACH),
  });
  found({ ...secret(rule.name, match), score });
}

function secret(rule: string, { start, end }: Range): Omit<DetectorHit, 'score'> {
  const words = rule.replaceAll('-', ' ');
  return { class: 'secret', rule, start, end, label: `looks like a secret: ${words}` };
}

interface Around {
  readonly before: string;
  readonly behind: string;
}

function scoreOf({ name: rule, keywords }: Rule, value: string, around: Around): number {
  if (rule === 'private-key' || rule === 'gcp-service-account') return value.length > 80 ? 3 : 1;
  if (isMadeUp(value)) return 1;
  if (!BY_CONTEXT.has(rule)) {
    const prefix = keywords.find((keyword) => value.startsWith(keyword)) ?? '';
    const body = value.slice(prefix.length);
    return isMadeUp(body) || (isWords(body) && !body.includes('.')) ? 1 : 3;
  }
  if (WORDS_ALLOWED.has(rule)) return isReference(value) || isDefault(value, around) ? 1 : 2;
  if (rule === 'assignment' && NO_SECRET_NAME.test(around.before)) return 1;
  return isLikelyPassword(value) ? 2 : 1;
}

/** A password that is the user's name, or a plain word for a server of this machine. */
function isDefault(value: string, { before, behind }: Around): boolean {
  if (before.endsWith(`/${value}:`)) return true;
  return isWords(value) && LOCAL_HOST.test(behind);
}

/** A run that looks drawn by lot, behind a word that promises a secret. */
function randomIn(text: string, { start, end }: Range): DetectorHit | undefined {
  const from = text.slice(start, end).search(/[^=+/-]/) + start;
  const value = text.slice(from, end);
  if (value.length < ENTROPY_MIN || value.length > ENTROPY_MAX) return undefined;
  const before = text.slice(Math.max(0, from - CONTEXT_REACH), from);
  const named = /[=]/.test(value.slice(0, -2)) ? value.slice(0, value.indexOf('=') + 1) : '';
  const context = before + named;
  const drawn = value.slice(named.length);
  if (drawn.length < ENTROPY_MIN || !CONTEXT.test(context) || NO_SECRET.test(context))
    return undefined;
  // What begins with a brace in Base64 has a rule of its own.
  if (!isDrawn(drawn) || isMadeUp(drawn) || drawn.startsWith('eyJ')) return undefined;
  const range = { start: from + named.length, end };
  return { ...secret('high-entropy', range), score: 2 };
}

/** Three kinds of characters, many of them, and no words. */
function isDrawn(value: string): boolean {
  const kinds = [/[a-z]/, /[A-Z]/, /\d/].filter((kind) => kind.test(value)).length;
  // Digits to the base of 16 are the hash of something.
  if (/^[0-9A-Fa-f]+$/.test(value)) return false;
  if (kinds < 2 || new Set(value).size < 10 || value.split('/').length > 3) return false;
  return isRandom(value);
}

const SECRET_KEY =
  /(?:passw(?:or)?d|passphrase|secret|(?<!next|page|sync|continuation|cursor|csrf|pagination|delta|start)[_-]?token|(?:api|access|private|secret|auth|encryption|signing)[_-]?key|credential|authorization)s?$/i;

const SCHEME = /^(?:bearer|basic|token|apikey|negotiate)\s+/i;

/** The value of a field whose name promises a secret. */
export function secretByKey(key: string, value: string): DetectorHit | undefined {
  if (value.length < 6 || value.length > VALUE_MAX || !SECRET_KEY.test(key)) return undefined;
  if (
    /^(?:next|page|progress|sync|continuation|cursor|csrf|pagination|delta|start)/i.test(key) &&
    /token$/i.test(key)
  )
    return undefined;
  const start = SCHEME.exec(value)?.[0].length ?? 0;
  const bare = value.slice(start);
  if (bare.length < 6 || MARKER.test(bare) || isMadeUp(bare) || !isLikelyPassword(bare))
    return undefined;
  return { ...secret('assignment', { start, end: value.length }), score: 2 };
}

export const SECRET_RULES: readonly string[] = [
  ...new Set(FORMATS.map(({ name }) => name)),
  'high-entropy',
];
