// What the CI systems call themselves, their jobs, repositories and branches. Data only.

import { definedFields, type Workload } from '@subluminal/contracts';
import { type ProcessEnvironment, parseJson, type System } from '../../os/index.ts';

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
export function ciJob(env: ProcessEnvironment): CiJob | undefined {
  const isOn = (name: string) => !OFF.has((env[name] ?? '').toLowerCase());
  const provider = PROVIDERS.find(({ sign }) => isOn(sign));
  if (provider === undefined) return isOn('CI') ? { workload: {}, actor: undefined } : undefined;
  const first = (names: readonly string[]) =>
    names.map((name) => shortText(env[name])).find(Boolean);
  const workload = definedFields({
    ci_provider: provider.name,
    job_id: first(provider.jobId),
    // An address may carry a token, and every event carries the address.
    repo: first(provider.repo)?.replace(/^([a-z+]+:\/\/)[^/]*@/i, '$1'),
    branch: first(provider.branch)?.replace(/^refs\/heads\//, ''),
  });
  return { actor: first(provider.actor), workload };
}

// Which pod this runs in, as the cluster tells its pods.

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
/** Where the downward API is mounted by custom; SUB_K8S_LABELS_FILE names another place. */
const LABELS_FILE = '/etc/podinfo/labels';
const LABELS_MAX = 64;
const LABEL_LENGTH_MAX = 512;

/** The pod; undefined outside of a cluster. */
export function pod(env: ProcessEnvironment, system: System): Workload | undefined {
  const namespaceFile = system.readFile(`${ACCOUNT}/namespace`)?.trim();
  if (!env['KUBERNETES_SERVICE_HOST'] && !namespaceFile) return undefined;
  const token = tokenSubject(system.readFile(`${ACCOUNT}/token`));
  const namespace = shortText(env['SUB_K8S_NAMESPACE'] || namespaceFile || token?.namespace);
  const account = shortText(env['SUB_K8S_SERVICE_ACCOUNT'] || token?.name);
  const name = shortText(env['SUB_K8S_POD'] || env['POD_NAME'] || env['HOSTNAME']);
  const labels = readLabels(env, system);
  return definedFields({
    namespace,
    service_account: account,
    pod: name,
    labels: Object.keys(labels).length > 0 ? labels : undefined,
  });
}

/** Whom the token is for. Its middle part says so in plain text; the rest is not looked at. */
function tokenSubject(token: string | undefined): { namespace: string; name: string } | undefined {
  const payload = token?.split('.')[1];
  if (payload === undefined) return undefined;
  const text = Buffer.from(payload, 'base64url').toString('utf8');
  const match = /"sub"\s*:\s*"system:serviceaccount:([a-z0-9.-]+):([a-z0-9.-]+)"/.exec(text);
  const [, namespace, name] = match ?? [];
  return namespace === undefined || name === undefined ? undefined : { namespace, name };
}

/** `key="value"` lines of the downward API, or `key=value,…` in the environment. */
function readLabels(env: ProcessEnvironment, system: System): { readonly [key: string]: string } {
  const given = env['SUB_K8S_LABELS'];
  const path = env['SUB_K8S_LABELS_FILE'] || LABELS_FILE;
  const lines = given ? given.split(',') : (system.readFile(path)?.split('\n') ?? []);
  const pairs = lines.flatMap((line) => {
    const at = line.indexOf('=');
    const key = line.slice(0, Math.max(at, 0)).trim();
    if (key === '' || line.length > LABEL_LENGTH_MAX) return [];
    return [[key, unquoted(line.slice(at + 1).trim())] as const];
  });
  return Object.fromEntries(pairs.slice(0, LABELS_MAX));
}

function unquoted(value: string): string {
  if (!/^".*"$/.test(value)) return value;
  const text = parseJson(value);
  return typeof text === 'string' ? text : value.slice(1, -1);
}

/** What stands on every event must not be endless. */
const TEXT_LENGTH_MAX = 1_024;

/** A text that may stand on every line; nothing for an empty one. */
export function shortText(value: string | undefined): string | undefined {
  return value ? value.slice(0, TEXT_LENGTH_MAX) : undefined;
}
