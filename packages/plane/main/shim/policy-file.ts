// A policy from disk, as written or as compiled. Loaded only when there is one: a shim that only
// observes pays for neither YAML nor CEL.
import type { Profile } from '@subluminal/contracts';
import {
  compileBundle,
  formatProblem,
  openSnapshot,
  parseWithEngines,
  type Snapshot,
} from '@subluminal/core/policy';
import { harmless } from '@subluminal/core/visible';
import { sha256 } from '../../crypto/index.ts';
import { type FileProblem, fileProblem, readRegularFile } from '../../os/index.ts';

type LoadedPolicy =
  | {
      readonly ok: true;
      readonly snapshot: Snapshot;
      /** In development: why production would not take the file. */
      readonly warning?: string;
    }
  | { readonly ok: false; readonly message: string };

const FILE_BYTES_MAX = 8_388_608;
const PROBLEMS_SHOWN_MAX = 5;
const CODE = '[SUB_FILE_READ]';

/** Reads a bundle or a snapshot file; the message of a failure says where and how to mend it. */
async function readPolicy(path: string, profile: Profile): Promise<LoadedPolicy> {
  const read = readRegularFile(path, { bytesMax: FILE_BYTES_MAX });
  if (read.kind === 'missing') return refused(`${path} does not exist. Check the path. ${CODE}`);
  if (read.kind === 'unreadable') return refused(`${path} ${read.why}. ${read.fix} ${CODE}`);
  const { bytes } = read;
  const unsafe = fileProblem(path);
  const warning = unsafe === undefined ? undefined : unsafeWords(path, unsafe);
  if (warning !== undefined && profile === 'production') return refused(warning);
  try {
    const sealed = snapshotIn(bytes);
    if (sealed !== undefined) {
      const opened = await openSnapshot(sealed, { sha256, profile });
      if (opened.ok) return { ok: true, snapshot: opened.snapshot, ...(warning && { warning }) };
      return refused(`${path}: ${opened.message} [${opened.code}]`);
    }
    const parsed = await parseWithEngines({ file: path, bytes });
    if (parsed.ok) {
      const snapshot = await compileBundle(parsed.bundle, { sha256, profile });
      return { ok: true, snapshot, ...(warning && { warning }) };
    }
    const shown = parsed.problems.slice(0, PROBLEMS_SHOWN_MAX).map(formatProblem);
    const rest = parsed.problems.length - shown.length;
    return refused([...shown, ...(rest > 0 ? [`… and ${rest} more.`] : [])].join('\n'));
  } catch (cause) {
    return refused(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}

function unsafeWords(file: string, { path, why, fix }: FileProblem): string {
  return `${path} ${why}, so others may decide what the policy ${file} says. ${fix} [SUB_FILE_UNSAFE]`;
}

/** A snapshot file is JSON with a snapshot in it; everything else is a bundle. */
function snapshotIn(bytes: Buffer): unknown {
  if (bytes[0] !== 0x7b) return undefined;
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    const isSnapshot = typeof value === 'object' && value !== null && 'snapshot' in value;
    return isSnapshot ? value : undefined;
  } catch {
    return undefined;
  }
}

function refused(message: string): LoadedPolicy {
  return { ok: false, message: message.split('\n').map(harmless).join('\n') };
}

export type { LoadedPolicy };
export { readPolicy };
