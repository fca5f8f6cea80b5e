// What is wrong with a secret, and how to mend it. Names and places only, never a value.

export interface SecretProblem {
  readonly code: 'SUB_SECRET_MISSING' | 'SUB_SECRET_UNUSABLE';
  readonly injectAs: string;
  readonly secretRef: string;
  readonly message: string;
  /** What to do, as an instruction. */
  readonly fix: string;
}

/** One line a person can act on. */
export function formatSecretProblem({
  code,
  injectAs,
  secretRef,
  message,
  fix,
}: SecretProblem): string {
  return `secret \`${secretRef}\` for ${injectAs}: error: ${message}. ${fix} [${code}]`;
}
