// The command that lists the same calls in a terminal.
import { CALL_SEARCH_KEYS } from '@subluminal/contracts';
import { shellWord } from '../parts/shell-word.ts';
import type { ShownFilter } from './ranges.ts';

export function queryCommand({ search, range }: ShownFilter): string {
  const fields: { readonly [field: string]: unknown } =
    search.kind === 'query' ? { ...search.query } : {};
  const flags = search.terms.map(({ key, value }) => {
    // Words such as `refused` have another name there.
    const meant = 'words' in CALL_SEARCH_KEYS[key] ? fields[CALL_SEARCH_KEYS[key].field] : value;
    return ` --${key} ${shellWord(typeof meant === 'string' ? meant : value, key.toUpperCase())}`;
  });
  const hasSince = search.terms.some(({ key }) => key === 'since');
  return `sub query${flags.join('')}${hasSince ? '' : rangeFlags(range)}`;
}

function rangeFlags(range: ShownFilter['range']): string {
  if (range.kind === 'since') return range.id === 'all' ? '' : ` --since ${range.id}`;
  const flag = (name: string, ms: number | undefined) =>
    ms === undefined ? '' : ` --${name} ${new Date(ms).toISOString()}`;
  return flag('since', range.fromMs) + flag('until', range.toMs);
}
