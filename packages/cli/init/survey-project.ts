// What a project shows of itself: the starter policy is chosen by it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { projectFolders, userHome } from '@subluminal/plane/config';

export const USES = ['solo', 'team', 'ci', 'read-only'] as const;
export type Use = (typeof USES)[number];

export interface ProjectSurvey {
  /** The top of the repository, or the folder itself. */
  readonly root: string;
  /** In words: `git`, `GitHub Actions`, `TypeScript`, `src/`. */
  readonly found: readonly string[];
  /** The use that the project looks like, and why. */
  readonly use: Use;
  readonly why: string;
}

const CI: readonly (readonly [file: string, name: string])[] = [
  ['.github/workflows', 'GitHub Actions'],
  ['.gitlab-ci.yml', 'GitLab CI'],
  ['.circleci', 'CircleCI'],
  ['.buildkite', 'Buildkite'],
  ['azure-pipelines.yml', 'Azure Pipelines'],
  ['Jenkinsfile', 'Jenkins'],
];
const LANGUAGES: readonly (readonly [file: string, name: string])[] = [
  ['tsconfig.json', 'TypeScript'],
  ['package.json', 'JavaScript'],
  ['pyproject.toml', 'Python'],
  ['requirements.txt', 'Python'],
  ['go.mod', 'Go'],
  ['Cargo.toml', 'Rust'],
  ['pom.xml', 'Java'],
  ['build.gradle', 'Java'],
  ['build.gradle.kts', 'Kotlin'],
  ['Gemfile', 'Ruby'],
  ['composer.json', 'PHP'],
];
const OWNERS = ['CODEOWNERS', '.github/CODEOWNERS', 'docs/CODEOWNERS', '.gitlab/CODEOWNERS'];

export function surveyProject(folder: string, env: NodeJS.ProcessEnv): ProjectSurvey {
  const folders = projectFolders({ cwd: folder, userHome: userHome(env) });
  const root = folders.find((one) => existsSync(join(one, '.git'))) ?? folder;
  const has = (name: string) => existsSync(join(root, name));
  const namesOf = (table: typeof CI) => table.filter(([file]) => has(file)).map(([, name]) => name);
  const ci = namesOf(CI);
  const hasOwners = OWNERS.some(has);
  const found = [
    ...(has('.git') ? ['git'] : []),
    ...ci,
    ...(hasOwners ? ['CODEOWNERS'] : []),
    ...new Set(namesOf(LANGUAGES)),
    ...(has('src') ? ['src/'] : []),
  ];
  return { root, found, ...guessedUse({ env, hasOwners, hasCi: ci.length > 0 }) };
}

interface Signs {
  readonly env: NodeJS.ProcessEnv;
  readonly hasOwners: boolean;
  readonly hasCi: boolean;
}

function guessedUse({ env, hasOwners, hasCi }: Signs): Pick<ProjectSurvey, 'use' | 'why'> {
  if (/^(?:1|true)$/i.test(env['CI'] ?? '')) return { use: 'ci', why: 'because CI is set' };
  if (hasOwners) return { use: 'team', why: 'because the project has CODEOWNERS' };
  if (hasCi) return { use: 'team', why: 'because the project has a CI pipeline' };
  return { use: 'solo', why: 'because nothing here says that others work on it' };
}
