// The key of a login, in the store of secrets where there is one that opens without a person: a proxy in the
// background can ask nobody.
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import {
  addSecret,
  openVault,
  removeSecret,
  rotateSecret,
  type VaultOptions,
} from '@subluminal/plane/vault';
import {
  type GatewayLogin,
  isGatewayKey,
  readLogin,
  removeLogin,
  type SavedLogin,
  writeLogin,
} from './login.ts';

const NAME = 'sub_gateway_key';

/** Keeps a login; says where its key is. */
export async function saveLogin(
  vault: VaultOptions,
  login: GatewayLogin,
): Promise<'vault' | 'file' | Failure> {
  const { home } = vault;
  const isInVault = await putKey(vault, login.apiKey);
  const problem = writeLogin(home, isInVault ? { ...login, apiKey: undefined } : login);
  return problem ?? (isInVault ? 'vault' : 'file');
}

async function putKey(vault: VaultOptions, value: string): Promise<boolean> {
  const opened = await openVault(vault);
  if (opened === undefined || isFailure(opened)) return false;
  const isKnown = opened.secrets.some(({ name }) => name === NAME);
  opened.close();
  const secret = { name: NAME, value };
  const changed = await (isKnown ? rotateSecret(vault, secret) : addSecret(vault, secret));
  return !isFailure(changed);
}

/** The login with its key; undefined where nobody has logged in. */
export async function openLogin(vault: VaultOptions): Promise<GatewayLogin | Failure | undefined> {
  const saved = readLogin(vault.home);
  if (saved === undefined || isFailure(saved)) return saved;
  const apiKey = await keyOf(vault, saved);
  return isFailure(apiKey) ? apiKey : { ...saved, apiKey };
}

async function keyOf(vault: VaultOptions, { apiKey }: SavedLogin): Promise<string | Failure> {
  if (apiKey !== undefined) return apiKey;
  const opened = await openVault(vault);
  if (isFailure(opened)) return opened;
  const value = opened?.value(NAME);
  opened?.close();
  if (isFailure(value)) return value;
  if (value !== undefined && isGatewayKey(value)) return value;
  const message = `The store of secrets has no \`${NAME}\`, which the login needs.`;
  return failure('SUB_GATEWAY_LOGIN', message, 'Run `sub logout --force`, and log in again.');
}

/** Removes the login and its key. A failure where the key is left in the store. */
export async function forgetLogin(vault: VaultOptions): Promise<Failure | undefined> {
  const saved = readLogin(vault.home);
  removeLogin(vault.home);
  if (saved === undefined || isFailure(saved) || saved.apiKey !== undefined) return undefined;
  const removed = await removeSecret(vault, NAME);
  return isFailure(removed) ? removed : undefined;
}
