// Secrets of HashiCorp Vault, from version 2 of its key/value engine: `vault://MOUNT/PATH#FIELD`.
import { type Failure, isFailure } from '@subluminal/contracts';
import { attempt } from '../../os/index.ts';
import { missingSecret, unusableSecret } from './secret-file.ts';
import { getJson, jsonField, type SecretService } from './secret-service.ts';

const REFERENCE = /^vault:\/\/([^/#]+)\/([^#]+)#([^#]+)$/;

export async function fromHashicorp(
  ref: string,
  service: SecretService,
  namespace: string | undefined,
): Promise<string | Failure> {
  const { title, token } = service;
  const place = readReference(ref);
  if (place === undefined) {
    return unusableSecret('the reference has another form.', 'Write vault://MOUNT/PATH#FIELD.');
  }
  const answer = await getJson(service, {
    path: ['v1', ...place.mount, 'data', ...place.path],
    headers: {
      'x-vault-token': token,
      'x-vault-request': 'true',
      ...(namespace && { 'x-vault-namespace': namespace }),
    },
  });
  if (isFailure(answer)) return answer;
  const data = jsonField(jsonField(answer.json, 'data'), 'data');
  const value = jsonField(data, place.field);
  if (typeof value === 'string') return value;
  if (typeof data !== 'object' || data === null) {
    const fix = 'Check the mount: it must be of the key/value engine, version 2.';
    return unusableSecret(`${title} answers with something else than a secret.`, fix);
  }
  return value === undefined
    ? missingSecret('the secret has no such field.', 'Name one of its fields behind the `#`.')
    : unusableSecret('the field is not text.', 'Store it as text.');
}

/** A mount of several parts has its slashes written as %2F. */
function readReference(ref: string) {
  const [, mount = '', path = '', field = ''] = REFERENCE.exec(ref) ?? [];
  return attempt(() => {
    const place = {
      mount: decodeURIComponent(mount).split('/'),
      path: path.split('/').map(decodeURIComponent),
      field: decodeURIComponent(field),
    };
    const isUnsafe = [...place.mount, ...place.path].some((part) => /^\.{0,2}$/.test(part));
    return isUnsafe ? undefined : place;
  });
}
