// Secrets that are neither in a variable nor in a file. Loaded only for a server that has one.
import { join } from 'node:path';
import { definedFields, type Failure, isFailure } from '@subluminal/contracts';
import { fromHashicorp } from './hashicorp.ts';
import { loadKeychain } from './keychain.ts';
import { fromConnect } from './onepassword-connect.ts';
import { missingSecret, unusableSecret } from './secret-file.ts';
import {
  type SecretEnv,
  type ServiceNames,
  type ServiceSettings,
  secretService,
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
  readonly env: SecretEnv;
  readonly home: string;
  readonly userHome: string;
  readonly settings: ExternalSourceSettings;
}

interface ExternalBinding {
  readonly source: 'keychain' | 'vault';
  readonly secretRef: string;
}

const VAULT: ServiceNames = {
  title: 'HashiCorp Vault',
  addressVariable: 'VAULT_ADDR',
  tokenVariable: 'VAULT_TOKEN',
  settings: 'vault',
};
const CONNECT: ServiceNames = {
  title: '1Password Connect',
  addressVariable: 'OP_CONNECT_HOST',
  tokenVariable: 'OP_CONNECT_TOKEN',
  settings: 'connect',
};

/** Opens our own store once for all secrets of a server, and only when one of them is in it. */
export function openExternalSources(options: ExternalSourceOptions) {
  const { env, home, userHome, settings, keychain } = options;
  let opening: Promise<Vault | Failure | undefined> | undefined;
  const openStore = () => {
    const { passphraseFile = null } = settings;
    opening ??= openVault({ home, passphraseFile, ...definedFields({ keychain }) });
    return opening;
  };
  return {
    fetch: async ({ source, secretRef }: ExternalBinding): Promise<string | Failure> => {
      if (source === 'keychain') return fromKeychain(secretRef, options);
      if (secretRef.startsWith('vault://')) {
        const names = { ...VAULT, tokenPath: join(userHome, '.vault-token') };
        const service = secretService(names, settings.vault ?? {}, env);
        if (isFailure(service)) return service;
        return fromHashicorp(secretRef, service, env['VAULT_NAMESPACE']);
      }
      if (secretRef.startsWith('op://')) {
        const service = secretService(CONNECT, settings.connect ?? {}, env);
        return isFailure(service) ? service : fromConnect(secretRef, service);
      }
      return fromStore(secretRef, await openStore());
    },
    close: async () => {
      const opened = await opening;
      if (opened !== undefined && !isFailure(opened)) opened.close();
    },
  };
}

function fromStore(name: string, opened: Vault | Failure | undefined): string | Failure {
  const value = isFailure(opened) ? opened : opened?.value(name);
  if (isFailure(value)) return unusableSecret(value.message, value.fix);
  const fix = `Run \`sub secrets add ${name}\`.`;
  return value ?? missingSecret('the store has no such secret.', fix);
}

async function fromKeychain(
  ref: string,
  { keychain }: ExternalSourceOptions,
): Promise<string | Failure> {
  const chain = keychain === undefined ? loadKeychain() : keychain;
  const at = ref.indexOf('/');
  if (!chain) {
    const fix = 'Install the optional package @napi-rs/keyring, or use another source.';
    return unusableSecret('the keychain of this system cannot be used.', fix);
  }
  try {
    const fix = 'Put it there under this service and account, or unlock the keychain.';
    const value = await chain.get(ref.slice(0, at), ref.slice(at + 1));
    return value ?? missingSecret('the keychain does not have it, or does not give it.', fix);
  } catch {
    return unusableSecret('the keychain does not answer.', 'Unlock it, and restart the server.');
  }
}
