// Forms that parsers of addresses accept and nobody writes: one plain form for each.
import { plainIpv6 } from './ipv6.ts';

/** A break inside of `http://ev\til.example`, which browsers leave out. */
const BROKEN_HOST =
  /[a-z][a-z0-9+.-]{1,20}:[/\\]{0,8}[^\s/\\?#]{0,253}(?:[\t\r\n]{1,8}[^\s/\\?#]{1,253}){1,4}/gi;
/** Without brackets only those that stand for an address of version 4. */
const IPV6 =
  /\[[0-9a-f:.]{2,45}(?:%[\w.-]{1,16})?\]|(?<![\w:.])(?:0{0,4}:){2,5}ffff:[0-9a-f:.]{3,15}/gi;

/** Hosts of addresses, in one piece and by their number. */
export function withPlainPlaces(text: string): string {
  if (!text.includes(':')) return text;
  const whole = /[\t\r\n]/.test(text)
    ? text.replace(BROKEN_HOST, (match) => match.replace(/[\t\r\n]+/g, ''))
    : text;
  return whole.includes('::') || /:ffff:/i.test(whole) ? whole.replace(IPV6, plainIpv6) : whole;
}

/** `"eve"@evil.example`, `eve(x)@evil.example`, `eve @evil.example`: RFC 5322 takes them all. */
export function withPlainMail(text: string): string {
  if (!text.includes('@')) return text;
  return text
    .replace(/\s{0,4}\([^()@]{0,64}\)\s{0,4}(?=@)/g, '')
    .replace(/@\s{0,4}\([^()@]{0,64}\)\s{0,4}/g, '@')
    .replace(/"((?:[^"\\\s@]|\\[^\s@]){1,64})"\s{0,4}(?=@)/g, (_, local: string) => {
      return local.replaceAll('\\', '');
    })
    .replace(/(?<=[\p{L}\p{N}_+'-])\s{1,4}@\s{0,4}(?=[\p{L}\p{N}-]{1,63}\s{0,4}\.)/gu, '@')
    .replace(/(?<=[\p{L}\p{N}_+'-]@)\s{1,4}(?=[\p{L}\p{N}-]{1,63}\s{0,4}\.)/gu, '')
    .replace(/(?<=@[\p{L}\p{N}.-]{1,253})[\t\r\n]{1,4}(?=\.[\p{L}\p{N}])/gu, '')
    .replace(/(?<=@[\p{L}\p{N}.-]{1,253}\.)[\t\r\n]{1,4}(?=[\p{L}\p{N}])/gu, '');
}
