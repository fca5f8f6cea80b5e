// A snapshot as a file: its document, its hash, and perhaps a signature.
import { parseAs, SNAPSHOT_FILE, SNAPSHOT_FORMAT, type SnapshotFile } from '@subluminal/contracts';
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

export interface SnapshotError {
  readonly ok: false;
  readonly code: 'SUB_SNAPSHOT_FORMAT' | 'SUB_SNAPSHOT_HASH' | 'SUB_SNAPSHOT_SIGNATURE';
  readonly message: string;
}
type Document = SnapshotFile['snapshot'];
type Opened = { readonly ok: true; readonly snapshot: Snapshot } | SnapshotError;

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
): Promise<Opened> {
  const parsed = parseAs(SNAPSHOT_FILE, file);
  if (!parsed.ok) {
    const [first] = parsed.mismatches;
    const where = first?.path.join('.') || 'the top';
    const part = first?.path[0] === 'signature' ? 'SUB_SNAPSHOT_SIGNATURE' : 'SUB_SNAPSHOT_FORMAT';
    return refused(part, `at ${where}: expected ${first?.expected}`);
  }
  const { snapshot: document, policy_hash, signature } = parsed.value;
  const text = canonicalText(document);
  if (canonicalText(normalizedAgain(document)) !== text) {
    return refused(
      'SUB_SNAPSHOT_FORMAT',
      'its defaults are not expanded; compile it from a bundle',
    );
  }
  if (options.sha256(text) !== policy_hash) {
    return refused('SUB_SNAPSHOT_HASH', 'the content does not match its policy_hash');
  }
  const { verifier } = options;
  if (verifier !== undefined) {
    if (signature === undefined) return refused('SUB_SNAPSHOT_SIGNATURE', 'it is not signed');
    const claim = { keyId: signature.key_id, value: signature.value };
    if (!verifier.verify(SIGNED_PREFIX + text, claim)) {
      return refused('SUB_SNAPSHOT_SIGNATURE', 'no trusted key made its signature');
    }
  }
  return compiled(document, options);
}

/** The document as its bundles would be compiled. */
function normalizedAgain({ format: _known, tightened_by, ...bundle }: Document): Document {
  const first = normalizeBundle(bundle);
  if (tightened_by === undefined) return first;
  const { format: _same, ...second } = tightened_by;
  return tightenedDocument(first, normalizeBundle(second));
}

/** The shape alone does not make a policy: what a bundle may not say, a snapshot may not either. */
async function compiled(document: Document, options: CompileOptions): Promise<Opened> {
  const second = document.tightened_by;
  const fault = faultIn(document) ?? (second && faultIn(second));
  if (fault !== undefined) return refused('SUB_SNAPSHOT_FORMAT', fault);
  try {
    return { ok: true, snapshot: await compileDocument(document, options) };
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : 'it does not compile';
    return refused('SUB_SNAPSHOT_FORMAT', message);
  }
}

function faultIn(document: Document): string | undefined {
  const placed = document.rules.map((rule, index) => ({ rule, path: ['rules', index] }));
  const [finding] = [
    ...duplicateRuleIds(document.rules),
    ...ruleFindings(placed),
    ...sectionFindings(document, globFault),
  ];
  return finding && `at ${finding.path.join('.')}: ${finding.message}`;
}

function globFault(glob: string): string | undefined {
  const result = compileGlob(glob);
  return result.ok ? undefined : result.message;
}

function refused(code: SnapshotError['code'], message: string): SnapshotError {
  return { ok: false, code, message };
}
