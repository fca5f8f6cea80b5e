// What can be wrong with the store of secrets. Names and places only, never a value or a key.
import { systemCode } from '../../../os/index.ts';

export type VaultCode =
  | 'SUB_VAULT_KEY'
  | 'SUB_VAULT_DAMAGED'
  | 'SUB_VAULT_NEWER'
  | 'SUB_VAULT_BUSY'
  | 'SUB_SECRET_UNKNOWN'
  | 'SUB_SECRET_EXISTS'
  | 'SUB_SECRET_UNUSABLE'
  | 'SUB_FILE_WRITE';

export interface VaultFault {
  readonly kind: 'fault';
  readonly code: VaultCode;
  readonly message: string;
  /** What to do, as an instruction. */
  readonly fix: string;
}

export function fault(code: VaultCode, message: string, fix: string): VaultFault {
  return { kind: 'fault', code, message, fix };
}

export function isVaultFault(value: unknown): value is VaultFault {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'fault';
}

export function unwritable(path: string, cause: unknown): VaultFault {
  const fix = 'Check the disk and the permissions of the folder; what was there is unchanged.';
  return fault('SUB_FILE_WRITE', `${path} cannot be written (${systemCode(cause)}).`, fix);
}
