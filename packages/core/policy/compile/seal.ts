// A snapshot as a file: its document, its hash, and perhaps a signature.
import {
  type Failure,
  failure,
  parseAs,
  SNAPSHOT_FILE,
  SNAPSHOT_FORMAT,
  type SnapshotFile,
} from '@subluminal/contracts';
import { compileGlob } from '../../patterns/glob.ts';
import type { Signer, Verifier } from '../../ports.ts';
import { duplicateRuleIds, ruleFindings } from '../read/check-rules.ts';
import { sectionFindings } from '../read/check-sections.ts';
import { normalizeBundle } from './normalize.ts';
import {
  type CompileOptions,
  canonicalText,
  compileDocument,
  type Snapshot,
  tightenedDocument,
} from './snapshot.ts';

type SealedDocument = SnapshotFile['snapshot'];

/** A signature over a snapshot must not pass for one over anything else. */
const SIGNED_PREFIX = `${SNAPSHOT_FORMAT}\n`;

/** Makes the file form of a snapshot, signed when a signer is given. */
export function sealSnapshot(snapshot: Snapshot, signer?: Signer): SnapshotFile {
  const sealed = { snapshot: snapshot.document, policy_hash: snapshot.ref.policy_hash };
  if (signer === undefined) return sealed;
  const value = signer.sign(SIGNED_PREFIX + canonicalText(snapshot.document));
  return { ...sealed, signature: { alg: 'ed25519', key_id: signer.keyId, value } };
}

/**
 * Reads a snapshot file back. The hash is always checked; with a verifier, so is the signature,
 * and an unsigned file is refused.
 */
export async function openSnapshot(
  file: unknown,
  options: CompileOptions & { readonly verifier?: Verifier },
): Promise<Snapshot | Failure> {
  const parsed = parseAs(SNAPSHOT_FILE, file);
  if (!parsed.ok) {
    const [first] = parsed.mismatches;
    const where = first?.path.join('.') || 'the top';
    const message = `at ${where}: expected ${first?.expected}`;
    if (first?.path[0] !== 'signature') return notASnapshot(message);
    return failure('SUB_SNAPSHOT_SIGNATURE', message, 'Compile and sign the bundle again.');
  }
  const { snapshot: document, policy_hash, signature } = parsed.value;
  const text = canonicalText(document);
  if (canonicalText(normalizedAgain(document)) !== text) {
    return notASnapshot('its defaults are not expanded; compile it from a bundle');
  }
  if (options.sha256(text) !== policy_hash) {
    const fix = 'Compile the bundle again, and never edit a snapshot.';
    return failure('SUB_SNAPSHOT_HASH', 'the content does not match its policy_hash', fix);
  }
  const { verifier } = options;
  if (verifier !== undefined) {
    const fix = 'Sign it: `sub policy compile --sign KEY`.';
    if (signature === undefined) return failure('SUB_SNAPSHOT_SIGNATURE', 'it is not signed', fix);
    const claim = { keyId: signature.key_id, value: signature.value };
    if (!verifier.verify(SIGNED_PREFIX + text, claim)) {
      return failure('SUB_SNAPSHOT_SIGNATURE', 'no trusted key made its signature', fix);
    }
  }
  return compiled(document, options);
}

/** The document as its bundles would be compiled. */
function normalizedAgain({
  format: _known,
  tightened_by,
  ...bundle
}: SealedDocument): SealedDocument {
  const first = normalizeBundle(bundle);
  if (tightened_by === undefined) return first;
  const { format: _same, ...second } = tightened_by;
  return tightenedDocument(first, normalizeBundle(second));
}

/** The shape alone does not make a policy: what a bundle may not say, a snapshot may not either. */
async function compiled(
  document: SealedDocument,
  options: CompileOptions,
): Promise<Snapshot | Failure> {
  const second = document.tightened_by;
  const fault = faultIn(document) ?? (second && faultIn(second));
  if (fault !== undefined) return notASnapshot(fault);
  try {
    return await compileDocument(document, options);
  } catch (cause) {
    return notASnapshot(cause instanceof Error ? cause.message : 'it does not compile');
  }
}

function faultIn(document: SealedDocument): string | undefined {
  const placed = document.rules.map((rule, index) => ({ rule, path: ['rules', index] }));
  const [finding] = [
    ...duplicateRuleIds(document.rules),
    ...ruleFindings(placed),
    ...sectionFindings(document, (glob) => {
      const result = compileGlob(glob);
      return result.ok ? undefined : result;
    }),
  ];
  return finding && `at ${finding.path.join('.')}: ${finding.message}`;
}

function notASnapshot(message: string): Failure {
  return failure('SUB_SNAPSHOT_FORMAT', message, 'Compile the bundle again.');
}
