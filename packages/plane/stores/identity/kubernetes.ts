// Which pod this runs in, as the cluster tells its pods.
import type { Workload } from '@subluminal/contracts';
import type { System } from '../../os/index.ts';
import type { Env } from './ci.ts';
import { shortText } from './short-text.ts';

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
/** Where the downward API is mounted by custom; SUB_K8S_LABELS_FILE names another place. */
const LABELS_FILE = '/etc/podinfo/labels';
const LABELS_MAX = 64;
const LABEL_LENGTH_MAX = 512;

/** The pod; undefined outside of a cluster. */
export function pod(env: Env, system: System): Workload | undefined {
  const namespaceFile = system.readFile(`${ACCOUNT}/namespace`)?.trim();
  if (!env['KUBERNETES_SERVICE_HOST'] && !namespaceFile) return undefined;
  const token = tokenSubject(system.readFile(`${ACCOUNT}/token`));
  const namespace = shortText(env['SUB_K8S_NAMESPACE'] || namespaceFile || token?.namespace);
  const account = shortText(env['SUB_K8S_SERVICE_ACCOUNT'] || token?.name);
  const name = shortText(env['SUB_K8S_POD'] || env['POD_NAME'] || env['HOSTNAME']);
  const labels = readLabels(env, system);
  return {
    ...(namespace ? { namespace } : {}),
    ...(account ? { service_account: account } : {}),
    ...(name ? { pod: name } : {}),
    ...(Object.keys(labels).length > 0 ? { labels } : {}),
  };
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
function readLabels(env: Env, system: System): { readonly [key: string]: string } {
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
  try {
    return String(JSON.parse(value));
  } catch {
    return value.slice(1, -1);
  }
}
