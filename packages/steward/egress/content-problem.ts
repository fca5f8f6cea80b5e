// Whether what is sent looks like a message, or like data that somebody wants out.
import { parseJson } from '@subluminal/plane/os';
import type { Outgoing } from './recipients.ts';

const LINES_MIN = 40;
const SHARE_MIN = 0.6;
const ENCODED_MIN = 400;
const ADDRESSES_MAX = 20;
const JSON_MIN = 2_000;
/** Of an address: what is asked of a host is short, unless it carries something. */
const QUERY_MAX = 1_000;
const URL_MAX = 2_048;
const ENCODED = new RegExp(`[A-Za-z0-9+/_-]{${ENCODED_MIN},}={0,2}`, 'g');
const ENCODED_LINES = /(?:^[A-Za-z0-9+/]{60,}={0,2}$\n?){6,}/m;
const HEX = new RegExp(`(?:[0-9a-f]{2}[\\s:]?){${ENCODED_MIN / 2},}`, 'i');
const ROW = /^[^\n]{0,200}?(?:[,;\t|][^\n,;\t|]{0,200}){3,}$/;
const PATH_LINE = /^(?:[-drwxlst@+.]{10,11}\s.*|(?:\.{0,2}|~)?\/\S+|[A-Za-z]:\\\S.*|\S+\/\S*)$/;
const SETTING = /^(?:export\s+)?[A-Za-z_][\w.-]{1,80}\s?[=:]\s?\S/;
const EMAIL = /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{2,63}){1,5}/g;

/** Why a person should look at the content first; undefined for what looks like a message. */
export function contentProblem(
  { texts, addresses }: Outgoing,
  bodyCharsMax: number,
): string | undefined {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  if (length > bodyCharsMax) return `It is ${length} characters long, which is no usual message.`;
  for (const text of texts) {
    const problem = textProblem(text);
    if (problem !== undefined) return problem;
  }
  return addresses.map(addressProblem).find((problem) => problem !== undefined);
}

function textProblem(text: string): string | undefined {
  if (isEncoded(text)) return 'It holds a long piece of encoded data.';
  if (text.length >= JSON_MIN && isJson(text)) return 'It is data in JSON, not a message.';
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const isMostly = (test: RegExp): boolean => {
    const count = lines.filter((line) => test.test(line.trim())).length;
    return count >= LINES_MIN && count >= lines.length * SHARE_MIN;
  };
  if (isMostly(PATH_LINE)) return 'It is a long list of files.';
  if (isMostly(ROW)) return 'It is a table of data, not a message.';
  if (isMostly(SETTING)) return 'It is a long list of settings.';
  const people = new Set(text.match(EMAIL) ?? []);
  if (people.size > ADDRESSES_MAX) return `It holds ${people.size} addresses of people.`;
  return undefined;
}

/** Letters, digits and capitals in one long run; a long word or a line of dashes is none. */
function isEncoded(text: string): boolean {
  const runs = text.match(ENCODED) ?? [];
  const isMixed = (run: string) => /[A-Z]/.test(run) && /[a-z]/.test(run) && /\d/.test(run);
  return runs.some(isMixed) || ENCODED_LINES.test(text) || HEX.test(text);
}

function isJson(text: string): boolean {
  return /^\s*[[{]/.test(text) && parseJson(text) !== undefined;
}

function addressProblem(address: string): string | undefined {
  const query = address.slice(address.search(/[?#]|$/));
  if (query.length > QUERY_MAX || address.length > URL_MAX) {
    return 'The address is so long that it may carry data out.';
  }
  return isEncoded(address) ? 'The address holds a long piece of encoded data.' : undefined;
}
