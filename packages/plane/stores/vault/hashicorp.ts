// Secrets of a HashiCorp Vault, from the second version of its key/value engine:
// `vault://MOUNT/PATH#FIELD`.
import type { Fetched } from './secret-file.ts';
import { fieldOf, getJson, missing, notFetched, type Service } from './secret-service.ts';

interface Place {
  readonly mount: string;
  readonly path: readonly string[];
  readonly field: string;
}

type Ready = Extract<Service, { readonly ok: true }>;

const TITLE = 'HashiCorp Vault';

export async function fromHashicorp(
  ref: string,
  { base, token }: Ready,
  namespace: string | undefined,
): Promise<Fetched> {
  const place = placeOf(ref);
  if (place === undefined) {
    return notFetched('that is no reference to it', 'Write vault://MOUNT/PATH#FIELD.');
  }
  const { mount, path, field } = place;
  const answer = await getJson({
    base,
    path: ['v1', ...mount.split('/'), 'data', ...path],
    headers: {
      'x-vault-token': token,
      'x-vault-request': 'true',
      ...(namespace && { 'x-vault-namespace': namespace }),
    },
  });
  if (!answer.ok) return notFetched(`${TITLE}: ${answer.message}`, 'Check its address.');
  if (answer.status !== 200) return refused(answer.status);
  const data = fieldOf(fieldOf(answer.json, 'data'), 'data');
  const value = fieldOf(data, field);
  if (typeof value === 'string') return { ok: true, value };
  if (typeof data !== 'object' || data === null) {
    const fix = 'Check the mount: it must be of the key/value engine, version 2.';
    return notFetched(`${TITLE} answers with something else than a secret`, fix);
  }
  return value === undefined
    ? missing(`the secret has no such field`, 'Name one of its fields behind the `#`.')
    : notFetched('the field is not text', 'Store it as text.');
}

/** A mount of several parts has its slashes written as %2F. */
function placeOf(ref: string): Place | undefined {
  const [, mount, path, field] = /^vault:\/\/([^/#]+)\/([^#]+)#([^#]+)$/.exec(ref) ?? [];
  if (mount === undefined || path === undefined || field === undefined) return undefined;
  try {
    const parts = path.split('/').map(decodeURIComponent);
    const place = {
      mount: decodeURIComponent(mount),
      path: parts,
      field: decodeURIComponent(field),
    };
    const all = [...place.mount.split('/'), ...parts];
    return all.some((part) => ['', '.', '..'].includes(part)) ? undefined : place;
  } catch {
    return undefined;
  }
}

function refused(status: number): Fetched {
  switch (status) {
    case 404:
      return missing(`${TITLE} has no secret there`, 'Check mount and path; it may be deleted.');
    case 401:
    case 403:
      return notFetched(
        `${TITLE} does not give it to this token`,
        'Check the token and its policy.',
      );
    case 503:
      return notFetched(`${TITLE} is sealed or under maintenance`, 'Unseal it.');
    default:
      return notFetched(`${TITLE} answers with status ${status}`, 'Check its address.');
  }
}
