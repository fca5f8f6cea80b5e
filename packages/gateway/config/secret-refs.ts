// References to secrets, and what they lead to. A value is in no message and in nothing that is printed.
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { readSecretRef, type SecretRef } from '@subluminal/plane/config';
import {
  type ExternalSourceOptions,
  openSecretSources,
  type SecretSources,
} from '@subluminal/plane/vault';
import type { ConfigSecrets } from './types.ts';

/** Where secrets are on this machine: environment, homes, and the settings of the stores. */
export type SecretPlaces = ExternalSourceOptions;

export const REF_FORMS = 'Write `env://NAME`, `file:///PATH` or `vault://NAME`.';

/** A single name is one of our own store; `vault://MOUNT/PATH#FIELD` is a place in HashiCorp Vault. */
const OWN_STORE = /^vault:\/\/([^/#]+)$/;
const BREAKS = /[\0\r\n]/;

/** The parts of a reference; undefined for a text that is none. */
export function parseSecretRef(ref: string): SecretRef | undefined {
  const read = readSecretRef(ref.replace(OWN_STORE, 'sub://$1'), undefined);
  return isFailure(read) ? undefined : read;
}

/** Fetches one secret. */
export async function resolveSecretRef(
  ref: string,
  places: SecretPlaces,
): Promise<string | Failure> {
  const sources = openSecretSources(places);
  try {
    return await fetchRef(ref, sources);
  } finally {
    await sources.close();
  }
}

async function fetchRef(ref: string, sources: SecretSources): Promise<string | Failure> {
  const place = parseSecretRef(ref);
  if (place === undefined) {
    return failure('SUB_SECRET_UNUSABLE', 'this is no reference to a secret.', REF_FORMS);
  }
  const value = await sources.fetch(place);
  if (isFailure(value)) {
    const fix = `Set ${place.secretRef} in the environment of the gateway.`;
    return place.source === 'env' ? { ...value, fix } : value;
  }
  if (value.trim() === '') {
    return failure('SUB_SECRET_UNUSABLE', 'the secret is empty.', 'Write the secret there.');
  }
  if (!BREAKS.test(value)) return value;
  // It goes into a header or a URL, which a line break would end.
  const fix = 'Write the secret on one line.';
  return failure('SUB_SECRET_UNUSABLE', 'the secret has several lines.', fix);
}

/** Values behind a private field, so that no dump of a configuration can show one. */
class ResolvedRefs implements ConfigSecrets {
  readonly #values: ReadonlyMap<string, string>;

  constructor(values: ReadonlyMap<string, string>) {
    this.#values = values;
  }

  get(ref: string): string | undefined {
    return this.#values.get(ref);
  }
}

export function configSecrets(values: ReadonlyMap<string, string>): ConfigSecrets {
  return new ResolvedRefs(values);
}

/** Fetches all secrets, each once; the second part says why some are missing. */
export async function resolveAll(
  refs: readonly string[],
  places: SecretPlaces,
): Promise<{ readonly secrets: ConfigSecrets; readonly failed: ReadonlyMap<string, Failure> }> {
  const values = new Map<string, string>();
  const failed = new Map<string, Failure>();
  const sources = openSecretSources(places);
  try {
    for (const ref of new Set(refs)) {
      const value = await fetchRef(ref, sources);
      if (isFailure(value)) failed.set(ref, value);
      else values.set(ref, value);
    }
  } finally {
    await sources.close();
  }
  return { secrets: configSecrets(values), failed };
}
