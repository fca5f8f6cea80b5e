// Which files of the configuration folder a proposal may be about, and what kind of change that is.
import type { EventBody } from '@subluminal/contracts';
import { FILES, MANIFESTS } from '../config/index.ts';

export type ProposalKind = Exclude<
  EventBody<'change_decision'>['change']['kind'],
  'files' | 'memory'
>;

const NAME = '[A-Za-z0-9](?:[A-Za-z0-9._%-]{0,62}[A-Za-z0-9])?';
const FOLDERS: readonly (readonly [pattern: RegExp, kind: ProposalKind])[] = [
  [new RegExp(`^${MANIFESTS}/${NAME}\\.yaml$`), 'server'],
  [new RegExp(`^skills/${NAME}(?:/${NAME}){1,3}$`), 'skill'],
  [new RegExp(`^tools/${NAME}(?:/${NAME}){1,3}$`), 'tool'],
];

/** Undefined for a path that no proposal may name: anything with a `..`, a `.git` or another folder. */
export function kindOfPath(path: string): ProposalKind | undefined {
  if (path.includes('..')) return undefined;
  if (FILES.some((name) => name === path)) return 'config';
  return FOLDERS.find(([pattern]) => pattern.test(path))?.[1];
}

/** A change of several kinds is one of the configuration, unless it comes with the files of one other kind. */
export function kindOfPaths(paths: readonly string[]): ProposalKind {
  const kinds = new Set(paths.map((path) => kindOfPath(path) ?? 'config'));
  kinds.delete('config');
  const [kind = 'config', ...others] = kinds;
  return others.length === 0 ? kind : 'config';
}
