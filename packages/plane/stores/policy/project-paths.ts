// What the rules of a policy know of this machine: the folders of the run, and where links lead.
import { tmpdir } from 'node:os';
import { basename } from 'node:path';
import type { ProjectPaths } from '@subluminal/core/ports';
import { UNKNOWN } from '@subluminal/core/shell';
import {
  IS_CASELESS_DISK,
  isAnything,
  isPattern,
  PathLookup,
  PatternMatches,
} from '../../os/index.ts';
import { userHome } from '../config/index.ts';

const LOOKUPS_MAX = 20_000;
const PATTERN_LIMITS = { foldersMax: 1_024, matchesMax: 4_096 };
const NOTHING = { paths: [], isWhole: true };

/** Whether a part names nothing: `*`, or a value that only a running shell knows. */
function isUnseen(part: string): boolean {
  return isAnything(part) && (part.includes(UNKNOWN) || /^\*+$/.test(part));
}

/** The paths of a run: every process of it works in the folder of the project. */
export function projectPaths(project = process.cwd(), env = process.env): ProjectPaths {
  return {
    project,
    home: userHome(env),
    tmp: env['TMPDIR'] || tmpdir(),
    env,
    isCaseless: IS_CASELESS_DISK,
    expansion: () => {
      const matches = new PatternMatches(PATTERN_LIMITS);
      return (pattern) =>
        isPattern(pattern) && !isUnseen(basename(pattern)) ? matches.of(pattern) : NOTHING;
    },
    lookup: () => {
      const lookup = new PathLookup();
      return (path) => (lookup.lookups > LOOKUPS_MAX ? undefined : lookup.locate(path)?.path);
    },
  };
}
