// Secrets that are neither in a variable nor in a file. Loaded only for a server that has one.

import { join } from 'node:path';
import { type Failure, isFailure } from '@subluminal/contracts';
import { fromHashicorp } from './hashicorp.ts';
import { loadKeychain } from './keychain.ts';
import { fromConnect } from './onepassword-connect.ts';
import type { Fetched } from './secret-file.ts';
import {
  type Env,
  missing,
  notFetched,
  type ServiceNames,
  type ServiceSettings,
  serviceOf,
} from './secret-service.ts';
import type { KeyOptions } from './vault-key.ts';
import { openVault, type Vault } from './vault-store.ts';

/** What the settings say about where secrets are. */
export interface ExternalSourceSettings {
  readonly passphraseFile?: string | null;
  readonly vault?: ServiceSettings;
  readonly connect?: ServiceSettings;
}

export interface ExternalSourceOptions extends Pick<KeyOptions, 'keychain'> {
  readonly env: Env;
  readonly home: string;
  readonly userHome: string;
  readonly settings: ExternalSourceSettings;
}

interface FarBinding {
  readonly source: 'keychain' | 'vault';
  readonly secretRef: string;
}

interface FarSources {
  readonly fetch: (binding: FarBinding) => Promise<Fetched>;
  readonly close: () => Promise<void>;
}

/** The store is opened once for all that a server takes out of it, and only when it does. */
export function openExternalSources(options: ExternalSourceOptions): FarSources {
  let opening: Promise<Vault | Failure | undefined> | undefined;
  const store = () => {
    const { home, settings, keychain } = options;
    const { passphraseFile = null } = settings;
    opening ??= openVault({ home, passphraseFile, ...(keychain !== undefined && { keychain }) });
    return opening;
  };
  return {
    fetch: ({ source, secretRef }) => {
      if (source === 'keychain') return fromKeychain(secretRef, options);
      if (secretRef.startsWith('vault://')) return fromVault(secretRef, options);
      if (secretRef.startsWith('op://')) return fromOnePassword(secretRef, options);
      return store().then((opened) => fromStore(secretRef, opened));
    },
    close: async () => {
      const opened = await opening;
      if (opened !== undefined && !isFailure(opened)) opened.close();
    },
  };
}

function fromStore(name: string, opened: Vault | Failure | undefined): Fetched {
  if (isFailure(opened)) return notFetched(withoutEnd(opened.message), opened.fix);
  const value = opened?.value(name);
  if (isFailure(value)) return notFetched(withoutEnd(value.message), value.fix);
  if (value !== undefined) return { ok: true, value };
  return missing('the store has no such secret', `Run \`sub secrets add ${name}\`.`);
}

function withoutEnd(message: string): string {
  return message.replace(/\.$/, '');
}

async function fromKeychain(ref: string, options: ExternalSourceOptions): Promise<Fetched> {
  const chain = options.keychain === undefined ? loadKeychain() : options.keychain;
  const at = ref.indexOf('/');
  if (!chain) {
    const fix = 'Install the optional package @napi-rs/keyring, or use another source.';
    return notFetched('the keychain of this system cannot be used', fix);
  }
  try {
    const value = await chain.get(ref.slice(0, at), ref.slice(at + 1));
    if (value !== undefined) return { ok: true, value };
    const fix = 'Put it there under this service and account, or unlock the keychain.';
    return missing('the keychain does not have it, or does not give it', fix);
  } catch {
    return notFetched('the keychain does not answer', 'Unlock it, and start the server again.');
  }
}

const VAULT: ServiceNames = {
  title: 'HashiCorp Vault',
  addressVariable: 'VAULT_ADDR',
  tokenVariable: 'VAULT_TOKEN',
  settings: 'vault',
};

function fromVault(
  ref: string,
  { env, settings, userHome }: ExternalSourceOptions,
): Promise<Fetched> {
  const names = { ...VAULT, tokenPath: join(userHome, '.vault-token') };
  const service = serviceOf(names, settings.vault ?? {}, env);
  if (!service.ok) return Promise.resolve(service);
  return fromHashicorp(ref, service, env['VAULT_NAMESPACE']);
}

const CONNECT: ServiceNames = {
  title: '1Password Connect',
  addressVariable: 'OP_CONNECT_HOST',
  tokenVariable: 'OP_CONNECT_TOKEN',
  settings: 'connect',
};

function fromOnePassword(ref: string, { env, settings }: ExternalSourceOptions): Promise<Fetched> {
  const service = serviceOf(CONNECT, settings.connect ?? {}, env);
  return service.ok ? fromConnect(ref, service) : Promise.resolve(service);
}
