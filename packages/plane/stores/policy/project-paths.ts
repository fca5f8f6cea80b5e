// What the rules of a policy know of this machine: the folders of the run, and where links lead.
import { tmpdir } from 'node:os';
import type { ProjectPaths } from '@subluminal/core/ports';
import { IS_CASELESS_DISK, isPattern, PathLookup, PatternMatches } from '../../os/index.ts';
import { userHome } from '../config/index.ts';

const LOOKUPS_MAX = 20_000;

/** The paths of a run: every process of it works in the folder of the project. */
export function projectPaths(project = process.cwd(), env = process.env): ProjectPaths {
  return {
    project,
    home: userHome(env),
    tmp: env['TMPDIR'] || tmpdir(),
    env,
    isCaseless: IS_CASELESS_DISK,
    expansion: () => {
      const matches = new PatternMatches();
      return (pattern) => (isPattern(pattern) ? matches.of(pattern) : []);
    },
    lookup: () => {
      const lookup = new PathLookup();
      return (path) => (lookup.lookups > LOOKUPS_MAX ? undefined : lookup.locate(path)?.path);
    },
  };
}
