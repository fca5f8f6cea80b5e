// What permissions.yaml says, with every quantity read.
import type { PermissionsFile, StewardChannel } from '@subluminal/contracts';
import type { Problem } from '@subluminal/core/source';

/** A permissions.yaml without a problem. */
export interface Permissions {
  readonly kind: 'permissions';
  readonly file: PermissionsFile;
  /** How long a person has to answer. */
  readonly confirmationMs: number;
}

export type ReadPermissions =
  | Permissions
  | { readonly kind: 'broken'; readonly problems: readonly Problem[] };

/** An action as a call names it. */
export interface ActionName {
  readonly server: string;
  readonly tool: string;
  readonly channel: StewardChannel;
}
