// File names say what is inside.
import type { Finding, Source } from '../source.ts';

const GRAB_BAGS = new Set(['utils', 'util', 'helpers', 'helper', 'common', 'misc']);
const KEBAB = /^\.?[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)*$/;

export function names({ path, isCode }: Source): readonly Finding[] {
  if (!isCode) return [];
  return path.split('/').flatMap((part) => {
    const message = problemOf(part);
    return message === undefined ? [] : [{ path, line: 1, rule: 'names', message }];
  });
}

function problemOf(part: string): string | undefined {
  if (!KEBAB.test(part)) return `${part} is not in kebab-case`;
  const bag = part.split(/[.-]/).find((word) => GRAB_BAGS.has(word));
  return bag === undefined ? undefined : `${part}: "${bag}" says nothing; name what it does`;
}
