// A value that a finding speaks of: enough to recognise it, not enough to leak it.
import { visible } from '../text/visible.ts';
import type { Chain } from './chains.ts';

const LENGTH_MAX = 80;
const CUT = '…';

export function shownChain({ subject, value }: Chain): string {
  return visible(masked(subject, value), LENGTH_MAX);
}

/** A value of which nothing is known but its sink. */
export function shownValue(value: string): string {
  return visible(ends(value), LENGTH_MAX);
}

function masked(subject: Chain['subject'], value: string): string {
  if (subject === 'email') {
    const at = value.lastIndexOf('@');
    return `${first(value)}${CUT}${value.slice(at)}`;
  }
  if (subject === 'host') {
    // Paths and queries carry tokens.
    const end = value.search(/[/?]/);
    return end === -1 ? value : `${value.slice(0, end)}/${CUT}`;
  }
  if (subject === 'command') {
    const [program = '', ...rest] = value.split(' ');
    return rest.length === 0 ? ends(program) : `${program.slice(0, 32)} ${CUT}`;
  }
  if (subject === 'path') {
    const segments = value.split('/');
    const last = segments.pop() ?? '';
    return segments.length === 0 ? ends(last) : `${CUT}/${last.slice(0, 40)}`;
  }
  return ends(value);
}

function ends(value: string): string {
  const trimmed = value.trim();
  if (trimmed.length <= 4) return `${first(trimmed)}${CUT}`;
  return `${first(trimmed)}${CUT}${trimmed.slice(trimmed.length < 8 ? -1 : -4)}`;
}

function first(value: string): string {
  return Array.from(value.slice(0, 2))[0] ?? '';
}
