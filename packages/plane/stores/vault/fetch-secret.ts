// One secret from wherever its reference says. Values are returned, and are in no message.
import { isAbsolute, join } from 'node:path';
import type { Failure } from '@subluminal/contracts';
import type { SecretBinding } from '../config/index.ts';
import type { ExternalSourceOptions } from './external-sources.ts';
import { missingSecret, readSecretFile } from './secret-file.ts';

type LocalPlaces = Pick<ExternalSourceOptions, 'env' | 'home' | 'userHome'>;
type SecretPlace = Pick<SecretBinding, 'source' | 'secretRef'>;

export function fetchLocal(
  source: 'env' | 'file',
  secretRef: string,
  options: LocalPlaces,
): string | Failure {
  if (source === 'file') return readSecretFile(pathOf(secretRef, options));
  const names = variablesOf(secretRef);
  const value = names.map((name) => options.env[name]).find((text) => text);
  if (value !== undefined) return value;
  const [name = '', other] = names;
  const message =
    other === undefined ? `${name} is not set.` : `neither ${name} nor ${other} is set.`;
  const fix = 'Set it where the agent starts the shim, or bind the secret from a file.';
  return missingSecret(message, fix);
}

/** The variable of that name, else the one in upper case: `github_token` is GITHUB_TOKEN, too. */
export function variablesOf(secretRef: string): readonly string[] {
  return [...new Set([secretRef, secretRef.toUpperCase()])];
}

function pathOf(secretRef: string, { home, userHome }: LocalPlaces): string {
  if (secretRef.startsWith('$SUB_HOME/')) return join(home, secretRef.slice('$SUB_HOME/'.length));
  if (secretRef.startsWith('~/')) return join(userHome, secretRef.slice(2));
  return isAbsolute(secretRef) ? secretRef : join(home, 'secrets', secretRef);
}

/** Where a process fetches secrets that it uses itself. Each place is opened when it is first needed. */
export interface SecretSources {
  fetch(place: SecretPlace): Promise<string | Failure>;
  close(): Promise<void>;
}

export function openSecretSources(options: ExternalSourceOptions): SecretSources {
  const open = async () => {
    const { openExternalSources } = await import('./external-sources.ts');
    return openExternalSources(options);
  };
  let external: ReturnType<typeof open> | undefined;
  return {
    fetch: async ({ source, secretRef }) => {
      if (source === 'env' || source === 'file') return fetchLocal(source, secretRef, options);
      external ??= open();
      return (await external).fetch({ source, secretRef });
    },
    close: async () => (await external)?.close(),
  };
}
