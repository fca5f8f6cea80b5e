// What the CI systems call themselves, their jobs, repositories and branches. Data only.
import type { Workload } from '@subluminal/contracts';
import { shortText } from './short-text.ts';

export type Env = { readonly [name: string]: string | undefined };

interface Provider {
  readonly name: string;
  /** The variable that only this one sets. */
  readonly sign: string;
  /** Each is the first of these variables that is set. */
  readonly jobId: readonly string[];
  readonly repo: readonly string[];
  readonly branch: readonly string[];
  readonly actor: readonly string[];
}

const PROVIDERS: readonly Provider[] = [
  {
    name: 'github',
    sign: 'GITHUB_ACTIONS',
    jobId: ['GITHUB_RUN_ID'],
    repo: ['GITHUB_REPOSITORY'],
    branch: ['GITHUB_HEAD_REF', 'GITHUB_REF_NAME'],
    actor: ['GITHUB_ACTOR'],
  },
  {
    name: 'gitlab',
    sign: 'GITLAB_CI',
    jobId: ['CI_JOB_ID'],
    repo: ['CI_PROJECT_PATH'],
    branch: ['CI_MERGE_REQUEST_SOURCE_BRANCH_NAME', 'CI_COMMIT_REF_NAME'],
    actor: ['GITLAB_USER_LOGIN'],
  },
  {
    name: 'circleci',
    sign: 'CIRCLECI',
    jobId: ['CIRCLE_WORKFLOW_JOB_ID', 'CIRCLE_BUILD_NUM'],
    repo: ['CIRCLE_REPOSITORY_URL'],
    branch: ['CIRCLE_BRANCH', 'CIRCLE_TAG'],
    actor: ['CIRCLE_USERNAME'],
  },
  {
    name: 'buildkite',
    sign: 'BUILDKITE',
    jobId: ['BUILDKITE_JOB_ID'],
    repo: ['BUILDKITE_REPO'],
    branch: ['BUILDKITE_BRANCH'],
    actor: ['BUILDKITE_BUILD_CREATOR'],
  },
  {
    name: 'jenkins',
    sign: 'JENKINS_URL',
    jobId: ['BUILD_TAG', 'BUILD_ID'],
    repo: ['GIT_URL'],
    branch: ['CHANGE_BRANCH', 'BRANCH_NAME', 'GIT_BRANCH'],
    actor: ['BUILD_USER_ID', 'CHANGE_AUTHOR'],
  },
  {
    name: 'azure',
    sign: 'TF_BUILD',
    jobId: ['SYSTEM_JOBID', 'BUILD_BUILDID'],
    repo: ['BUILD_REPOSITORY_NAME'],
    branch: ['SYSTEM_PULLREQUEST_SOURCEBRANCH', 'BUILD_SOURCEBRANCH'],
    actor: ['BUILD_REQUESTEDFOR'],
  },
  {
    name: 'bitbucket',
    sign: 'BITBUCKET_BUILD_NUMBER',
    jobId: ['BITBUCKET_STEP_UUID', 'BITBUCKET_BUILD_NUMBER'],
    repo: ['BITBUCKET_REPO_FULL_NAME'],
    branch: ['BITBUCKET_BRANCH', 'BITBUCKET_TAG'],
    actor: ['BITBUCKET_STEP_TRIGGERER_UUID'],
  },
  {
    name: 'travis',
    sign: 'TRAVIS',
    jobId: ['TRAVIS_JOB_ID'],
    repo: ['TRAVIS_REPO_SLUG'],
    branch: ['TRAVIS_PULL_REQUEST_BRANCH', 'TRAVIS_BRANCH'],
    actor: [],
  },
];

const OFF = new Set(['', '0', 'false', 'no']);

export interface CiJob {
  readonly workload: Workload;
  /** Who started the job, where the provider says so. */
  readonly actor: string | undefined;
}

/** The job this runs in; undefined outside of CI. */
export function ciJob(env: Env): CiJob | undefined {
  const isOn = (name: string) => !OFF.has((env[name] ?? '').toLowerCase());
  const provider = PROVIDERS.find(({ sign }) => isOn(sign));
  if (provider === undefined) return isOn('CI') ? { workload: {}, actor: undefined } : undefined;
  const first = (names: readonly string[]) =>
    names.map((name) => shortText(env[name])).find(Boolean);
  const jobId = first(provider.jobId);
  const repo = first(provider.repo);
  const branch = first(provider.branch);
  return {
    actor: first(provider.actor),
    workload: {
      ci_provider: provider.name,
      ...(jobId === undefined ? {} : { job_id: jobId }),
      ...(repo === undefined ? {} : { repo: withoutSecret(repo) }),
      ...(branch === undefined ? {} : { branch: branch.replace(/^refs\/heads\//, '') }),
    },
  };
}

/** An address may carry a token, and every event carries the address. */
function withoutSecret(repo: string): string {
  return repo.replace(/^([a-z+]+:\/\/)[^/]*@/i, '$1');
}
