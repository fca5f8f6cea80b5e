// The manifest of every requirement, and the way in which a test cites the ones that it shows.
// `tools/requirements.ts` reads the citations from the sources and holds them against this list.
import { GATEWAY } from './requirements/gateway.ts';
import { INTERFACE_PACK } from './requirements/interface-pack.ts';
import { PRODUCT } from './requirements/product.ts';
import type { Requirement } from './requirements/requirement.ts';
import { STEWARD } from './requirements/steward.ts';
import { TRACKS } from './requirements/tracks.ts';
import { WRAPPER } from './requirements/wrapper.ts';
import { WRAPPER_EDGES } from './requirements/wrapper-edges.ts';

const ALL = [
  ...INTERFACE_PACK,
  ...PRODUCT,
  ...TRACKS,
  ...WRAPPER,
  ...WRAPPER_EDGES,
  ...GATEWAY,
  ...STEWARD,
] as const;

export type RequirementId = (typeof ALL)[number]['id'];

export const REQUIREMENTS: readonly Requirement[] = ALL;
const IDS: ReadonlySet<string> = new Set(REQUIREMENTS.map(({ id }) => id));

/** Names the requirements that the surrounding test shows; an id that does not exist fails the test. */
export function verifies(...ids: readonly RequirementId[]): void {
  for (const id of ids) {
    if (!IDS.has(id)) throw new Error(`no requirement \`${id}\` in test/requirements/`);
  }
}

export type { Requirement };
