// Which policy a shim works by, now and after the file has changed.
import { statSync, unwatchFile, watchFile } from 'node:fs';
import type { Bundle, Profile } from '@subluminal/contracts';
import { compileBundle, type Snapshot } from '@subluminal/core/policy';
import { sha256 } from '../../crypto/index.ts';
import type { LoadedPolicy } from './policy-file.ts';

/** Without a policy nothing is decided, and everything is recorded. */
const OBSERVE: Bundle = {
  policy_id: 'none',
  version: '0',
  mode: 'observe',
  defaults: { decision_on_error: 'ALLOW' },
  selectors: {},
  rules: [],
};

const LOOK_EVERY_MS = 500;

async function loadPolicy(path: string | null, profile: Profile): Promise<LoadedPolicy> {
  if (path === null) {
    return { ok: true, snapshot: await compileBundle(OBSERVE, { sha256, profile }) };
  }
  const { readPolicy } = await import('./policy-file.ts');
  return readPolicy(path, profile);
}

/** What tells one state of a file from another; the same for all that cannot be seen. */
function markOf(path: string | null): string {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(path ?? '');
    return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
  } catch {
    return '';
  }
}

interface PolicyWatch {
  readonly path: string;
  /** The mark of the file before it was read. */
  readonly mark: string;
  readonly profile: Profile;
  readonly changed: (snapshot: Snapshot) => Promise<void>;
  /** The file is broken now; the old policy stays. */
  readonly broken: (message: string) => void;
}

/** Looks at the file by polling: editors replace files, and a watch on the old one sees nothing. */
function watchPolicy({ path, mark, profile, changed, broken }: PolicyWatch): { stop(): void } {
  let reading = false;
  let again = false;
  const look = (): void => {
    // A change while the last one is still being read must not be missed.
    again = reading;
    if (reading) return;
    reading = true;
    void loadPolicy(path, profile)
      .then((loaded) => (loaded.ok ? changed(loaded.snapshot) : broken(loaded.message)))
      .finally(() => {
        reading = false;
        if (again) look();
      });
  };
  watchFile(path, { interval: LOOK_EVERY_MS, persistent: false }, look);
  // What has changed between the reading of it and the first look of the watch.
  const first = setTimeout(() => {
    if (markOf(path) !== mark) look();
  }, LOOK_EVERY_MS);
  first.unref();
  const stop = (): void => {
    clearTimeout(first);
    unwatchFile(path, look);
  };
  return { stop };
}

export { loadPolicy, markOf, watchPolicy };
