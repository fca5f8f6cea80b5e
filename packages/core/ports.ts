// What the outside must supply. The core has no clock, no randomness and no I/O of its own.

/** SHA-256 of the UTF-8 bytes of a text, as lowercase hex. */
type Sha256 = (text: string) => string;

/** Signs the UTF-8 bytes of a text with one ed25519 key. */
interface Signer {
  readonly keyId: string;
  sign(text: string): string;
}

/** Checks an ed25519 signature over the UTF-8 bytes of a text against the keys it trusts. */
interface Verifier {
  verify(text: string, signature: { readonly keyId: string; readonly value: string }): boolean;
}

export type { Sha256, Signer, Verifier };
