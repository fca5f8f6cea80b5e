// What a value says of itself: whether it is made up, stands for something else, or is words.
import { isRandom } from '../text/randomness.ts';

/** Words of placeholders. A value needs some characters that are not part of one. */
const PLACEHOLDER =
  /example|sample|dummy|placeholder|changeme|change[_-]?(?:me|this|it)|replace[_-]?(?:me|this|with)?|your[_-]?\w{0,20}|my[_-]?(?:secret|password|pass|token|key)|insert|redacted|fake|mock|foobar|hardcoded|not[_-]?(?:a[_-]?)?(?:real|secret)|test(?:ing)?|\*{3,}|\.{3,}|<[\w .:/-]{0,40}>|\{[\w .:/-]{0,40}\}|hunter2?\b|password|secret|admin|s3cr3t|s3cret|\$ecret|token|goes[_-]?here|todo|abcdef|0123456|1234567|x{3,}|(.)\1{5,}/gi;
const LEFT_MIN = 8;
const DISTINCT_MIN = 5;
/** In a short value, a row such as `abc` or `123` is typed by hand. */
const SHORT_MAX = 20;
const SHORT_LEFT_MIN = 4;
const RUN_MIN = 3;
const LONG_RUN_MIN = 6;
/**
 * Sample keys as their vendors spell them: the ids of AWS, in which EXAMPLE takes the place of a part
 * of the key; its secret keys; the keys that every local Supabase has, by their issuer. The whole value
 * has to be one: behind a real key, EXAMPLE is a suffix that anyone can write.
 */
const SAMPLE_KEY =
  /^(?:A[A-Z]{3}[A-Z0-9]{9}EXAMPLE|wJalrXUtnFEMI\/K7MDENG\/?b?PxRfiCYz?EXAMPLE(?:KEY)?|je7MtGbClwBF\/2Zp9Utk\/h3yCo8nvbEXAMPLEKEY|eyJ[\w-]{10,60}\.eyJpc3MiOiJzdXBhYmFzZS1kZW1v[\w-]{0,160}\.[\w-]{43})$/;

/** Whether too little is left of the value without placeholders, such as "example", and runs of signs. */
export function isMadeUp(value: string): boolean {
  if (SAMPLE_KEY.test(value)) return true;
  const isShort = value.length < SHORT_MAX;
  const plain = value.replace(PLACEHOLDER, (part) => (isRandom(part) ? part : ''));
  const isPlain = plain.length === value.length;
  const left = withoutRuns(plain, isShort || !isPlain ? RUN_MIN : LONG_RUN_MIN);
  if (isPlain && left.length < SHORT_LEFT_MIN) return true;
  if (isPlain && isShort) return false;
  if (new Set(left).size < DISTINCT_MIN) return true;
  return !isPlain && (left.length < LEFT_MIN || isWords(left));
}

/** Without `aaa`, `abc` and `321`. */
function withoutRuns(value: string, lengthMin: number): string {
  let left = '';
  for (let at = 0; at < value.length; ) {
    const step = value.charCodeAt(at + 1) - value.charCodeAt(at);
    let end = at + 1;
    if (Math.abs(step) <= 1) {
      while (value.charCodeAt(end) - value.charCodeAt(end - 1) === step) end++;
    }
    if (end - at < lengthMin) end = at + 1;
    if (end === at + 1) left += value[at];
    at = end;
  }
  return left;
}

const VARIABLE =
  /^`?(?:\{[A-Za-z_]|\$[A-Za-z_]\w*(?:$|[/:.,-])|\$[{(]|%[A-Za-z_]\w*%|%[sdv]|\{\{|<[\w\s.:/|-]*>?|\[[\w\s.:|-]*\]?$|#\{|@\{|\[\]|\\\.|:\w+$)/;
const URL = /^`?(?:[a-z][a-z0-9+.-]{1,20}:)?\/\/|^www\./i;
const VERSION = /^[\^~<>=v]{0,3}\d{1,5}(?:\.\d{1,5}){1,3}(?:[-+][\w.]+)?$/;
const DATE = /^\d{4}-\d\d-\d\d(?:[T ]|$)/;
const FILE =
  /(?:^|[\w/-])\.(?:pem|key|crt|cer|p12|pfx|jks|txt|json|ya?ml|toml|ini|env|conf|cfg|xml|properties|csv|html?|md|js|ts|py|rb|go|java|php|sh|sql|log)$/i;
const CONSTANT = /^(?:true|false|null|none|nil|undefined|yes|no)$/i;
/** A call, an index, a member that may not be there, or text with a place for a variable. */
const CODE =
  /^[A-Za-z_$][\w$.?!:>-]{0,80}[([]|\?\.\w|=>|&&|\|\||->\w|::\w+$|\$\{[\w.:-]{1,80}\}|\$\([\w. /-]{1,80}\)|\{\{[\w. |:$-]{1,80}\}\}|<[\w. -]{1,80}>|^[A-Za-z_]\w*\s\+\s/;
const CHAIN = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+[!?]?$/;
/** Letters of any script, set apart by what sets names, paths and references apart. */
const WORDS = /^[^\p{L}\d]{0,2}\p{L}+(?:['’._\-/:@\\|#~+ ]{1,3}\p{L}+)*[-_./:…。]*$/u;
const WORDS_RANDOM_MIN = 12;

/** Whether it stands for a value that is elsewhere: a variable, code, a path or an address. */
export function isReference(value: string): boolean {
  if (VARIABLE.test(value) || CODE.test(value) || CONSTANT.test(value)) return true;
  return URL.test(value) || VERSION.test(value) || DATE.test(value) || FILE.test(value);
}

/** Words, names and chains of them; long ones must not look drawn by lot. */
export function isWords(value: string): boolean {
  if (!WORDS.test(value) && !CHAIN.test(value)) return false;
  return value.length < WORDS_RANDOM_MIN || !isRandom(value);
}

/** Whether a value behind a name such as `password` may be one. */
export function isLikelyPassword(written: string): boolean {
  const value = written.replace(/[)\]},;:]+$/, '');
  if (value.length < 4 || /\s|%20/.test(written.trim()) || /[\r\n]/.test(written)) return false;
  if (isReference(value) || isReference(written) || isWords(value)) return false;
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^\w.-]/].filter((kind) => kind.test(value)).length;
  return kinds >= 2 || value.length >= 8;
}
