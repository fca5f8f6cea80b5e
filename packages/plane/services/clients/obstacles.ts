// What keeps a shim from standing in front of a server, or from being trusted there.
import { isObject } from '@subluminal/contracts';

/** What a shim takes; it would refuse to start under a name that is longer. */
const NAME_LENGTH_MAX = 256;
/** The environment of an entry is that of its shim too: these would change or replace the shim. */
const HAZARDS: readonly RegExp[] = [
  /^(?:SUB_.*|HOME|USERPROFILE|LD_.*|DYLD_.*|NAPI_RS_.*)$/,
  // What the runtime of the shim loads, writes or believes.
  /^NODE_(?:OPTIONS|PATH|EXTRA_CA_CERTS|TLS_.*|USE_ENV_PROXY|USE_SYSTEM_CA|DEBUG|DEBUG_NATIVE|V8_COVERAGE|COMPILE_CACHE|REDIRECT_WARNINGS|REPL_EXTERNAL_MODULE|PRESERVE_SYMLINKS.*|CHANNEL_.*|UNIQUE_ID)$/,
  /^(?:OPENSSL_(?:CONF|MODULES|ENGINES)|SSL_CERT_.*|HOSTALIASES|LOCALDOMAIN|RES_OPTIONS)$/,
  // Where it asks for secrets, and whose token it sends there.
  /^(?:VAULT_.*|OP_CONNECT_.*)$/,
];
/** Who acts, as the policy knows it: what CI systems and clusters tell their jobs. */
const IDENTITY: readonly RegExp[] = [
  /^(?:CI|CI_(?:JOB_ID|PROJECT_PATH|MERGE_REQUEST_SOURCE_BRANCH_NAME|COMMIT_REF_NAME))$/,
  /^GITHUB_(?:ACTIONS|RUN_ID|REPOSITORY|HEAD_REF|REF_NAME|ACTOR)$/,
  /^(?:GITLAB_(?:CI|USER_LOGIN)|CIRCLECI|CIRCLE_(?:WORKFLOW_JOB_ID|BUILD_NUM|REPOSITORY_URL|BRANCH|TAG|USERNAME))$/,
  /^BUILDKITE(?:_(?:JOB_ID|REPO|BRANCH|BUILD_CREATOR))?$/,
  /^(?:JENKINS_URL|BUILD_(?:TAG|ID|USER_ID)|GIT_(?:URL|BRANCH)|CHANGE_(?:BRANCH|AUTHOR)|BRANCH_NAME)$/,
  /^(?:TF_BUILD|SYSTEM_(?:JOBID|PULLREQUEST_SOURCEBRANCH)|BUILD_(?:BUILDID|REPOSITORY_NAME|SOURCEBRANCH|REQUESTEDFOR))$/,
  /^BITBUCKET_(?:BUILD_NUMBER|STEP_UUID|REPO_FULL_NAME|BRANCH|TAG|STEP_TRIGGERER_UUID)$/,
  /^TRAVIS(?:_(?:JOB_ID|REPO_SLUG|PULL_REQUEST_BRANCH|BRANCH))?$/,
  /^(?:KUBERNETES_SERVICE_HOST|POD_NAME|HOSTNAME)$/,
];
/** What people do set, and what loads no code. */
const HARMLESS_OPTIONS =
  /^(?:--(?:max-old-space-size|max-semi-space-size|stack-trace-limit)=\d+|--(?:no-warnings|no-deprecation|trace-warnings|enable-source-maps))(?:\s+|$)/;

/**
 * The variables of an entry that would tell its shim who acts. A shim that is told their names takes
 * them for the server's alone.
 */
export function serverOnlyIn(env: unknown): readonly string[] {
  const names = isObject(env) ? Object.keys(env) : [];
  return names.filter((name) => IDENTITY.some((one) => one.test(name.toUpperCase()))).toSorted();
}

/** In words that end no sentence; undefined when nothing is in the way. */
export function obstacleIn(name: string, env: unknown): string | undefined {
  if (name === '') return 'it has no name';
  if (name.length > NAME_LENGTH_MAX) return 'its name is too long';
  // Clients expand variables in arguments: it would run under another name than policies know.
  if (name.includes('${') || name.includes('\0')) return 'its name cannot be handed on';
  const names = isObject(env) ? Object.keys(env).filter((one) => isHazard(one, env[one])) : [];
  if (names.length === 0) return undefined;
  const first = names[0] ?? '';
  return `its env sets ${names.join(', ')}, which would act on the shim: if the server needs that, let its command set it (\`env ${first}=VALUE COMMAND\`, or a script)`;
}

function isHazard(name: string, value: unknown): boolean {
  const upper = name.toUpperCase();
  if (!HAZARDS.some((one) => one.test(upper))) return false;
  return name !== 'NODE_OPTIONS' || typeof value !== 'string' || !areHarmless(value);
}

function areHarmless(options: string): boolean {
  let rest = options.trim();
  while (rest !== '') {
    const [word] = HARMLESS_OPTIONS.exec(rest) ?? [];
    if (word === undefined) return false;
    rest = rest.slice(word.length);
  }
  return true;
}

/** The same, for an entry that starts a shim already, which was told of these variables. */
export function obstacleBehind(told: readonly string[], env: unknown): string | undefined {
  const names = serverOnlyIn(env).filter((name) => !told.includes(name));
  if (names.length === 0) return undefined;
  return `its env sets ${names.join(', ')}, which would tell its shim who acts: \`sub import\` makes ${names.length === 1 ? 'that' : 'those'} the server's alone`;
}
