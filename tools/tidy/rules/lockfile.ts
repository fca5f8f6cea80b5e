// A lockfile that `npm ci` takes, on every platform.
import { missingEntries } from '../../lockfile/complete.ts';
import { readLockfile } from '../../lockfile/read.ts';
import type { Finding, Source } from '../source.ts';

export function lockfile({ path, text }: Source): readonly Finding[] {
  if (path !== 'package-lock.json') return [];
  const read = readLockfile(text);
  const finding = (message: string) => ({ path, line: 1, rule: 'lockfile', message });
  if (read === undefined) return [finding('this is no lockfile; run `npm install`')];
  const [first, ...others] = missingEntries(read.packages);
  if (first === undefined) return [];
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return [finding(`${first.name}${more} missing, npm ci will fail; run \`npm run lockfile\``)];
}
