// Which values of an environment are secrets: those of a known form, and those that a name announces
// and that look drawn by lot. What only refers to a value elsewhere is none.
import { createRedactor, type Redactor } from '@subluminal/core/scan';

/** Why a value is taken for a secret; a word for people, never a part of the value. */
export type LooksLike = (variable: string, value: string) => string | undefined;

const LENGTH_MIN = 8;
/** What the store and the shim take. */
const BYTES_MAX = 65_536;
const REFERENCE = /\$\{|^\$[A-Za-z_]\w*$|^%\w+%$|^\{\{.*\}\}$|^<.*>$/;
const SECRET_NAME =
  /passw(?:or)?d|passphrase|secret|token|credential|(?:api|access|private|signing|encryption)_?key|(?:^|_)(?:key|pat|pwd|pass|auth)(?:_?\d{1,3})?$/i;
/** What belongs to a secret without being one. */
const BESIDE_NAME =
  /(?:^|_)(?:url|uri|file|path|dir|folder|name|id|host|port|user|username|region|limit|max|min|count|ttl|timeout|type|kind|mode|algorithm|issuer|audience|scopes?|expires?|expiry|enabled)$/i;
const STAND_IN =
  /change.?me|your[-_ ]|[-_]here$|^(?:x|\*|\.|0|1)+$|example|place.?holder|replace|dummy|^test[-_]?|insert/i;
const ELSEWHERE =
  /^(?:[.~]{0,2}\/|[A-Za-z]:[\\/]|[a-z][a-z0-9+.-]*:\/\/)|\.(?:pem|key|json|txt|env)$/i;
const DISTINCT_MIN = 6;
const CLASSES = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z\d]/];

/** Made once for all values, and only where there is one: the known forms are many. */
export function secretLooks(): LooksLike {
  let redactor: Redactor | undefined;
  return (variable, value) => {
    if (!isStorable(value) || REFERENCE.test(value.trim())) return undefined;
    redactor ??= createRedactor({});
    const [form] = redactor.redact(value).found;
    if (form !== undefined) return form;
    const isNamed = SECRET_NAME.test(variable) && !BESIDE_NAME.test(variable);
    return isNamed && isDrawn(value) ? 'named like a secret' : undefined;
  };
}

function isStorable(value: string): boolean {
  if (value.trim().length < LENGTH_MIN || value.includes('\0')) return false;
  // Half a character comes back as another one.
  return Buffer.byteLength(value) <= BYTES_MAX && !/\p{Surrogate}/u.test(value);
}

/** Letters and digits in a mix, or signs of three kinds: what nobody writes as a word. */
function isDrawn(value: string): boolean {
  if (/\s/.test(value) || STAND_IN.test(value) || ELSEWHERE.test(value)) return false;
  if (new Set(value).size < DISTINCT_MIN) return false;
  const classes = CLASSES.filter((one) => one.test(value)).length;
  return classes >= 3 || (/[A-Za-z]/.test(value) && /\d/.test(value));
}
