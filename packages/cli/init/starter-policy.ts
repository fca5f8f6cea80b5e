// A starter policy for a project: one of `examples/policies`, fitted to what the project shows.
import {
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Failure, failure } from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import {
  ensurePrivateFolder,
  findPolicies,
  type HomePaths,
  userHome,
} from '@subluminal/plane/config';
import { realPath } from '@subluminal/plane/os';
import { orThrow } from '../input/command.ts';
import { packageFile } from '../input/package-file.ts';
import { errorCode } from '../input/read-file.ts';
import { createNewFile, replaceFile, unwritable } from '../input/write-file.ts';
import { type ProjectSurvey, surveyProject, type Use } from './survey-project.ts';

export interface StarterPlan {
  readonly kind: 'starter';
  readonly path: string;
  readonly use: Use;
  /** Why this use. */
  readonly why: string;
  readonly survey: ProjectSurvey;
  readonly text: string;
  /** It is the policy of the user, for every project. */
  readonly isUser: boolean;
  /** Whether a policy is there already, which --force replaces. */
  readonly replaces: boolean;
}

interface StarterWish {
  readonly project: string;
  readonly paths: HomePaths;
  readonly use: Use | undefined;
  /** The titles of the clients that were found. */
  readonly clients: readonly string[];
}

const NAME_LENGTH_MAX = 60;
const COPIES_MAX = 100;
const POLICY_MODE = 0o644;

/** What `sub init` would write, and where. */
export function planStarter({ project, paths, use, clients }: StarterWish): StarterPlan | Failure {
  const { env } = process;
  const survey = surveyProject(realPath(project), env);
  const home = userHome(env);
  const where = { cwd: survey.root, home: paths.home, userHome: home };
  const isHome = survey.root === realPath(home);
  const found = isHome ? findPolicies(where).user : findPolicies(where).project;
  const folder = isHome ? paths.home : join(survey.root, '.subluminal');
  const path = found ?? join(folder, 'policy.yaml');
  const chosen = use ?? survey.use;
  const starter = packageFile('examples', 'policies', `${chosen}.yaml`);
  if (typeof starter !== 'string') return starter;
  return {
    kind: 'starter',
    path,
    use: chosen,
    why: use === undefined ? survey.why : 'as you asked',
    survey,
    text: fitted(readFileSync(starter, 'utf8'), { survey, use: chosen, clients }),
    isUser: isHome,
    // Outside of the home, none is found, and one may be there.
    replaces: existsSync(path),
  };
}

interface Fit {
  readonly survey: ProjectSurvey;
  readonly use: Use;
  readonly clients: readonly string[];
}

/** The starter with the name of the project, and a head that says what it was made for. */
function fitted(starter: string, { survey, use, clients }: Fit): string {
  const name = visible(basename(survey.root), NAME_LENGTH_MAX);
  const id = /^[\w.-]+$/.test(name) ? name : use;
  const found = [...survey.found, ...clients].join(', ') || 'an empty folder';
  const head = [
    `# The policy of ${name}, made by \`sub init --use ${use}\` for: ${found}.`,
    '# Change it as you like, then: sub policy lint, sub policy explain, sub replay last --policy FILE.',
  ];
  const body = starter
    .split('\n')
    .filter((line) => !line.startsWith('# Put it into a project'))
    .map((line) => (line === `policy_id: ${use}` ? `policy_id: ${JSON.stringify(id)}` : line));
  return [...head, '#', ...body].join('\n');
}

/** Writes the policy. One that is there is replaced with --force only, and its copy is returned. */
export async function writeStarter(
  plan: StarterPlan,
  isForced: boolean,
): Promise<string | undefined> {
  const { path, text, isUser, replaces } = plan;
  const folder = dirname(path);
  orThrow(linkFailure(folder));
  if (replaces && !isForced) {
    const fix = 'Edit it, or put a starter in its place with --force; the old one is kept.';
    return orThrow(failure('SUB_FILE_WRITE', `${path} is the policy here already.`, fix));
  }
  if (replaces) {
    // The copy comes first: whenever this is interrupted, one of the two policies is in force.
    const copy = orThrow(copied(path));
    orThrow(await replaceFile(path, text));
    return copy;
  }
  const isNew = orThrow(isUser ? ensurePrivateFolder(folder) : makeFolder(folder));
  const failed = await createNewFile({ path, text, mode: POLICY_MODE });
  if (failed !== undefined && isNew === true) rmdirSync(folder);
  orThrow(failed);
  return undefined;
}

/** The path of a copy beside the file. */
function copied(path: string): string | Failure {
  for (let count = 1; ; count++) {
    const copy = `${path}.old${count === 1 ? '' : count}`;
    try {
      copyFileSync(path, copy, constants.COPYFILE_EXCL);
      return copy;
    } catch (cause) {
      const code = errorCode(cause);
      if (code !== 'EEXIST' || count >= COPIES_MAX) return unwritable(copy, code);
    }
  }
}

/** The repository may have put the link there, to have a file written elsewhere. */
function linkFailure(folder: string): Failure | undefined {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return undefined;
  const message = `${folder} is a link, and nothing is written through one.`;
  return failure('SUB_FILE_WRITE', message, 'Put a folder in its place.');
}

/** Whether the folder is new. */
function makeFolder(folder: string): boolean | Failure {
  try {
    return mkdirSync(folder, { mode: 0o755, recursive: true }) !== undefined;
  } catch (cause) {
    return unwritable(folder, errorCode(cause));
  }
}
